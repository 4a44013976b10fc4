//! Writes the files of a role's session: its messages, and `session.json` with the same facts as a child's.
//!
//! The run never reads it back: the run's own record says what a session is.

use serde_json::{Value, json};

use super::engine_error::EngineError;
use crate::domain::event::Event;
use crate::domain::session::{Message, MessageRole, Session};
use crate::domain::turn::{Role, TurnOrder};
use crate::store::session_files;
use crate::text::clean_text;

use super::run_context::RunContext;
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

/// The writer of a message in a role's session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MessageWriter {
    Agent,
    /// The program, in the user's place.
    Program,
    /// The user; the same words are also in the program's message that follows.
    User,
}

/// Appends a message to the session of the turn's role; the event contains everything but the text.
///
/// # Errors
/// Writing the record of the run failed.
pub(super) fn append_message(
    run: &mut RunContext,
    writer: MessageWriter,
    order: &TurnOrder,
    text: &str,
) -> Result<(), EngineError> {
    let role = order.purpose.role();
    let Some(session) = run.state().session(role) else {
        return Ok(());
    };
    let id = session.id.clone();
    let message = Message {
        id: format!("msg_{}", session.n_messages + 1),
        turn: Some(order.turn.clone()),
        role: match writer {
            MessageWriter::Agent => MessageRole::Assistant,
            MessageWriter::Program | MessageWriter::User => MessageRole::User,
        },
        agent: order.purpose.profile(),
        synthetic: writer == MessageWriter::Program,
        ts: run.journal.now(),
        text: clean_text(text),
    };
    run.journal.append_message(&id, &message)?;
    run.record(Event::MessageAppended {
        role,
        message: Message {
            text: String::new(),
            ..message
        },
    })
}
