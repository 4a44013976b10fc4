//! Whether a dialog was read before a key reaches it.
//!
//! A key that was meant for what stood there before decides nothing.

use super::sheet::Sheet;
use super::{Screen, dialogs};
use crate::domain::ids::At;

/// How long a dialog about an agent's call is drawn before it takes a key, in milliseconds.
const READING_MS: i64 = 150;

impl Screen {
    /// Tells whether the user can have read a dialog: it was drawn, one about an agent's call long enough ago
    /// that a key meant for what stood there before does not reach it.
    pub(super) fn is_seen(&self, sheet: &Sheet) -> bool {
        let is_drawn = self.seen.as_ref() == Some(&sheet.id);
        let since = match (&self.call_seen, self.clock) {
            (Some((id, at)), Some(clock)) if *id == sheet.id => clock.0.saturating_sub(at.0),
            _ => i64::MAX,
        };
        is_drawn && since >= READING_MS
    }

    /// Notes when a dialog about an agent's call is drawn for the first time.
    pub(super) fn note_seen(&mut self, sheet: &Sheet, now: At) {
        self.seen = Some(sheet.id.clone());
        if sheet.id.starts_with(dialogs::approval::ID) {
            let is_new = self
                .call_seen
                .as_ref()
                .is_none_or(|(id, _)| *id != sheet.id);
            if is_new {
                self.call_seen = Some((sheet.id.clone(), now));
            }
        }
    }

    /// Says what time it is, before keys and clicks are passed on.
    pub fn on_time(&mut self, now: At) {
        self.clock = Some(now);
    }
}
