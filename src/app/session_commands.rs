//! Lists, finds, deletes and prunes the sessions of a repository.
//!
//! Does not format them for the user: `cli` does. Listing takes no lock and changes nothing.

use std::collections::BTreeMap;

use crate::domain::ids::SessionId;
use crate::domain::run::RunState;
use crate::domain::task::{ChildSessionStatus, TaskStatus};
use crate::domain::turn::Role;
use crate::engine::stored_run::load_partial_run;
use crate::engine::{ChildDeletionError, LeftoverKind};
use crate::store::session_files::{PruneReport, StoredSession};
use crate::store::{InstanceLock, StoreError, WorkdirLayout, session_files};

use super::session_retention::retention_cutoff;
use super::startup::{self, StartError, StartOptions};
use super::{ipc_client, task_command};

/// Lists the sessions with their short names: for a task its agent and number, as `explore#2`; for a role the name of the
/// role.
///
/// # Errors
/// The sessions cannot be listed. If the run's files are unreadable, the sessions have ids but no names.
pub fn list_sessions(layout: &WorkdirLayout) -> Result<Vec<StoredSession>, StoreError> {
    let found = load_partial_run(layout).ok().flatten();
    let names = found.map_or_else(BTreeMap::new, |found| session_names(&found.state));
    let mut sessions = session_files::list_sessions(layout)?;
    let nobody_works = InstanceLock::read_holder(layout)?.is_none();
    for session in &mut sessions {
        // Its program was killed; the next one will record that in the session.
        let is_running = ChildSessionStatus::Task(TaskStatus::Running);
        if nobody_works && session.child_status() == Some(is_running) {
            session.status = <&str>::from(ChildSessionStatus::CutOff).to_owned();
            let status = session.status.as_str().into();
            session.json.insert("status".to_owned(), status);
        }
        session.name = names.get(&session.id).cloned();
        if let Some(name) = &session.name {
            session.json.insert("name".to_owned(), name.as_str().into());
        }
    }
    Ok(sessions)
}

fn session_names(state: &RunState) -> BTreeMap<String, String> {
    let roles = [Role::Planner, Role::Reviewer].into_iter();
    let roles = roles.filter_map(|role| {
        let session = state.session(role)?;
        Some((session.id.to_string(), role.name().to_owned()))
    });
    let children = state.children.iter();
    let children = children.map(|child| (child.session_id().to_string(), child.order.short_name()));
    roles.chain(children).collect()
}

/// Finds a session by its name, its id, or an unambiguous beginning of its id.
///
/// # Errors
/// No session or several sessions match.
pub fn find_session(layout: &WorkdirLayout, wanted: &str) -> Result<StoredSession, StartError> {
    let mut found = list_sessions(layout)?;
    found.retain(|session| {
        session.name.as_deref() == Some(wanted) || session.id.starts_with(wanted)
    });
    let usage = |problem: String| StartError {
        problem,
        hint: "`agent-collab sessions list` lists them".to_owned(),
        code: 2,
    };
    match (found.pop(), found.len()) {
        (None, _) => Err(usage(format!("no session {wanted}"))),
        (Some(session), 0) => Ok(session),
        (Some(_), more) => {
            let n = more + 1;
            Err(usage(format!("{n} sessions match {wanted}")))
        }
    }
}

/// Deletes a child session: through the running instance, else under the lock.
///
/// # Errors
/// The session was not deleted; the text says why and what to do.
pub async fn delete_session(wishes: &StartOptions, wanted: &str) -> Result<SessionId, StartError> {
    let found = startup::inspect_project(wishes).await?;
    let layout = startup::run_layout(&found.root, &found.loaded.config)?;
    let stored = find_session(&layout, wanted)?;
    let session = stored.session_id();
    if !stored.is_child() {
        return Err(StartError::new(
            format!("{session} belongs to a role, not to a task"),
            "it is kept with its run",
        ));
    }
    if let Some(held) = InstanceLock::read_holder(&layout)? {
        ipc_client::request_instance(
            &layout,
            &held,
            task_command::DELETE_SESSION_COMMAND,
            session.to_string(),
        )
        .await?;
        return Ok(session);
    }
    let mut engine = open_settled_run(wishes).await?;
    let done = engine.engine.delete_child(&session);
    let done = done.map_err(|error| StartError::new(&error, "everything recorded is kept"))?;
    match done {
        Ok(()) => Ok(session),
        Err(why @ (ChildDeletionError::NotFound(_) | ChildDeletionError::StillRunning(_))) => Err(
            StartError::new(why, "`agent-collab sessions list` lists them"),
        ),
    }
}

/// Deletes the child sessions past their retention time, of this run and of finished ones, and returns the number.
///
/// # Errors
/// An instance runs here, or the files cannot be removed.
pub async fn prune_sessions(wishes: &StartOptions) -> Result<usize, StartError> {
    let found = startup::inspect_project(wishes).await?;
    let limits = found.loaded.config.limits.clone();
    let layout = startup::run_layout(&found.root, &found.loaded.config)?;
    if !layout.workdir().is_dir() {
        return Ok(0);
    }
    let before = retention_cutoff(&limits);
    if !layout.events().is_file() {
        let occupied = startup::lock_project(found)?;
        return pruned_count(session_files::prune_archived_sessions(
            &layout,
            &occupied.lock,
            before,
        )?);
    }
    let mut open = open_settled_run(wishes).await?;
    let own = open.engine.prune_children(before);
    let own = own.map_err(|error| StartError::new(&error, "everything recorded is kept"))?;
    let archived = session_files::prune_archived_sessions(&layout, &open.occupied.lock, before)?;
    Ok(own.len() + pruned_count(archived)?)
}

/// Returns the number of deleted sessions, or the first failure.
fn pruned_count(pruned: PruneReport) -> Result<usize, StartError> {
    match pruned.failures.into_iter().next() {
        Some(error) => Err(error.into()),
        None => Ok(pruned.n_deleted),
    }
}

/// Opens the run without continuing it, and ends the children of dead programs in it.
async fn open_settled_run(wishes: &StartOptions) -> Result<startup::RunInstance, StartError> {
    let mut open = startup::open_run_as_is(wishes).await?;
    let settled = open.engine.recover_leftovers(LeftoverKind::Tasks);
    settled.map_err(|error| StartError::new(&error, "nothing was deleted"))?;
    Ok(open)
}
