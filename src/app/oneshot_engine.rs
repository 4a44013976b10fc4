//! What a command does by an engine of its own, where no instance runs: the engine is opened, one thing is done with
//! it, and all that was started is ended.
//!
//! Refuses to know what is done.

use std::time::Duration;

use tokio::time::timeout;

use super::headless::HeadlessSignals;
use super::startup::{RunInstance, StartError};
use crate::engine::Engine;
use crate::process::{become_subreaper, terminate_descendants};

/// How long conversations may take to end by their protocols, before everything is killed.
pub(super) const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(8);
/// How long processes have between TERM and KILL at the very end.
const KILL_GRACE: Duration = Duration::from_millis(400);

/// Takes every process on whose parent goes, so that none of them is lost.
pub(super) fn adopt_orphaned_children() -> Result<(), StartError> {
    become_subreaper()
        .map_err(|error| StartError::new(format!("cannot look after child processes: {error}"), ""))
}

/// Ends every process that is left, and tells the log of those that cannot be ended.
pub(super) async fn terminate_remaining_processes() {
    let survivors = terminate_descendants(KILL_GRACE).await;
    if !survivors.is_empty() {
        tracing::error!(?survivors, "processes that could not be ended");
    }
}

/// Opens a run, unless a signal comes before.
///
/// # Errors
/// The run's, or that it was interrupted; then all that was started for it is gone.
pub(super) async fn open_unless_signalled(
    opening: impl Future<Output = Result<RunInstance, StartError>>,
    signals: &mut HeadlessSignals,
) -> Result<RunInstance, StartError> {
    tokio::select! {
        biased;
        name = signals.next_signal() => {
            terminate_remaining_processes().await;
            let refusal = StartError::new(format!("interrupted by {name}"), "nothing was begun");
            Err(StartError { code: 130, ..refusal })
        }
        opened = opening => opened,
    }
}

/// Opens an engine, does this with it and ends all that it started; `tell` hears in lines what there is to be known.
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
    // Others may work here again only now that nothing of this is left.
    drop(occupied);
    done
}
