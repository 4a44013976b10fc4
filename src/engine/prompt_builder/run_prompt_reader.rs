//! Builds the prompts of a run from its files, also while an instance works on it: no lock, nothing written.

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::domain::run::RunState;
use crate::domain::turn::TurnOrder;
use crate::engine::run_context::RunContext;
use crate::engine::run_journal::RunJournal;
use crate::engine::run_setup::RunSetup;
use crate::store::{StoreError, WorkdirLayout};

use super::PromptBuilder;

/// A run on disk, for its prompts only: it has no function that records or performs anything.
pub struct RunPromptReader {
    run: RunContext,
}

impl RunPromptReader {
    /// Loads the run as of the last event of its log; `None` if there is none. Blocks.
    ///
    /// # Errors
    /// The files cannot be read or have a newer schema.
    pub fn load(setup: RunSetup, layout: &WorkdirLayout) -> Result<Option<Self>, StoreError> {
        let Some(journal) = RunJournal::open_for_reading(layout)? else {
            return Ok(None);
        };
        let (inputs, _nothing_comes) = mpsc::channel(1);
        let run = RunContext::new(setup, journal, None, inputs, CancellationToken::new());
        Ok(Some(Self { run }))
    }

    /// Returns the state of the run.
    pub fn state(&self) -> &RunState {
        self.run.state()
    }

    /// Builds the prompt that a turn would send if it started now.
    ///
    /// # Errors
    /// The reason why there is no prompt.
    pub fn preview_prompt(&self, order: &TurnOrder) -> Result<String, String> {
        PromptBuilder::new(&self.run, order).preview_prompt()
    }
}
