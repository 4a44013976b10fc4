//! What is put into the composer to be worded otherwise, until it is sent or left: a line of the plan, what a dialog
//! proposes.
//!
//! Refuses to write a file: whoever holds the screen does, and only where the line still says what it said.

use super::action::Action;
use super::keymap::IsWriting;
use super::sheet::Draft;
use super::{Screen, dialogs};
use crate::domain::run::{RunState, notes_blocker};

/// What is half written would be sent with what is put there.
const FIRST: &str = "send or remove what you have written first";

impl Screen {
    /// Puts the line that is pointed at into the composer.
    pub(super) fn rewrite(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let Some(state) = state else {
            return self.refuse("there is no run yet: write the goal first");
        };
        // A plan that takes no notes takes no edits either.
        if let Some(why) = notes_blocker(state) {
            return self.refuse(why);
        }
        let Some((line, was)) = self.pointed_line().or_else(|| self.point_at_first()) else {
            return self.point_first("a line of the plan");
        };
        if !self.composer.is_empty() {
            return self.refuse(FIRST);
        }
        self.composer.set(&was);
        self.noting = Some((line, was));
        self.draft = Some(Draft::Line);
        self.begin_writing();
        Vec::new()
    }

    /// Gives the keys to the composer: a diff or a board, which has none of its rows, makes place for it.
    pub(super) fn begin_writing(&mut self) {
        (self.diff, self.board) = (None, None);
        self.writing = IsWriting::Yes;
    }

    /// Lets the user write what a dialog asks for; what it proposes is put into an empty composer only.
    pub(super) fn write(&mut self, draft: Draft, state: Option<&RunState>) -> Vec<Action> {
        let proposed = match (draft, state) {
            (Draft::Pattern { .. }, Some(state)) => Some(dialogs::approval::proposed(state)),
            (Draft::Topic { .. }, _) => Some(self.talks.planned.clone()),
            _ => None,
        };
        if proposed.is_some() && !self.composer.is_empty() {
            return self.refuse(FIRST);
        }
        if let Some(text) = proposed {
            let _fits = self.composer.on_paste(&text);
        }
        self.draft = Some(draft);
        self.own = None;
        self.begin_writing();
        Vec::new()
    }

    /// Leaves the composer; what was put there to be worded otherwise stays as it is, and is nothing to be sent to
    /// anybody.
    pub(super) fn leave_composer(&mut self) {
        self.end_offer();
        if let Some(Draft::Line | Draft::Pattern { .. } | Draft::Topic { .. }) = self.draft {
            self.composer.set("");
        }
        self.writing = IsWriting::No;
        (self.draft, self.noting) = (None, None);
    }
}
