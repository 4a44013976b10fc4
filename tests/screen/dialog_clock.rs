//! Knows when a dialog accepts keys: for a moment after it has appeared it takes none.
//!
//! The program's clock starts with the frame that it writes, and this one when the frame is read, so this one is late.

use std::time::{Duration, Instant};

/// How long a dialog that has appeared takes no keys, at most.
const DIALOG_DELAY: Duration = Duration::from_millis(450);

/// The dialog that was last seen, and since when.
pub struct DialogClock {
    text: String,
    since: Instant,
}

impl DialogClock {
    pub fn new() -> Self {
        Self {
            text: String::new(),
            since: Instant::now(),
        }
    }

    /// Returns whether no dialog is on the screen, or it has been there for long enough.
    pub fn accepts_keys(&mut self, screen: &str) -> bool {
        let text = dialog_text(screen);
        if text != self.text {
            (self.text, self.since) = (text, Instant::now());
        }
        self.text.is_empty() || self.since.elapsed() >= DIALOG_DELAY
    }
}

/// Returns the text of the dialog that has the keys, without the mark of its chosen answer; empty if there is none.
fn dialog_text(screen: &str) -> String {
    let is_of_dialog = |row: &&str| row.trim_start().starts_with('▌');
    let rows: Vec<&str> = screen.lines().collect();
    let mut blocks = rows.chunk_by(|one, next| is_of_dialog(one) == is_of_dialog(next));
    let dialog = blocks.find(|rows| {
        rows.iter()
            .any(|row| is_of_dialog(row) && row.contains('▸'))
    });
    dialog.unwrap_or_default().join("\n").replace('▸', " ")
}
