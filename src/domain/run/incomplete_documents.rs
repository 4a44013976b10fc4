//! Asks once more for the missing parts of a document, and keeps what came before.
//!
//! A review, and the answers to it, are asked back once each.

use super::{ProgramOperation, RunState, goal_and_plan, turn_lifecycle};
use crate::domain::effect::Effect;
use crate::domain::findings::review_facts::ReviewFacts;
use crate::domain::findings::{FindingLedger, FindingResponse};
use crate::domain::ids::{TurnId, UnixMillis};
use crate::domain::missing_part::{self, MissingPart};
use crate::domain::review::ReviewDocument;
use crate::domain::turn::{TurnPurpose, TurnRetryReason};

impl RunState {
    /// Returns what the reviewer is asked for before this review counts; empty where it was asked before.
    pub fn missing_in_review(
        &self,
        review: &ReviewDocument,
        facts: &ReviewFacts,
    ) -> Vec<MissingPart> {
        let lacks =
            missing_part::missing_parts_of_review(review, facts, &self.findings, self.iteration);
        missing_part::unrequested_parts(&lacks, &self.asked_back)
    }

    /// Returns the same for answers; `answered` is the ledger that already contains them.
    pub fn missing_in_answers(
        &self,
        answered: &FindingLedger,
        responses: &[FindingResponse],
    ) -> Vec<MissingPart> {
        missing_part::unrequested_parts(
            &missing_part::missing_parts_of_answers(answered, responses),
            &self.asked_back,
        )
    }
}

/// Asks the agent for the missing parts; its document does not count yet.
pub(super) fn on_document_incomplete(
    state: &mut RunState,
    at: UnixMillis,
    turn: &TurnId,
    lacks: &[MissingPart],
    review: Option<&ReviewDocument>,
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
    state.asked_back.extend(lacks);
    turn_lifecycle::propose_turn(
        state,
        at,
        purpose,
        Some(TurnRetryReason::AskedBack { reason }),
    )
}

/// Returns whether some of the planner's answers to the review are stored, and it was asked for the others.
pub(super) fn has_partial_answers(state: &RunState) -> bool {
    let mut asked = state.asked_back.iter();
    asked.any(|lack| {
        matches!(
            lack,
            MissingPart::Answers { .. }
                | MissingPart::PlanChange { .. }
                | MissingPart::Reasons { .. }
        )
    })
}
