//! Asks before the first goal whether agents get the instructions of a repository that is not trusted.
//!
//! No agent gets any of them before the answer.

use crate::app::startup;
use crate::config::{InstructionsReach, TrustStore};
use crate::domain::instructions_choice::InstructionsChoice;

use super::TuiApp;
use super::input_queue::typed_text;
use super::run_startup::{PendingRunStart, RunStartKind};
use super::shutdown::TuiEnd;

impl TuiApp {
    /// Asks if a decision is missing, and keeps the pending start; else returns the start.
    pub(super) fn ask_about_instructions(
        &mut self,
        begin: PendingRunStart,
    ) -> Option<PendingRunStart> {
        let Some(occupied) = &self.occupied else {
            return Some(begin);
        };
        let loaded = &occupied.project.loaded;
        let is_goal = matches!(begin.what, RunStartKind::Goal(..));
        if !is_goal || loaded.instructions_reach() != InstructionsReach::Undecided {
            return Some(begin);
        }
        let files = loaded.project.instructions.iter().map(|source| {
            let name = source.file.to_string_lossy().into_owned();
            (name, source.text.clone())
        });
        self.screen.ask_about_instructions(files.collect());
        self.start_awaiting_consent = Some(begin);
        None
    }

    /// Saves the user's choice and continues the pending start.
    pub(super) fn on_instructions_choice(
        &mut self,
        choice: Option<InstructionsChoice>,
    ) -> Result<Option<TuiEnd>, TuiEnd> {
        let Some(begin) = self.start_awaiting_consent.take() else {
            return Ok(None);
        };
        let Some(choice) = choice else {
            self.screen
                .return_messages(typed_text(&begin.what).into_iter().collect());
            return self.start_queued(begin.next, begin.since);
        };
        if let Some(occupied) = &mut self.occupied {
            let found = &mut occupied.project;
            let store = TrustStore::new(&found.places);
            if let Err(error) = store.decide_instructions(&found.loaded.project, choice) {
                self.screen.on_notice(&format!(
                    "Your answer lasts until this program exits: failed to {error}"
                ));
            }
            found.loaded.instructions = Some(choice);
            if let Some(engine) = &mut self.engine {
                engine.set_instructions(startup::collect_instructions(&found.loaded));
            }
        }
        self.show_instructions_state();
        let PendingRunStart { what, since, next } = begin;
        let ended = self.start_run(what)?;
        match &mut self.pending_start {
            Some(begun) => (begun.since, begun.next) = (since, next),
            None => return self.start_queued(next, since),
        }
        Ok(ended)
    }

    /// Shows which instructions exist and whether agents get them.
    pub(super) fn show_instructions_state(&mut self) {
        let loaded = self
            .occupied
            .as_ref()
            .map(|occupied| &occupied.project.loaded);
        let words = loaded.and_then(|loaded| loaded.describe_instructions());
        self.screen
            .on_instructions_status(words.unwrap_or_default());
    }
}
