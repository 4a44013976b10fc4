//! What a command does by an engine of its own, where no instance runs: the engine is opened, one thing is done with
//! it, and all that was started is ended.
//!
//! Refuses to know what is done.

use std::time::Duration;

use tokio::time::timeout;

use super::headless::Signals;
use super::start::{Refusal, Started};
use crate::engine::Engine;
use crate::process::{become_subreaper, terminate_descendants};

/// How long conversations may take to end by their protocols, before everything is killed.
pub(super) const SHUT_DOWN: Duration = Duration::from_secs(8);
/// How long processes have between TERM and KILL at the very end.
const LAST_GRACE: Duration = Duration::from_millis(400);

/// Takes every process on whose parent goes, so that none of them is lost.
pub(super) fn look_after_children() -> Result<(), Refusal> {
    become_subreaper()
        .map_err(|error| Refusal::error(format!("cannot look after child processes: {error}"), ""))
}

/// Ends every process that is left, and tells the log of those that cannot be ended.
pub(super) async fn end_what_is_left() {
    let survivors = terminate_descendants(LAST_GRACE).await;
    if !survivors.is_empty() {
        tracing::error!(?survivors, "processes that could not be ended");
    }
}

/// Opens a run, unless a signal comes before.
///
/// # Errors
/// The run's, or that it was interrupted; then all that was started for it is gone.
pub(super) async fn until_signalled(
    opening: impl Future<Output = Result<Started, Refusal>>,
    signals: &mut Signals,
) -> Result<Started, Refusal> {
    tokio::select! {
        biased;
        name = signals.next() => {
            end_what_is_left().await;
            let refusal = Refusal::error(format!("interrupted by {name}"), "nothing was begun");
            Err(Refusal { code: 130, ..refusal })
        }
        opened = opening => opened,
    }
}

/// Opens an engine, does this with it and ends all that it started; `tell` hears in lines what there is to be known.
pub(super) async fn alone<T>(
    opening: impl Future<Output = Result<Started, Refusal>>,
    signals: &mut Signals,
    tell: &mut dyn FnMut(&str),
    work: impl AsyncFnOnce(&mut Engine, &mut Signals, &mut dyn FnMut(&str)) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    look_after_children()?;
    let Started {
        mut engine,
        notices,
        occupied,
    } = until_signalled(opening, signals).await?;
    for notice in notices {
        tell(&format!("note: {notice}"));
    }
    let done = work(&mut engine, signals, tell).await;
    let _late = timeout(SHUT_DOWN, engine.shut_down()).await;
    end_what_is_left().await;
    // Others may work here again only now that nothing of this is left.
    drop(occupied);
    done
}
