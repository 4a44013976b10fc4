//! Opens a run for its prompts only: takes no lock, probes no agent and writes nothing.

use super::bootstrap::run_setup;
use super::{
    RunCommitMode, StartError, StartOptions, inspect_project, no_run_error, run_layout,
    unprobed_requirements,
};
use crate::engine::RunPromptReader;

/// Opens the existing run for its prompts.
///
/// # Errors
/// There is none, or it, the configuration or a prompt template cannot be read.
pub async fn open_prompt_reader(wishes: &StartOptions) -> Result<RunPromptReader, StartError> {
    let found = inspect_project(wishes).await?;
    let layout = run_layout(&found.root, &found.loaded.config)?;
    let checked = unprobed_requirements(&found, RunCommitMode::Disabled)?;
    let setup = run_setup(&found, &layout, checked, None, wishes);
    RunPromptReader::load(setup, &layout)?.ok_or_else(no_run_error)
}
