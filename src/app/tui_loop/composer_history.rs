//! What the user sent, kept for the next start in the same repository.
//!
//! Refuses to stand in anybody's way: what cannot be kept is told once and then left.

use crate::app::startup::ProjectContext;
use crate::store::input_history_file::{InputHistoryFile, InputHistoryFit, MAX_TEXT_BYTES};

use super::{TuiApp, TuiStart};

impl TuiApp {
    /// Gives the composer what was sent before; a demo's is nobody's.
    pub(super) fn load_input_history(&mut self, found: &ProjectContext) {
        if matches!(self.start, TuiStart::Demo { .. }) {
            return;
        }
        let written = InputHistoryFile::new(&found.places.input_history_dir(), &found.root);
        match written.load() {
            Ok(texts) => {
                self.screen.set_input_history(texts);
                self.input_history = Some(written);
            }
            Err(error) => self.screen.on_notice(&format!(
                "what you wrote before is not there, and what you write now is not kept: {error}"
            )),
        }
    }

    /// Keeps what was sent since the last time.
    pub(super) fn save_input_history(&mut self) {
        let texts = self.screen.drain_new_inputs();
        let Some(written) = self.input_history.as_ref().filter(|_| !texts.is_empty()) else {
            return;
        };
        match written.add(&texts) {
            Ok(InputHistoryFit::Stored) => {}
            Ok(InputHistoryFit::TooLong) => self.screen.on_notice(&format!(
                "what you wrote is too long to be kept for the next start: more than {} KiB",
                MAX_TEXT_BYTES >> 10
            )),
            Err(error) => {
                self.input_history = None;
                self.screen.on_notice(&format!(
                    "what you write is not kept for the next start: {error}"
                ));
            }
        }
    }
}
