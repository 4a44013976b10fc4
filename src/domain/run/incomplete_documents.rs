//! A document that lacks something is asked for once more; what came before is kept.
//!
//! Refuses to ask for the same twice in one review or answer.

use super::{ProgramOperation, RunState, goal_and_plan, turn_lifecycle};
use crate::domain::effect::Effect;
use crate::domain::findings::FindingLedger;
use crate::domain::ids::{TurnId, UnixMillis};
use crate::domain::missing_part::{self, MissingPart};
use crate::domain::review::ReviewDocument;
use crate::domain::turn::{TurnPurpose, TurnRetryReason};

impl RunState {
    /// What the reviewer is asked for before this review counts; nothing where it was asked for that before.
    pub fn missing_in_review(&self, review: &ReviewDocument) -> Vec<MissingPart> {
        let lacks = missing_part::missing_parts_of_review(review, &self.findings);
        missing_part::unrequested_parts(&lacks, &self.asked_back)
    }

    /// The same of answers, under the ledger that has taken them in.
    pub fn missing_in_answers(&self, answered: &FindingLedger) -> Vec<MissingPart> {
        missing_part::unrequested_parts(
            &missing_part::missing_parts_of_answers(answered),
            &self.asked_back,
        )
    }
}

/// The document of a turn does not count yet; its agent is asked for what it lacks.
pub(super) fn on_document_incomplete(
    state: &mut RunState,
    at: UnixMillis,
    turn: &TurnId,
    lacks: &[MissingPart],
) -> Vec<Effect> {
    let lacks = missing_part::unrequested_parts(lacks, &state.asked_back);
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
    request_missing_parts(state, at, collecting, lacks)
}

/// Asks the agent of a turn for what its document lacks.
pub(super) fn request_missing_parts(
    state: &mut RunState,
    at: UnixMillis,
    purpose: TurnPurpose,
    lacks: Vec<MissingPart>,
) -> Vec<Effect> {
    let reason = missing_part::describe_missing_parts(&lacks);
    state.asked_back.extend(lacks);
    turn_lifecycle::propose_turn(
        state,
        at,
        purpose,
        Some(TurnRetryReason::AskedBack { reason }),
    )
}

/// Tells whether the planner's answers to the review are kept, and it was asked for the others.
pub(super) fn has_partial_answers(state: &RunState) -> bool {
    let mut asked = state.asked_back.iter();
    asked.any(|lack| matches!(lack, MissingPart::Answers { .. }))
}
