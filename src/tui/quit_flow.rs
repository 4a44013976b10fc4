//! How the user quits: at once if nothing runs, else after a dialog that says what would stop.
//!
//! A second key quits immediately. The program does the actual stopping.

use super::Screen;
use super::action::{Action, QuitStep};
use super::dialog::ChoiceDialog;
use super::dialogs::quit_confirmation;
use super::keymap::ComposerFocus;
use crate::domain::run::RunState;

impl Screen {
    /// Handles the quit key and `/quit`: asks first if something would stop. A second one, while the dialog
    /// is open or the program is stopping, kills.
    pub(super) fn on_quit(&mut self, state: Option<&RunState>) -> Vec<Action> {
        if self.open_quit_dialog(state) {
            return Vec::new();
        }
        let step = if self.run_facts.is_quitting || self.is_quit_dialog_open() {
            QuitStep::Now
        } else {
            QuitStep::Ask
        };
        self.dialogs.own = None;
        let actions = vec![Action::Quit(step)];
        self.note_quit(&actions);
        actions
    }

    /// Saves a half-written text for the next start; called however the program ends.
    pub fn remember_draft(&mut self) {
        self.composer.editor.remember_draft();
    }

    /// Opens the dialog that says what would stop, unless it is open already; returns whether it did.
    pub fn open_quit_dialog(&mut self, state: Option<&RunState>) -> bool {
        if self.is_quit_dialog_open() || self.run_facts.is_quitting || self.is_read_only() {
            return false;
        }
        let Some(sheet) = self.needed_quit_dialog(state) else {
            return false;
        };
        // Nothing may cover this dialog.
        self.close_overlays();
        self.overlays.palette = None;
        self.overlays.close_search(&mut self.tabs);
        self.open_dialog(sheet);
        self.is_dirty = true;
        true
    }

    /// Returns whether the quit dialog is open.
    pub(super) fn is_quit_dialog_open(&self) -> bool {
        self.dialogs
            .own
            .as_ref()
            .is_some_and(|own| own.id == quit_confirmation::DIALOG_ID)
    }

    /// Builds the quit dialog for the current state; `None` if nothing would stop.
    fn needed_quit_dialog(&self, state: Option<&RunState>) -> Option<ChoiceDialog> {
        let key = self.keymap().key_label("quit", ComposerFocus::Unfocused);
        quit_confirmation::build_dialog(state?, self.local_clock(), &key)
    }

    /// Builds the quit dialog while it is open; the run continues behind it.
    pub(super) fn quit_dialog(&self, state: Option<&RunState>) -> ChoiceDialog {
        let key = || self.keymap().key_label("quit", ComposerFocus::Unfocused);
        let sheet = self.needed_quit_dialog(state);
        sheet.unwrap_or_else(|| quit_confirmation::build_idle_dialog(&key()))
    }

    /// Notes that the user is quitting, if one of the actions says so.
    pub(super) fn note_quit(&mut self, actions: &[Action]) {
        self.run_facts.is_quitting |= actions
            .iter()
            .any(|action| matches!(action, Action::Quit(_)));
    }
}
