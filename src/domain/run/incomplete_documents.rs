//! Asks once more for the missing parts of a document, and keeps what came before.
//!
//! A review, and the answers to it, are asked back once each.

use super::{ProgramOperation, RunState, goal_and_plan, turn_lifecycle};
use crate::domain::effect::Effect;
use crate::domain::ids::{TurnId, UnixMillis};
use crate::domain::missing_part::{self, MissingPart};
use crate::domain::review::ReviewDocument;
use crate::domain::turn::{TurnPurpose, TurnRetryReason};

/// Asks the agent for the missing parts; its document does not count yet.
pub(super) fn on_document_incomplete(
    state: &mut RunState,
    at: UnixMillis,
    turn: &TurnId,
    lacks: &[MissingPart],
    review: Option<&ReviewDocument>,
) -> Vec<Effect> {
    let lacks = state.asked_back.unrequested_parts(lacks);
    let collecting = match &state.busy {
        Some(ProgramOperation::Collecting { order, .. }) if order.turn == *turn => {
            order.purpose.clone()
        }
        _ => return Vec::new(),
    };
    if lacks.is_empty() || collecting != TurnPurpose::Review {
        return Vec::new();
    }
    goal_and_plan::take_collected_turn(state, turn, |_| true);
    state.asked_back_review = review.cloned().map(Box::new);
    request_missing_parts(state, at, collecting, lacks)
}

/// Asks the agent of a turn for the missing parts of its document.
pub(super) fn request_missing_parts(
    state: &mut RunState,
    at: UnixMillis,
    purpose: TurnPurpose,
    lacks: Vec<MissingPart>,
) -> Vec<Effect> {
    let reason = missing_part::describe_missing_parts(&lacks);
    state.asked_back.add(lacks);
    turn_lifecycle::propose_turn(
        state,
        at,
        purpose,
        Some(TurnRetryReason::AskedBack { reason }),
    )
}
