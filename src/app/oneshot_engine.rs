//! Runs one command in an engine of its own, if no instance runs: opens the engine, does the work and ends everything
//! it started.

use std::time::Duration;

use tokio::time::timeout;

use super::headless_signals::HeadlessSignals;
use super::startup::{RunInstance, StartError};
use crate::engine::Engine;
use crate::process::{become_subreaper, terminate_descendants};

/// Time for conversations to end by their protocols, before everything is killed.
pub(super) const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(8);
/// Time between SIGTERM and SIGKILL at the very end.
const KILL_GRACE: Duration = Duration::from_millis(400);

/// Makes this process the parent of all orphaned descendants, so that none escapes.
pub(super) fn adopt_orphaned_children() -> Result<(), StartError> {
    become_subreaper()
        .map_err(|error| StartError::new(format!("cannot manage child processes: {error}"), ""))
}

/// Ends every remaining process, and logs those that cannot be ended.
pub(super) async fn terminate_remaining_processes() {
    let survivors = terminate_descendants(KILL_GRACE).await;
    if !survivors.is_empty() {
        tracing::error!(?survivors, "processes that could not be ended");
    }
}

/// Opens a run, unless a signal arrives first.
///
/// # Errors
/// The run did not open, or a signal interrupted it; then everything started for it has ended.
pub(super) async fn open_unless_signalled(
    opening: impl Future<Output = Result<RunInstance, StartError>>,
    signals: &mut HeadlessSignals,
) -> Result<RunInstance, StartError> {
    tokio::select! {
        biased;
        name = signals.next_signal() => {
            terminate_remaining_processes().await;
            let refusal = StartError::new(format!("interrupted by {name}"), "nothing was started");
            Err(StartError { code: 130, ..refusal })
        }
        opened = opening => opened,
    }
}

/// Opens an engine, runs `work` with it and ends everything it started; `tell` gets notices and progress, line by line.
pub(super) async fn run_oneshot_engine<T>(
    opening: impl Future<Output = Result<RunInstance, StartError>>,
    signals: &mut HeadlessSignals,
    tell: &mut dyn FnMut(&str),
    work: impl AsyncFnOnce(
        &mut Engine,
        &mut HeadlessSignals,
        &mut dyn FnMut(&str),
    ) -> Result<T, StartError>,
) -> Result<T, StartError> {
    adopt_orphaned_children()?;
    let RunInstance {
        mut engine,
        notices,
        occupied,
    } = open_unless_signalled(opening, signals).await?;
    for notice in notices {
        tell(&format!("note: {notice}"));
    }
    let done = work(&mut engine, signals, tell).await;
    let _late = timeout(SHUTDOWN_TIMEOUT, engine.shut_down()).await;
    terminate_remaining_processes().await;
    // Release the lock only now: nothing of this run is left.
    drop(occupied);
    done
}
