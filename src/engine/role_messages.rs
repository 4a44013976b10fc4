//! Appends messages to the session of a role: the words go into its file, the event says the rest.

use super::engine_error::EngineError;
use super::run_context::RunContext;
use crate::domain::event::Event;
use crate::domain::session::{Message, MessageRole};
use crate::domain::turn::TurnOrder;
use crate::text::clean_text;

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
