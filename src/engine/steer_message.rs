//! Sends the user's message to an agent in the middle of its turn, and stores it as a message of its session.
//!
//! How a CLI accepts it is the adapter's task; a message that comes too late is returned by the adapter and sent
//! with the next prompt.

use crate::domain::turn::{TurnOrder, TurnPurpose};

use super::Engine;

impl Engine {
    /// Returns the user's own words that a turn sends: its message, a goal that was not sent yet, and queued
    /// messages.
    pub(super) fn user_messages(&self, order: &TurnOrder) -> Vec<String> {
        let state = self.state();
        let session = state.session(order.purpose.role());
        let is_first = session.is_none_or(|session| session.n_messages == 0);
        let goal = state.goal.as_ref().filter(|_| is_first);
        let said = match &order.purpose {
            TurnPurpose::RefineGoal { said, .. } => Some(said.clone()),
            TurnPurpose::WritePlan => goal.map(|goal| goal.text.clone()),
            _ => None,
        };
        let said = said.filter(|said| !said.trim().is_empty());
        let kept = state
            .queued_messages_for(&order.turn)
            .map(|kept| kept.text.clone());
        said.into_iter().chain(kept).collect()
    }

    /// Returns the user's messages that no turn has sent yet; empty if there are none.
    pub(super) fn describe_queued_messages(&self, order: &TurnOrder) -> String {
        let kept = self.state().queued_messages_for(&order.turn);
        let lines: String = kept
            .map(|kept| format!("{}\n", kept.to_prompt_text()))
            .collect();
        if lines.is_empty() {
            lines
        } else {
            format!("[agent-collab user]\n{lines}[end of user]\n\n")
        }
    }
}
