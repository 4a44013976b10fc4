//! Saves the user's inputs for the next start in the same repository.
//!
//! If saving fails, the user gets one notice, and nothing more is saved.

use crate::app::startup::ProjectContext;
use crate::store::input_history_file::{InputHistoryFile, InputHistoryFit, MAX_TEXT_BYTES};

use super::{TuiApp, TuiStart};

impl TuiApp {
    /// Loads the earlier inputs into the composer; a demo has none.
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
                "Your earlier messages are not available and new ones are not saved: {error}"
            )),
        }
    }

    /// Saves the inputs since the last call.
    pub(super) fn save_input_history(&mut self) {
        let texts = self.screen.drain_new_inputs();
        let Some(written) = self.input_history.as_ref().filter(|_| !texts.is_empty()) else {
            return;
        };
        match written.add(&texts) {
            Ok(InputHistoryFit::Stored) => {}
            Ok(InputHistoryFit::TooLong) => self.screen.on_notice(&format!(
                "This message is too long for the history: more than {} KiB.",
                MAX_TEXT_BYTES >> 10
            )),
            Err(error) => {
                self.input_history = None;
                self.screen.on_notice(&format!(
                    "Your messages are not saved for the next start: {error}"
                ));
            }
        }
    }
}
