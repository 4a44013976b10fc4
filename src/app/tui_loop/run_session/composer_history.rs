//! Saves the user's inputs for the next start in the same repository.
//!
//! If saving fails, the user gets one notice, and nothing more is saved.

use crate::app::startup::ProjectContext;
use crate::store::input_history_file::{InputHistoryFile, InputHistoryFit, MAX_TEXT_BYTES};
use crate::tui::Screen;

/// The file for the user's inputs.
#[derive(Default)]
pub struct ComposerHistory {
    /// `None` if they are not saved.
    file: Option<InputHistoryFile>,
}

impl ComposerHistory {
    /// Loads the earlier inputs into the composer.
    pub fn load(&mut self, found: &ProjectContext, screen: &mut Screen) {
        let written = InputHistoryFile::new(&found.places.input_history_dir(), &found.root);
        match written.load() {
            Ok(texts) => {
                screen.set_input_history(texts);
                self.file = Some(written);
            }
            Err(error) => screen.on_notice(&format!(
                "Your earlier messages are not available and new ones are not saved: {error}"
            )),
        }
    }

    /// Saves the inputs since the last call.
    pub fn save(&mut self, screen: &mut Screen) {
        let texts = screen.drain_new_inputs();
        let Some(written) = self.file.as_ref().filter(|_| !texts.is_empty()) else {
            return;
        };
        match written.add(&texts) {
            Ok(InputHistoryFit::Stored) => {}
            Ok(InputHistoryFit::TooLong) => screen.on_notice(&format!(
                "This message is too long for the history: more than {} KiB.",
                MAX_TEXT_BYTES >> 10
            )),
            Err(error) => {
                self.file = None;
                screen.on_notice(&format!(
                    "Your messages are not saved for the next start: {error}"
                ));
            }
        }
    }
}
