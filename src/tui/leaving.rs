//! How the user leaves: at once, after a word on what would end, and with a second key without patience.
//!
//! Refuses to end anything itself.

use super::Screen;
use super::action::{Action, QuitStep};
use super::dialogs::quit;
use super::keymap::IsWriting;
use super::sheet::Sheet;
use crate::domain::run::RunState;

impl Screen {
    /// The key and `/quit`: asks where something would end; the second one, while that is asked or carried out, kills.
    pub(super) fn quit(&mut self, state: Option<&RunState>) -> Vec<Action> {
        if self.asks_before_leaving(state) {
            return Vec::new();
        }
        let step = match self.quitting || self.is_asked_to_leave() {
            true => QuitStep::Now,
            false => QuitStep::Ask,
        };
        self.own = None;
        let actions = vec![Action::Quit(step)];
        self.note_leaving(&actions);
        actions
    }

    /// Keeps what is half written for the next start, however the program ends.
    pub fn remember_draft(&mut self) {
        self.composer.remember_draft();
    }

    /// Opens the dialog that says what would end with the program, unless it is open; tells whether it did.
    pub fn asks_before_leaving(&mut self, state: Option<&RunState>) -> bool {
        if self.is_asked_to_leave() || self.quitting || self.is_read_only() {
            return false;
        }
        let Some(sheet) = self.sheet_of_leaving(state) else {
            return false;
        };
        // It is seen whatever lies over the tabs.
        self.uncover();
        self.palette = None;
        self.leave_find();
        self.ask(sheet);
        self.dirty = true;
        true
    }

    /// Tells whether the dialog stands that says what would end.
    pub(super) fn is_asked_to_leave(&self) -> bool {
        self.own.as_ref().is_some_and(|own| own.id == quit::ID)
    }

    /// That dialog as things stand now, where something would end.
    fn sheet_of_leaving(&self, state: Option<&RunState>) -> Option<Sheet> {
        let key = self.keymap().named("quit", IsWriting::No);
        quit::sheet(state?, self.clock_of_day(), &key)
    }

    /// The same while it stands: the run goes on below it.
    pub(super) fn leaving(&self, state: Option<&RunState>) -> Sheet {
        let key = || self.keymap().named("quit", IsWriting::No);
        let sheet = self.sheet_of_leaving(state);
        sheet.unwrap_or_else(|| quit::at_rest(&key()))
    }

    /// Notes that the user leaves, where these actions say so.
    pub(super) fn note_leaving(&mut self, actions: &[Action]) {
        self.quitting |= actions
            .iter()
            .any(|action| matches!(action, Action::Quit(_)));
    }
}
