//! A new run on a screen that has shown another one: what is known of that one is not of this one.
//!
//! Refuses to touch what is the user's own: what they write for nobody yet, and what they have open.

use super::{Screen, preview};

impl Screen {
    /// Forgets what belongs to the run before.
    pub(super) fn begin_anew(&mut self) {
        self.forget_sent();
    }

    /// Forgets which prompts went out: a conversation that is new has heard nothing of them.
    pub(super) fn forget_sent(&mut self) {
        self.sent_before = preview::Sent::default();
    }
}
