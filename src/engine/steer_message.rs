//! Sends the user's message to an agent in the middle of its turn, and stores it as a message of its session.
//!
//! How a CLI accepts it is the adapter's task; a message that comes too late is returned by the adapter and sent
//! with the next prompt.

use crate::adapter::AdapterCommand;
use crate::domain::event::Event;
use crate::domain::session::{Message, MessageRole};

use super::agent_conversation::ConversationCommand;
use super::{Engine, EngineError};

impl Engine {
    /// Sends a message to the agent whose turn runs.
    pub(super) fn steer_turn(&mut self, text: String) -> Result<Vec<Event>, EngineError> {
        let Some(order) = self
            .active_turn
            .as_ref()
            .map(|at_work| at_work.order.clone())
        else {
            return Ok(vec![Event::MessageQueued { to: None, text }]);
        };
        let role = order.purpose.role();
        let Some(session) = self.state().session(role) else {
            return Ok(Vec::new());
        };
        let asks = self.conversations.get(&role);
        let way = asks.and_then(|asks| asks.clone().try_reserve_owned().ok());
        // The conversation cannot receive it now, so it is sent with the next prompt.
        let Some(way) = way else {
            let to = Some(role);
            return Ok(vec![Event::MessageQueued { to, text }]);
        };
        let id = session.id.clone();
        let message = Message {
            id: format!("msg_{}", session.n_messages + 1),
            turn: Some(order.turn),
            role: MessageRole::User,
            agent: session.current_profile(),
            synthetic: false,
            ts: self.run.journal.now(),
            text: text.clone(),
        };
        self.run.journal.append_message(&id, &message)?;
        way.send(ConversationCommand::Adapter(AdapterCommand::Steer(text)));
        Ok(vec![Event::MessageAppended {
            role,
            message: Message {
                text: String::new(),
                ..message
            },
        }])
    }
}
