//! Handles a turn whose document is missing, incomplete or in conflict with an edit of the user.
//!
//! The agent is asked once more, and what came before is kept. A review, and the answers to it, are asked back once each.

use super::{ProgramOperation, RunState, open_questions, phase_entry, turn_start};
use crate::domain::effect::Effect;
use crate::domain::ids::{TurnId, UnixMillis};
use crate::domain::missing_part;
use crate::domain::missing_part::MissingPart;
use crate::domain::question::{MergeConflict, QuestionKind};
use crate::domain::review::ReviewDocument;
use crate::domain::turn::{MissingDocumentReason, TurnOrder, TurnPurpose, TurnRetryReason};

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
    take_collected_turn(state, turn, |_| true);
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
    turn_start::propose_turn(
        state,
        at,
        purpose,
        Some(TurnRetryReason::AskedBack { reason }),
    )
}

/// Removes and returns the turn whose document is being collected, where it is this one and for this purpose.
pub(super) fn take_collected_turn(
    state: &mut RunState,
    turn: &TurnId,
    fits: impl Fn(&TurnPurpose) -> bool,
) -> Option<(TurnOrder, Option<String>)> {
    let taken = state.busy.take_if(|busy| match busy {
        ProgramOperation::Collecting { order, .. } => order.turn == *turn && fits(&order.purpose),
        ProgramOperation::Storing { .. }
        | ProgramOperation::Held { .. }
        | ProgramOperation::Surveying
        | ProgramOperation::Baseline
        | ProgramOperation::Entering
        | ProgramOperation::Moving { .. }
        | ProgramOperation::Stepping { .. }
        | ProgramOperation::Reversing { .. } => false,
    })?;
    match taken {
        ProgramOperation::Collecting { order, question } => Some((order, question)),
        ProgramOperation::Storing { .. }
        | ProgramOperation::Held { .. }
        | ProgramOperation::Surveying
        | ProgramOperation::Baseline
        | ProgramOperation::Entering
        | ProgramOperation::Moving { .. }
        | ProgramOperation::Stepping { .. }
        | ProgramOperation::Reversing { .. } => None,
    }
}

pub(super) fn on_no_document(
    state: &mut RunState,
    at: UnixMillis,
    turn: &TurnId,
    reason: &MissingDocumentReason,
) -> Vec<Effect> {
    let Some((order, question)) = take_collected_turn(state, turn, |_| true) else {
        return Vec::new();
    };
    let reason = reason.to_owned();
    if let Some(answer) = state.plan_stays.take_if(|_| question.is_none()) {
        return turn_start::propose_turn(
            state,
            at,
            order.purpose,
            Some(TurnRetryReason::Answered { answer }),
        );
    }
    // The earlier answers are stored, and the turn added none of the missing ones.
    let goes_on = order.purpose == TurnPurpose::Respond && state.asked_back.has_partial_answers();
    if goes_on && question.is_none() {
        return phase_entry::on_findings_answered(state, at);
    }
    if question.is_some()
        && let Some(answered) = turn_start::take_background_results(state, &order.purpose)
    {
        return turn_start::propose_turn(state, at, order.purpose, Some(answered));
    }
    match (question, &order.again) {
        (Some(text), _) => {
            open_questions::ask_user(state, QuestionKind::from_last_text(text, order.purpose))
        }
        (None, Some(TurnRetryReason::NoDocument { .. })) => open_questions::ask_user(
            state,
            QuestionKind::NoDocument {
                purpose: order.purpose,
                reason,
            },
        ),
        (
            None,
            None
            | Some(
                TurnRetryReason::AskedBack { .. }
                | TurnRetryReason::Answered { .. }
                | TurnRetryReason::Failed
                | TurnRetryReason::StepTried
                | TurnRetryReason::Undone { .. },
            ),
        ) => turn_start::propose_turn(
            state,
            at,
            order.purpose,
            Some(TurnRetryReason::NoDocument { reason }),
        ),
    }
}

/// Keeps the turn's document aside until the user decides whose text counts.
pub(super) fn on_document_conflict(
    state: &mut RunState,
    turn: &TurnId,
    document: &str,
    clash: Option<&MergeConflict>,
) -> Vec<Effect> {
    let collecting = match &state.busy {
        Some(ProgramOperation::Collecting { order, .. }) if order.turn == *turn => {
            order.purpose.clone()
        }
        _ => return Vec::new(),
    };
    open_questions::ask_user(
        state,
        QuestionKind::Conflict {
            document: document.to_owned(),
            purpose: collecting,
            clash: clash.cloned(),
        },
    )
}
