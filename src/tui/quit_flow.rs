//! How the user leaves: at once, after a word on what would end, and with a second key without patience.
//!
//! Refuses to end anything itself.

use super::Screen;
use super::action::{Action, QuitStep};
use super::dialog::ChoiceDialog;
use super::dialogs::quit_confirmation;
use super::keymap::ComposerFocus;
use crate::domain::run::RunState;

impl Screen {
    /// The key and `/on_quit`: asks where something would end; the second one, while that is asked or carried out, kills.
    pub(super) fn on_quit(&mut self, state: Option<&RunState>) -> Vec<Action> {
        if self.open_quit_dialog(state) {
            return Vec::new();
        }
        let step = if self.is_quitting || self.is_quit_dialog_open() {
            QuitStep::Now
        } else {
            QuitStep::Ask
        };
        self.own_dialog = None;
        let actions = vec![Action::Quit(step)];
        self.note_quit(&actions);
        actions
    }

    /// Keeps what is half written for the next start, however the program ends.
    pub fn remember_draft(&mut self) {
        self.composer.remember_draft();
    }

    /// Opens the dialog that says what would end with the program, unless it is open; tells whether it did.
    pub fn open_quit_dialog(&mut self, state: Option<&RunState>) -> bool {
        if self.is_quit_dialog_open() || self.is_quitting || self.is_read_only() {
            return false;
        }
        let Some(sheet) = self.needed_quit_dialog(state) else {
            return false;
        };
        // It is seen whatever lies over the tabs.
        self.close_overlays();
        self.palette = None;
        self.clear_search();
        self.open_dialog(sheet);
        self.is_dirty = true;
        true
    }

    /// Tells whether the dialog stands that says what would end.
    pub(super) fn is_quit_dialog_open(&self) -> bool {
        self.own_dialog
            .as_ref()
            .is_some_and(|own| own.id == quit_confirmation::DIALOG_ID)
    }

    /// That dialog as things stand now, where something would end.
    fn needed_quit_dialog(&self, state: Option<&RunState>) -> Option<ChoiceDialog> {
        let key = self.keymap().key_label("quit", ComposerFocus::Unfocused);
        quit_confirmation::build_dialog(state?, self.local_clock(), &key)
    }

    /// The same while it stands: the run goes on below it.
    pub(super) fn quit_dialog(&self, state: Option<&RunState>) -> ChoiceDialog {
        let key = || self.keymap().key_label("quit", ComposerFocus::Unfocused);
        let sheet = self.needed_quit_dialog(state);
        sheet.unwrap_or_else(|| quit_confirmation::build_idle_dialog(&key()))
    }

    /// Notes that the user leaves, where these actions say so.
    pub(super) fn note_quit(&mut self, actions: &[Action]) {
        self.is_quitting |= actions
            .iter()
            .any(|action| matches!(action, Action::Quit(_)));
    }
}
