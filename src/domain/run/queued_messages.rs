//! What the user said when no turn could be told: it goes out with the next one, whoever's that is.
//!
//! Refuses to know how an agent is told in the middle of its turn.

use serde::{Deserialize, Serialize};

use super::RunState;
use crate::domain::effect::Effect;
use crate::domain::ids::TurnId;
use crate::domain::turn::Role;

/// Words of the user that wait for the next turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueuedUserMessage {
    /// Whom they were said to, where they came too late for that turn; `None` for whoever is next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Role>,
    /// What, cleaned.
    pub text: String,
    /// The turn that was begun with them, until its prompt went out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sent: Option<TurnId>,
    /// Whom they were told, until a turn of that role is done: a conversation that is lost before takes them with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    told: Option<Role>,
}

impl QueuedUserMessage {
    /// As the next turn is told.
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

impl RunState {
    /// The user's words that the prompt of a turn holds: one that runs those that it was begun with.
    pub fn queued_messages_for(&self, turn: &TurnId) -> impl Iterator<Item = &QueuedUserMessage> {
        let running = self.running.as_ref();
        let runs = running.is_some_and(|running| running.order.turn == *turn);
        let untold = self.kept.iter().filter(|kept| kept.told.is_none());
        untold.filter(move |kept| !runs || kept.sent.as_ref() == Some(turn))
    }
}

pub(super) fn on_message_queued(state: &mut RunState, to: Option<Role>, text: &str) -> Vec<Effect> {
    let text = text.trim();
    if !text.is_empty() && !state.phase.is_final() {
        state.kept.push(QueuedUserMessage {
            to,
            text: text.to_owned(),
            sent: None,
            told: None,
        });
    }
    Vec::new()
}

/// A turn begins: its prompt is written with all that waits.
pub(super) fn assign_to_turn(state: &mut RunState, turn: &TurnId) {
    let waiting = state.kept.iter_mut();
    let waiting = waiting.filter(|kept| kept.told.is_none());
    waiting.for_each(|kept| kept.sent = Some(turn.clone()));
}

/// A turn's prompt went out.
pub(super) fn mark_delivered(state: &mut RunState, turn: &TurnId, role: Role) {
    let with_it = state.kept.iter_mut();
    let with_it = with_it.filter(|kept| kept.sent.as_ref() == Some(turn));
    with_it.for_each(|kept| (kept.sent, kept.told) = (None, Some(role)));
}

/// A turn is done: what its agent was told it has taken in.
pub(super) fn forget_delivered(state: &mut RunState, role: Role) {
    state.kept.retain(|kept| kept.told != Some(role));
}

/// The next turn of a role has a conversation that knows nothing of what the one before was told.
pub(super) fn redeliver(state: &mut RunState, role: Role) {
    let lost = state.kept.iter_mut();
    let lost = lost.filter(|kept| kept.told == Some(role));
    lost.for_each(|kept| kept.told = None);
}
