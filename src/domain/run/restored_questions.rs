//! Asks again what waited for the user before the program's end or an undo.

use super::{RunState, approval_checks, open_questions, phase_entry, turn_start, usage_limits};
use crate::domain::effect::Effect;
use crate::domain::ids::UnixMillis;
use crate::domain::question::{Question, QuestionKind};
use crate::domain::turn::{TurnPurpose, TurnRetryReason};

pub(super) fn ask_question_again(
    state: &mut RunState,
    at: UnixMillis,
    question: Question,
) -> Vec<Effect> {
    match question.kind {
        QuestionKind::Gate { order } => {
            turn_start::propose_turn(state, at, order.purpose, order.again)
        }
        // The collected document was lost with the program, so its turn is repeated.
        QuestionKind::Conflict { purpose, .. } => recover_work(state, at, purpose),
        QuestionKind::UsageLimit { .. } => {
            usage_limits::keep_waiting(state, question.kind, state.gate)
        }
        // What changed may have been restored since.
        QuestionKind::ApprovalChanged {
            order: Some(order), ..
        } => turn_start::propose_turn(state, at, order.purpose, order.again),
        QuestionKind::ApprovalChanged { step, .. } => {
            approval_checks::check_again(state, step, None)
        }
        // The terms that the user would approve may have changed since.
        QuestionKind::Execute { .. } | QuestionKind::CannotExecute { .. } => {
            phase_entry::survey_repository(state)
        }
        kind => open_questions::ask_user(state, kind),
    }
}

/// Recovers from a cut-off turn, or from the program's own work on it that was cut off.
pub(super) fn recover_work(
    state: &mut RunState,
    at: UnixMillis,
    purpose: TurnPurpose,
) -> Vec<Effect> {
    match &purpose {
        TurnPurpose::Step { .. } | TurnPurpose::Fix { .. } => ask_about_step_recovery(state),
        TurnPurpose::RefineGoal { .. }
        | TurnPurpose::WritePlan
        | TurnPurpose::Review
        | TurnPurpose::Respond
        | TurnPurpose::Judge
        | TurnPurpose::Summary => {
            turn_start::propose_turn(state, at, purpose, Some(TurnRetryReason::Failed))
        }
    }
}

pub(super) fn ask_about_step_recovery(state: &mut RunState) -> Vec<Effect> {
    let current = state
        .execution
        .as_ref()
        .and_then(|execution| execution.current.as_ref());
    let Some((step, stage)) = current.map(|current| (current.n, current.stage)) else {
        return Vec::new();
    };
    open_questions::ask_user(state, QuestionKind::StepRecovery { step, stage })
}
