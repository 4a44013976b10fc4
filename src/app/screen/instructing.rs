//! Asks before the first goal whether the instructions for agents reach them that a repository brings which is not trusted.
//!
//! Refuses to send anything of them before the answer.

use crate::app::start;
use crate::config::{InstructionsReach, TrustStore};
use crate::domain::instructions::InstructionsChoice;

use super::Shell;
use super::beginning::{Begin, What};
use super::ending::End;
use super::waiting_texts::typed;

impl Shell {
    /// Asks, where there is something to be asked, and keeps what is to begin; gives it back where nothing is asked.
    pub(super) fn ask_about_instructions(&mut self, begin: Begin) -> Option<Begin> {
        let Some(occupied) = &self.occupied else {
            return Some(begin);
        };
        let loaded = &occupied.found.loaded;
        let is_goal = matches!(begin.what, What::Goal(..));
        if !is_goal || loaded.instructions_reach() != InstructionsReach::Undecided {
            return Some(begin);
        }
        let files = loaded.project.instructions.iter().map(|source| {
            let name = source.file.to_string_lossy().into_owned();
            (name, source.text.clone())
        });
        self.screen.on_instructions(files.collect());
        self.asked = Some(begin);
        None
    }

    /// Keeps what the user said, and begins what waited for it.
    pub(super) fn on_instructions(
        &mut self,
        choice: Option<InstructionsChoice>,
    ) -> Result<Option<End>, End> {
        let Some(begin) = self.asked.take() else {
            return Ok(None);
        };
        let Some(choice) = choice else {
            self.screen
                .give_back(typed(&begin.what).into_iter().collect());
            return self.begin_next(begin.next, begin.since);
        };
        if let Some(occupied) = &mut self.occupied {
            let found = &mut occupied.found;
            let store = TrustStore::new(&found.places);
            if let Err(error) = store.decide_instructions(&found.loaded.project, choice) {
                self.screen.on_notice(&format!(
                    "your answer holds until this program ends: failed to {error}"
                ));
            }
            found.loaded.instructions = Some(choice);
            if let Some(engine) = &mut self.engine {
                engine.instruct(start::instructions(&found.loaded));
            }
        }
        self.show_project_asks();
        let Begin { what, since, next } = begin;
        let ended = self.begin(what)?;
        match &mut self.beginning {
            Some(begun) => (begun.since, begun.next) = (since, next),
            None => return self.begin_next(next, since),
        }
        Ok(ended)
    }

    /// Shows which instructions for agents there are, and whether they reach them.
    pub(super) fn show_project_asks(&mut self) {
        let loaded = self
            .occupied
            .as_ref()
            .map(|occupied| &occupied.found.loaded);
        let words = loaded.and_then(|loaded| loaded.instructions_in_words());
        self.screen.on_project_asks(words.unwrap_or_default());
    }
}
