//! Dialogs that ask whether to stop: they stay until they are answered, and no turn starts before that.
//!
//! The caller checks `turn_hold` and holds the turn.

use super::Screen;
use super::dialog::{ChoiceDialog, DialogLifetime};
use super::dialogs::confirmations;
use crate::domain::phase::TurnHold;
use crate::domain::run::RunState;

impl Screen {
    /// Returns whether turns may start: not while the user is asked whether to stop.
    pub fn turn_hold(&self) -> TurnHold {
        match self.dialogs.own.as_ref().and_then(ChoiceDialog::stop_kind) {
            Some(_) => TurnHold::Held,
            None => TurnHold::Free,
        }
    }

    /// Returns the screen's own dialog, updated to the current state.
    pub(super) fn current_own_dialog(&self, state: Option<&RunState>) -> Option<ChoiceDialog> {
        if self.is_quit_dialog_open() {
            return Some(self.quit_dialog(state));
        }
        let own = self.dialogs.own.as_ref()?;
        Some(match (own.stop_kind(), state) {
            (Some(stops), Some(state)) => {
                confirmations::refresh_stop_dialog(own, stops, state, self.keymap())
            }
            _ => own.clone(),
        })
    }

    /// Closes the screen's own dialog if the run has advanced past it. Dialogs about stopping or
    /// quitting and lists stay open.
    pub(super) fn drop_stale_dialog(&mut self) {
        let is_overtaken = |sheet: &ChoiceDialog| sheet.lifetime == DialogLifetime::RunAdvances;
        self.dialogs.own.take_if(|own| is_overtaken(own));
        self.dialogs.deferred.retain(|sheet| !is_overtaken(sheet));
    }

    /// Opens a dialog that the user has not asked for. It waits while a dialog asks whether to stop.
    pub(super) fn open_or_defer_dialog(&mut self, sheet: ChoiceDialog) {
        match self.turn_hold() {
            TurnHold::Held => self.dialogs.deferred.push(sheet),
            TurnHold::Free => self.open_guarded_dialog(sheet),
        }
    }

    /// Opens the next dialog that had to wait.
    pub(super) fn open_deferred_dialog(&mut self) {
        if self.dialogs.own.is_none() && !self.dialogs.deferred.is_empty() {
            let sheet = self.dialogs.deferred.remove(0);
            self.open_guarded_dialog(sheet);
        }
    }
}
