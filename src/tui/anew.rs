//! A new run on a screen that has shown another one: what is known of that one is not of this one.
//!
//! Refuses to touch what is the user's own: what they write for nobody yet, and what they have open.

use super::sheet::Draft;
use super::{Screen, preview, tabs};

impl Screen {
    /// Drops what was chosen and not given yet.
    pub(super) fn forget_picked(&mut self) {
        self.picked.clear();
        self.ticked.clear();
    }

    /// Forgets what belongs to the run before: numbers of findings and lines of the plan begin anew.
    pub(super) fn begin_anew(&mut self) {
        // What waits is counted from the beginning in each run.
        (self.chosen, self.exact) = (None, None);
        self.reading.forget();
        self.findings = tabs::comments::Chosen::default();
        let form = self.plan.form;
        self.plan = tabs::plan::reading::Reading::default();
        self.plan.form = form;
        self.forget_sent();
        self.preview = None;
        self.versions.clear();
        self.forget_picked();
        (self.silent, self.elsewhere) = (None, None);
        if self.draft == Some(Draft::Line) {
            self.composer.set("");
        }
        (self.draft, self.noting) = (None, None);
        self.note_all_read();
    }

    /// Marks nothing as new: what was not looked at is of another run.
    pub(super) fn note_all_read(&mut self) {
        for tab in tabs::Tab::ALL {
            self.read.note(tab, self.changes(tab));
        }
    }

    /// Forgets which prompts went out: a conversation that is new has heard nothing of them.
    pub(super) fn forget_sent(&mut self) {
        self.sent_before = preview::Sent::default();
    }
}
