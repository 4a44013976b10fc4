//! Agents' calls as a screen knows them beyond the run's state: the one that waits, exactly, and what was
//! approved for more than one.
//!
//! Refuses to keep anything: all of it is told anew.

use super::action::Action;
use super::sheet::{Sheet, Then};
use super::wrap::one_line;
use super::{Screen, hints, theme};

/// The call that waits first, exactly as it was made; drawable, everything invisible made visible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exact {
    /// Which of the run's calls it is, as [`Approval::n`] counts them.
    pub n: u32,
    /// What it does.
    pub text: String,
    /// What an edit would change; empty for all else.
    pub diff: String,
}

/// One approval that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Its number, by which it is taken back.
    pub id: u64,
    /// What it lets through, in a line.
    pub what: String,
    /// For which agent, how long, and since when.
    pub about: String,
}

impl Screen {
    /// Shows the call that waits first exactly as it was made.
    pub fn on_call(&mut self, exact: Exact) {
        self.dirty = true;
        self.exact = Some(exact);
    }

    /// Shows what was approved for more than one call; the answer is [`Action::Revoke`].
    pub fn on_permissions(&mut self, kept: &[Kept]) {
        self.dirty = true;
        if kept.is_empty() {
            self.refuse("nothing is approved for more than one call in this repository");
            return;
        }
        let mut sheet = Sheet::list("permissions", "approved for more than one call").says(
            "Enter takes the chosen one back; Esc leaves them all.",
            hints::marked(theme::QUIET),
        );
        for (kept, key) in kept.iter().zip(('1'..='9').chain(std::iter::repeat('·'))) {
            let label = format!(
                "take back {} · {}",
                one_line(&kept.what),
                one_line(&kept.about)
            );
            sheet = sheet.offers(key, &label, Then::ActAndBack(vec![Action::Revoke(kept.id)]));
        }
        sheet = sheet.offers('b', "back", Then::Back);
        let last = sheet.choices.len() - 1;
        self.ask(sheet.first(last));
    }
}
