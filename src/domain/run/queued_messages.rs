//! Queues the user's messages that no turn could receive: they go out with the next one of any role.

use serde::{Deserialize, Serialize};

use super::RunningTurn;
use crate::domain::ids::TurnId;
use crate::domain::turn::Role;

/// A message of the user that waits for the next turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueuedUserMessage {
    /// The role it was meant for, where it came too late for that turn; `None` for any role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Role>,
    /// The message, cleaned.
    pub text: String,
    /// The turn that was started with it, until its prompt went out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sent: Option<TurnId>,
    /// The role that received it, until a turn of that role is done: if its conversation is lost before that, the
    /// message is sent again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    told: Option<Role>,
}

impl QueuedUserMessage {
    /// Returns the text for the next turn's prompt.
    pub fn to_prompt_text(&self) -> String {
        match self.to {
            Some(to) => format!(
                "The user said this to the {}, too late for its turn: {}",
                to.name(),
                self.text
            ),
            None => format!("The user says: {}", self.text),
        }
    }
}

/// The user's messages that no turn could receive, in the order in which they came.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct QueuedMessages {
    pub(super) messages: Vec<QueuedUserMessage>,
}

impl QueuedMessages {
    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Returns those in the prompt of a turn; for the running turn, those it was started with.
    pub fn for_turn(
        &self,
        turn: &TurnId,
        running: Option<&RunningTurn>,
    ) -> impl Iterator<Item = &QueuedUserMessage> {
        let runs = running.is_some_and(|running| running.order.turn == *turn);
        let untold = self.messages.iter().filter(|kept| kept.told.is_none());
        untold.filter(move |kept| !runs || kept.sent.as_ref() == Some(turn))
    }

    pub(super) fn push(&mut self, to: Option<Role>, text: &str) {
        self.messages.push(QueuedUserMessage {
            to,
            text: text.to_owned(),
            sent: None,
            told: None,
        });
    }

    /// Assigns all waiting messages to a turn that starts.
    pub(super) fn assign_to_turn(&mut self, turn: &TurnId) {
        let waiting = self.messages.iter_mut();
        let waiting = waiting.filter(|kept| kept.told.is_none());
        waiting.for_each(|kept| kept.sent = Some(turn.clone()));
    }

    /// Marks the messages of a turn as delivered, because its prompt went out.
    pub(super) fn mark_delivered(&mut self, turn: &TurnId, role: Role) {
        let with_it = self.messages.iter_mut();
        let with_it = with_it.filter(|kept| kept.sent.as_ref() == Some(turn));
        with_it.for_each(|kept| (kept.sent, kept.told) = (None, Some(role)));
    }

    /// Forgets delivered messages once a turn is done: its agent has read them.
    pub(super) fn forget_delivered(&mut self, role: Role) {
        self.messages.retain(|kept| kept.told != Some(role));
    }

    /// Queues delivered messages again, because the role's next turn has a new conversation that does not know them.
    pub(super) fn redeliver(&mut self, role: Role) {
        let lost = self.messages.iter_mut();
        let lost = lost.filter(|kept| kept.told == Some(role));
        lost.for_each(|kept| kept.told = None);
    }
}
