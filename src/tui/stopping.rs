//! Dialogs that ask whether to stop: they stay until they are answered, and no turn starts before that.
//!
//! Refuses to hold a turn back itself: the shell asks and tells the run.

use super::Screen;
use super::dialogs::confirm;
use super::sheet::{Sheet, Until};
use crate::domain::phase::TurnHold;
use crate::domain::run::RunState;

impl Screen {
    /// Whether turns may start: not while the user is being asked whether to stop.
    pub fn turn_hold(&self) -> TurnHold {
        match self.own.as_ref().and_then(Sheet::stops) {
            Some(_) => TurnHold::Held,
            None => TurnHold::Free,
        }
    }

    /// The dialog of the screen's own as things are now.
    pub(super) fn own_now(&self, state: Option<&RunState>) -> Option<Sheet> {
        if self.is_asked_to_leave() {
            return Some(self.leaving(state));
        }
        let own = self.own.as_ref()?;
        Some(match (own.stops(), state) {
            (Some(stops), Some(state)) => confirm::refreshed(own, stops, state, self.keymap()),
            _ => own.clone(),
        })
    }

    /// Drops a dialog of the screen's own that the run has overtaken. What the user opened to stop, to leave or to
    /// choose from a list stays.
    pub(super) fn drop_own(&mut self) {
        let is_overtaken = |sheet: &Sheet| sheet.until == Until::TheRunMovesOn;
        self.own.take_if(|own| is_overtaken(own));
        self.behind.retain(|sheet| !is_overtaken(sheet));
    }

    /// Opens a dialog that comes by itself. It waits behind one that asks whether to stop.
    pub(super) fn bring(&mut self, sheet: Sheet) {
        match self.turn_hold() {
            TurnHold::Held => self.behind.push(sheet),
            TurnHold::Free => self.bring_now(sheet),
        }
    }

    /// Opens the dialog that waited behind one that was answered.
    pub(super) fn bring_what_waited(&mut self) {
        if self.own.is_none() && !self.behind.is_empty() {
            let sheet = self.behind.remove(0);
            self.bring_now(sheet);
        }
    }
}
