//! Continues with the result of a finished turn.

use super::{
    ProgramOperation, RunState, RunningTurn, open_questions, phase_entry, step_execution,
    step_sequence, turn_start, usage_limits,
};
use crate::domain::effect::Effect;
use crate::domain::ids::UnixMillis;
use crate::domain::phase::Gate;
use crate::domain::question::QuestionKind;
use crate::domain::turn::{TurnOrder, TurnOutcome, TurnPurpose, TurnRetryReason};

/// How often a turn that failed for a transient reason is retried automatically.
const MAX_RETRIES: u32 = 1;

/// Continues with a finished turn.
pub(super) fn continue_after_turn(
    state: &mut RunState,
    at: UnixMillis,
    running: RunningTurn,
    result: &TurnOutcome,
) -> Vec<Effect> {
    if let TurnPurpose::Step { n } | TurnPurpose::Fix { n, .. } = running.order.purpose
        && step_sequence::is_skipped(state, n)
    {
        return step_sequence::end_skipped_step(state, n);
    }
    match result {
        TurnOutcome::Completed { question, .. } => {
            (state.failures, state.blind_waits) = (0, 0);
            if !running.order.purpose.is_isolated() {
                state.kept.forget_delivered(running.order.purpose.role());
            }
            on_turn_completed(state, at, running.order, question.clone(), result)
        }
        // A run also finishes without its summary.
        TurnOutcome::Interrupted if running.order.purpose == TurnPurpose::Summary => {
            phase_entry::finish_run(state)
        }
        TurnOutcome::Interrupted => on_turn_interrupted(state, running.order),
        TurnOutcome::Failed { .. } if running.order.purpose == TurnPurpose::Summary => {
            on_summary_failed(state, result)
        }
        TurnOutcome::Failed {
            message,
            limit: Some(limit),
            other,
            ..
        } => usage_limits::wait_for_limit(
            state,
            at,
            running.order.purpose,
            message,
            *limit,
            other.clone(),
        ),
        TurnOutcome::Failed { .. } => on_turn_failed(state, at, running.order, result),
    }
}

fn on_turn_completed(
    state: &mut RunState,
    at: UnixMillis,
    order: TurnOrder,
    question: Option<String>,
    result: &TurnOutcome,
) -> Vec<Effect> {
    match order.purpose {
        TurnPurpose::RefineGoal { .. } => Vec::new(),
        TurnPurpose::WritePlan
        | TurnPurpose::Review
        | TurnPurpose::Respond
        | TurnPurpose::Judge => {
            state.busy = Some(ProgramOperation::Collecting {
                order: order.clone(),
                question,
            });
            vec![Effect::CollectDocument(order)]
        }
        TurnPurpose::Step { n } | TurnPurpose::Fix { n, .. } => {
            step_execution::on_step_turn_completed(state, at, n, order.again.as_ref(), result)
        }
        TurnPurpose::Summary => phase_entry::finish_run(state),
    }
}

/// Lets an interrupted turn wait for the user, whatever the gate was.
fn on_turn_interrupted(state: &mut RunState, order: TurnOrder) -> Vec<Effect> {
    state.gate = Gate::Manual;
    let order = turn_start::new_turn_order(state, order.purpose, Some(TurnRetryReason::Failed));
    open_questions::ask_user(state, QuestionKind::Gate { order })
}

fn on_summary_failed(state: &mut RunState, result: &TurnOutcome) -> Vec<Effect> {
    let mut effects = Vec::new();
    if let TurnOutcome::Failed { kind, message, .. } = result {
        effects.push(Effect::AppendLog(format!(
            "The summary failed ({kind}): {message}"
        )));
    }
    effects.extend(phase_entry::finish_run(state));
    effects
}

fn on_turn_failed(
    state: &mut RunState,
    at: UnixMillis,
    order: TurnOrder,
    result: &TurnOutcome,
) -> Vec<Effect> {
    let TurnOutcome::Failed {
        kind,
        message,
        transient,
        other,
        ..
    } = result
    else {
        return Vec::new();
    };
    let retry = *transient && state.failures < MAX_RETRIES;
    state.failures += 1;
    if retry {
        return turn_start::propose_turn(state, at, order.purpose, Some(TurnRetryReason::Failed));
    }
    let (kind, message, other) = (kind.clone(), message.clone(), other.clone());
    open_questions::ask_user(
        state,
        QuestionKind::AdapterFailed {
            purpose: order.purpose,
            kind,
            message,
            other,
        },
    )
}
