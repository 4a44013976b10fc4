//! Collects the user's own messages that a turn sends.

use crate::domain::run::RunState;
use crate::domain::turn::{TurnOrder, TurnPurpose};

/// Returns the user's own words that a turn sends: its message, a goal that was not sent yet, and queued messages.
pub(in crate::engine) fn user_messages(state: &RunState, order: &TurnOrder) -> Vec<String> {
    let session = state.session(order.purpose.role());
    let is_first = session.is_none_or(|session| session.n_messages == 0);
    let goal = state.goal.as_ref().filter(|_| is_first);
    let message = match &order.purpose {
        TurnPurpose::RefineGoal { said, .. } => Some(said.clone()),
        TurnPurpose::WritePlan => goal.map(|goal| goal.text.clone()),
        _ => None,
    };
    let message = message.filter(|message| !message.trim().is_empty());
    let queued = state.kept.for_turn(&order.turn, state.running.as_ref());
    let queued = queued.map(|queued| queued.text.clone());
    message.into_iter().chain(queued).collect()
}

/// Returns the user's messages that no turn has sent yet; empty if there are none.
pub(super) fn describe_queued_messages(state: &RunState, order: &TurnOrder) -> String {
    let queued = state.kept.for_turn(&order.turn, state.running.as_ref());
    let lines: String = queued
        .map(|queued| format!("{}\n", queued.to_prompt_text()))
        .collect();
    if lines.is_empty() {
        lines
    } else {
        format!("[agent-collab user]\n{lines}[end of user]\n\n")
    }
}
