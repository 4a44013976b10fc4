//! Looks at what the run of a directory changed, without holding the directory.
//!
//! Takes no lock, so it may be asked while the run goes on. Refuses to draw or print.

use crate::domain::diff_scope::DiffScope;
use crate::domain::run::RunState;
use crate::engine::git::GitRepository;
use crate::engine::run_changes::{RunChanges, RunChangesError, load_changes};
use crate::engine::run_loader::load_partial_run;
use crate::store::WorkdirLayout;

use super::startup::{RunTreeReader, StartError};

/// What was looked at, and what came of it.
#[derive(Debug)]
pub struct RunDiff {
    /// Which changes there are to look at, in order.
    pub scopes: Vec<DiffScope>,
    /// What there is to see; else what went wrong.
    pub changes: Result<RunChanges, RunChangesError>,
    /// What cannot be read of the run, where its log tells the rest.
    pub problem: Option<String>,
}

/// Looks at the changes of a run whose state is known.
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

/// Looks at the changes of the run that lies in a directory, whoever holds it.
///
/// # Errors
/// The run's state cannot be read, or git refuses.
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
