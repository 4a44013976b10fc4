//! Deletes child sessions: one at the user's request, or those past their retention time.
//!
//! Never deletes a session with a running task, or the conversation that the CLI itself stores.

use crate::domain::event::Event;
use crate::domain::ids::{SessionId, UnixMillis};
use crate::domain::task::ChildSession;
use crate::engine::engine_error::EngineError;
use crate::engine::run_context::RunContext;

/// Explains why a child session was not deleted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChildDeletionError {
    /// The session does not exist.
    #[error("no task session {0} in this run")]
    NotFound(SessionId),
    /// Its task is still running.
    #[error("the task of {0} is still running; stop it first")]
    StillRunning(SessionId),
}

/// Deletes a child session with all its files.
///
/// # Errors
/// The record of the run cannot be written. A session that is not deleted is reported by the inner error.
pub(in crate::engine) fn delete_child(
    run: &mut RunContext,
    session: &SessionId,
) -> Result<Result<(), ChildDeletionError>, EngineError> {
    match run.child_session(session) {
        None => return Ok(Err(ChildDeletionError::NotFound(session.clone()))),
        Some(child) if child.is_running() => {
            return Ok(Err(ChildDeletionError::StillRunning(session.clone())));
        }
        Some(_) => {}
    }
    // The event is recorded first: files without a child are harmless, a child without files is not.
    run.record(Event::ChildDeleted {
        session: session.clone(),
    })?;
    let layout = run.journal.layout();
    run.journal
        .guard()
        .remove(&layout.session_folder(session))?;
    Ok(Ok(()))
}

/// Deletes the child sessions whose last task ended before an instant.
///
/// # Errors
/// The record of the run cannot be written.
pub(in crate::engine) fn prune_children(
    run: &mut RunContext,
    before: UnixMillis,
) -> Result<Vec<SessionId>, EngineError> {
    let children = run.state().children.iter();
    let old: Vec<SessionId> = children
        .filter(|child| !child.is_running() && ended_at(child) < before)
        .map(|child| child.session_id().clone())
        .collect();
    for session in &old {
        // These sessions exist, and none of them is running.
        let _deleted = delete_child(run, session)?;
    }
    Ok(old)
}

fn ended_at(child: &ChildSession) -> UnixMillis {
    let took = i64::try_from(child.took_ms.unwrap_or(0)).unwrap_or(0);
    UnixMillis(
        child
            .began_at
            .unwrap_or(child.given_at)
            .0
            .saturating_add(took),
    )
}
