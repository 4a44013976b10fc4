//! One line of the plan, written anew in place: the composer holds it until it is sent or left.
//!
//! Refuses to write a file: whoever holds the screen does, and only where the line still says what it said.

use super::Screen;
use super::action::Action;
use super::keymap::IsWriting;
use super::sheet::Draft;
use crate::domain::run::{State, stands_against_notes};

impl Screen {
    /// Puts the line that is pointed at into the composer.
    pub(super) fn rewrite(&mut self, state: Option<&State>) -> Vec<Action> {
        let Some(state) = state else {
            return self.refuse("there is no run yet: write the goal first");
        };
        // A plan that takes no notes takes no edits either.
        if let Some(why) = stands_against_notes(state) {
            return self.refuse(why);
        }
        let Some((line, was)) = self.pointed_line().or_else(|| self.point_at_first()) else {
            return self.point_first("a line of the plan");
        };
        if !self.composer.is_empty() {
            return self.refuse("send or remove what you have written first");
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

    /// Leaves the composer; a line of the plan stays as it is, and is nothing to be sent to anybody.
    pub(super) fn leave_composer(&mut self) {
        self.end_offer();
        if self.draft == Some(Draft::Line) {
            self.composer.set("");
        }
        self.writing = IsWriting::No;
        (self.draft, self.noting) = (None, None);
    }
}
