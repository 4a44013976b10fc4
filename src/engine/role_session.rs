//! Writes the files of a role's session: its messages, and `session.json` with the same facts as a child's.
//!
//! The run never reads it back: the run's own record says what a session is.

use serde_json::{Value, json};

use super::engine_error::EngineError;
use crate::domain::event::Event;
use crate::domain::session::Session;
use crate::domain::turn::Role;
use crate::store::session_files;

use super::run_journal::RunJournal;

/// Saves the sessions that an event has changed.
pub(super) fn save_role_sessions(journal: &RunJournal, event: &Event) -> Result<(), EngineError> {
    let roles: &[Role] = match event {
        Event::MessageAppended { role, .. }
        | Event::SessionOpened { role, .. }
        | Event::SessionVersion { role, .. }
        | Event::SessionLost { role, .. }
        | Event::SessionMoved { role, .. } => &[*role],
        Event::TurnStarted { .. }
        | Event::TurnEnded { .. }
        | Event::TodosWritten { .. }
        | Event::GoalConfirmed { .. } => &[Role::Planner, Role::Reviewer],
        _ => &[],
    };
    for role in roles {
        if let Some(session) = journal
            .state()
            .session(*role)
            .filter(|of| of.n_messages > 0)
        {
            save_role_session(journal, *role, session)?;
        }
    }
    Ok(())
}

fn save_role_session(
    journal: &RunJournal,
    role: Role,
    session: &Session,
) -> Result<(), EngineError> {
    let state = journal.state();
    let stored = session_files::load_session(journal.layout(), &session.id);
    // A damaged file is ignored here; the tamper guard restores and reports it.
    let created = stored.ok().flatten();
    let created = created.and_then(|stored| stored.created);
    let now = journal.now();
    let since = match session.moved_from {
        None => state.created,
        Some(_) => now,
    };
    let running = state.running.as_ref();
    let works = running.is_some_and(|running| running.order.purpose.role() == role);
    let mut whole = json!({
        "id": session.id,
        "run_id": state.run,
        "parent_id": null,
        "kind": "role",
        "role": role.name(),
        "title": state.goal.as_ref().map_or(role.name(), |goal| goal.title.as_str()),
        "profile": session.current_profile().name(),
        "status": if works { "running" } else { "idle" },
        "created": created.unwrap_or(since),
        "updated": now,
    });
    if let (Value::Object(whole), Ok(Value::Object(of_state))) =
        (&mut whole, serde_json::to_value(session))
    {
        for (name, value) in of_state {
            whole.entry(name).or_insert(value);
        }
    }
    Ok(journal.session_files(&session.id).save(&whole)?)
}
