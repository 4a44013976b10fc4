//! The sessions that lie in a repository: listed, shown, deleted, and pruned by age.
//!
//! Refuses to word them for people; its caller does. What is looked at is neither locked nor changed.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use crate::config::types::Limits;
use crate::domain::ids::{At, SessionId};
use crate::domain::run::State;
use crate::domain::turn::Role;
use crate::engine::lying::stands;
use crate::engine::{Engine, NotDeleted, with_hint};
use crate::store::session_files::PruneReport;
use crate::store::{InstanceLock, StoreError, WorkdirLayout, session_files, utc_time};

use super::start::{self, Refusal, Wishes};
use super::{given, tasks};

/// Lists them, each with what it is called in `name`: a task's as its agent and number, `explore#2`, a role's as its role.
///
/// # Errors
/// They cannot be listed. Of a run whose files cannot be read they have their ids alone.
pub fn list(layout: &WorkdirLayout) -> Result<Vec<Value>, StoreError> {
    let found = stands(layout).ok().flatten();
    let names = found.map_or_else(BTreeMap::new, |found| names(&found.state));
    let mut sessions = session_files::list_sessions(layout)?;
    let nobody_works = InstanceLock::read_holder(layout)?.is_none();
    for session in &mut sessions {
        // Its program was killed: the next one will say so in the session itself.
        if nobody_works && session["status"] == "running" {
            session["status"] = "cut off".into();
        }
        let name = names.get(id_of(session));
        if let (Some(name), Value::Object(fields)) = (name, session) {
            fields.insert("name".to_owned(), name.as_str().into());
        }
    }
    Ok(sessions)
}

fn names(state: &State) -> BTreeMap<String, String> {
    let roles = [Role::Planner, Role::Reviewer].into_iter();
    let roles = roles.filter_map(|role| {
        let session = state.session(role)?;
        Some((session.id.to_string(), role.name().to_owned()))
    });
    let children = state.children.iter();
    let children = children.map(|child| (child.id().to_string(), child.order.name()));
    roles.chain(children).collect()
}

/// Finds a session by its name, by its id, or as the only one whose id begins so.
///
/// # Errors
/// None does, or more than one.
pub fn find(layout: &WorkdirLayout, wanted: &str) -> Result<Value, Refusal> {
    let is_it = |session: &Value| {
        session["name"].as_str() == Some(wanted) || id_of(session).starts_with(wanted)
    };
    let mut found: Vec<Value> = list(layout)?.into_iter().filter(is_it).collect();
    let usage = |problem: String| Refusal {
        problem,
        hint: "`agent-collab sessions list` lists them".to_owned(),
        code: 2,
    };
    match (found.pop(), found.len()) {
        (None, _) => Err(usage(format!("there is no session {wanted}"))),
        (Some(session), 0) => Ok(session),
        (Some(_), more) => {
            let n = more + 1;
            Err(usage(format!(
                "{n} sessions are called {wanted} or begin with it"
            )))
        }
    }
}

/// A session's id as it is stored.
pub fn id_of(session: &Value) -> &str {
    session["id"].as_str().unwrap_or_default()
}

/// Deletes a child session: by the instance that runs here, else under the lock.
///
/// # Errors
/// It stays; the text says why and what to do.
pub async fn delete(wishes: &Wishes, wanted: &str) -> Result<SessionId, Refusal> {
    let found = start::find(wishes).await?;
    let layout = start::layout(&found.root, &found.loaded.config)?;
    let stored = find(&layout, wanted)?;
    let session = SessionId::new(id_of(&stored));
    if stored["kind"] != "task" && stored["kind"] != "participant" {
        return Err(Refusal::error(
            format!("{session} is the session of a role, not of a task"),
            "it goes with its run",
        ));
    }
    if let Some(held) = InstanceLock::read_holder(&layout)? {
        given::ask(&layout, &held, tasks::DELETE, session.to_string()).await?;
        return Ok(session);
    }
    let mut engine = open(wishes).await?;
    let done = engine.engine.delete_child(&session);
    let done = done.map_err(|error| Refusal::error(&error, "what was recorded is kept"))?;
    match done {
        Ok(()) => Ok(session),
        Err(why @ (NotDeleted::NotThere(_) | NotDeleted::StillRunning(_))) => Err(Refusal::error(
            why,
            "`agent-collab sessions list` lists them",
        )),
    }
}

/// Deletes the child sessions that are older than they are kept, of this run and of finished ones; tells how many.
///
/// # Errors
/// An instance works here, or the files cannot be removed.
pub async fn prune(wishes: &Wishes) -> Result<usize, Refusal> {
    let found = start::find(wishes).await?;
    let limits = found.loaded.config.limits.clone();
    let layout = start::layout(&found.root, &found.loaded.config)?;
    if !layout.workdir().is_dir() {
        return Ok(0);
    }
    let before = kept_since(&limits);
    if !layout.events().is_file() {
        let occupied = start::occupy(found)?;
        return n_pruned(session_files::prune_archived_sessions(
            &layout,
            &occupied.lock,
            before,
        )?);
    }
    let mut open = open(wishes).await?;
    let own = open.engine.prune_children(before);
    let own = own.map_err(|error| Refusal::error(&error, "what was recorded is kept"))?;
    let archived = session_files::prune_archived_sessions(&layout, &open.occupied.lock, before)?;
    Ok(own.len() + n_pruned(archived)?)
}

/// How many are deleted; a refusal where one could not be.
fn n_pruned(pruned: PruneReport) -> Result<usize, Refusal> {
    match pruned.failures.into_iter().next() {
        Some(error) => Err(error.into()),
        None => Ok(pruned.n_deleted),
    }
}

/// An open run that nobody goes on with; children of a dead program are settled in it.
async fn open(wishes: &Wishes) -> Result<start::Started, Refusal> {
    let mut open = start::at_rest(wishes).await?;
    let settled = open.engine.settle_children();
    settled.map_err(|error| Refusal::error(&error, "nothing was deleted"))?;
    Ok(open)
}

/// From which instant on sessions are kept.
fn kept_since(limits: &Limits) -> At {
    let days = Duration::from_secs(u64::from(limits.keep_sessions_days) * 24 * 60 * 60);
    let millis = i64::try_from(days.as_millis()).unwrap_or(i64::MAX);
    At(utc_time::now().0.saturating_sub(millis))
}

/// Deletes what is older than it is kept at the beginning of a run or when it is taken up.
///
/// # Errors
/// The files cannot be removed.
pub fn prune_old(
    (layout, lock): (&WorkdirLayout, &InstanceLock),
    engine: &mut Engine,
    limits: &Limits,
) -> Result<(), Refusal> {
    let before = kept_since(limits);
    let pruned = engine.prune_children(before);
    let pruned = pruned.map_err(|error| Refusal::error(&error, "nothing was begun"))?;
    let archived = session_files::prune_archived_sessions(layout, lock, before)?;
    // No run depends on it.
    for error in &archived.failures {
        let told = engine.tell_trouble("delete an old session", with_hint(error));
        told.map_err(|error| Refusal::error(&error, "nothing was begun"))?;
    }
    let n = pruned.len() + archived.n_deleted;
    if n > 0 {
        tracing::info!(n, "old child sessions are deleted");
    }
    Ok(())
}
