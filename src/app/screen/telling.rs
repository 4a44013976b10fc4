//! Tells a user who looks elsewhere that they are needed: by the window's title, a bell, a message.
//!
//! Once for each thing that waits and once for the run's end, and never while the window is looked at. Refuses to know
//! what that is.

use std::io;

use crate::app::terminal::Terminal;
use crate::config::types::NotifyBy;
use crate::tui::Outside;

/// What was told.
#[derive(Debug, Default)]
pub struct Telling {
    /// A terminal that does not tell of its focus is looked at.
    pub is_elsewhere: bool,
    how: NotifyBy,
    title: String,
    told: Option<String>,
}

impl Telling {
    /// Tells it in this way from now on.
    pub fn tell_by(&mut self, how: NotifyBy) {
        self.how = how;
    }

    /// Takes into account that another program had the terminal: its title is not this one's any more.
    pub fn forget_title(&mut self) {
        self.title.clear();
    }

    /// Tells what is new outside of a frame.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn tell(&mut self, outside: &Outside, terminal: &mut Terminal) -> io::Result<()> {
        if outside.title != self.title {
            self.title.clone_from(&outside.title);
            terminal.entitle(&outside.title)?;
        }
        let calls = outside.calls.as_ref();
        if calls.map(|(id, _)| id) == self.told.as_ref() {
            return Ok(());
        }
        self.told = calls.map(|(id, _)| id.clone());
        match calls.filter(|_| self.is_elsewhere) {
            Some((_, text)) => terminal.call(self.how, text),
            None => Ok(()),
        }
    }
}
