//! Loads the changes that a directory's run made, without taking its lock.
//!
//! Works while the run continues. Does not draw or print.

use crate::domain::diff_scope::DiffScope;
use crate::domain::run::RunState;
use crate::engine::git::GitRepository;
use crate::engine::run_changes::{RunChanges, RunChangesError, load_changes};
use crate::engine::stored_run::load_partial_run;
use crate::store::WorkdirLayout;

use super::startup::{RunTreeReader, StartError};

/// The changes of a run in one scope.
#[derive(Debug)]
pub struct RunDiff {
    /// The scopes that the run has, in order.
    pub scopes: Vec<DiffScope>,
    /// The changes, or what went wrong.
    pub changes: Result<RunChanges, RunChangesError>,
    /// What could not be read, if the log supplied the rest.
    pub problem: Option<String>,
}

/// Loads the changes of a run whose state is known.
pub async fn diff_run(
    git: Option<&GitRepository>,
    state: Option<&RunState>,
    layout: &WorkdirLayout,
    scope: DiffScope,
) -> RunDiff {
    let execution = state.and_then(|state| state.execution.as_ref());
    let mut scopes =
        execution.map_or_else(|| vec![DiffScope::All], |execution| execution.diff_scopes());
    scopes.push(DiffScope::Plan);
    RunDiff {
        scopes,
        changes: load_changes(git, execution, layout, scope).await,
        problem: None,
    }
}

/// Loads the changes of the run in a directory, whether or not an instance has its lock.
///
/// # Errors
/// The run's state cannot be read, or git fails.
pub async fn diff_run_in_directory(
    ground: &RunTreeReader,
    layout: &WorkdirLayout,
    scope: DiffScope,
) -> Result<RunDiff, StartError> {
    let found = load_partial_run(layout)?;
    let git = ground.open_repository(layout.workdir()).await?;
    let state = found.as_ref().map(|found| &found.state);
    let looked = diff_run(git.as_ref(), state, layout, scope).await;
    Ok(RunDiff {
        problem: found.and_then(|found| found.problem),
        ..looked
    })
}
