//! Handles what the user decides about a step that is not finished: amend it, plan it again, skip it, or try again
//! (TRUTH.md T20).

use super::current_step::current_at_stage;
use super::{ProgramOperation, RunState, open_questions, plan_reentry, step_sequence};
use crate::domain::effect::Effect;
use crate::domain::ids::UnixMillis;
use crate::domain::plan_execution::{StepOverride, StepSkip, StepStage};
use crate::domain::question::{QuestionAnswer, QuestionKind};
use crate::domain::turn::TurnRetryReason;
use crate::text::clean_to_one_line;

/// Handles answers about a step that changed nothing, or whose agent is blocked.
pub(super) fn on_unfinished_step_answered(
    state: &mut RunState,
    at: UnixMillis,
    step: u32,
    answer: &QuestionAnswer,
) -> Vec<Effect> {
    let is_gone = state.unfinished_step_blocker(step).is_some();
    let Some(current) = current_at_stage(state, step, &[StepStage::Audit]) else {
        return Vec::new();
    };
    match answer {
        // The user has changed the plan so much that the step is no longer in it: the change comes first.
        QuestionAnswer::SkipStep { .. } | QuestionAnswer::ReplanStep { .. } if is_gone => {
            step_sequence::propose_next_step(state, at, None)
        }
        QuestionAnswer::AlreadyTrue => {
            current.decided = Some(StepOverride::AlreadyTrue);
            let outcome = step_sequence::unfinished_outcome(
                &current.changed,
                "its agent says that it is blocked",
            );
            step_sequence::record_step(state, outcome)
        }
        QuestionAnswer::SkipStep { reason } => on_step_skipped(state, step, reason),
        QuestionAnswer::ReplanStep { text } => {
            plan_reentry::on_plan_entered(state, at, text, Some(step))
        }
        QuestionAnswer::AmendStep { text } => {
            state.busy = Some(ProgramOperation::Stepping { question: None });
            let text = text.clone();
            vec![Effect::AmendStep { step, text }]
        }
        // The user may have changed the step in the meantime.
        _ => step_sequence::propose_next_step(state, at, Some(TurnRetryReason::StepTried)),
    }
}

/// Tries a step again whose text in the plan is amended.
pub(super) fn on_step_amended(state: &mut RunState, at: UnixMillis, step: u32) -> Vec<Effect> {
    let is_current = current_at_stage(state, step, &[StepStage::Audit]).is_some();
    let amends = |busy: &mut ProgramOperation| matches!(busy, ProgramOperation::Stepping { .. });
    if !is_current || state.busy.take_if(amends).is_none() {
        return Vec::new();
    }
    step_sequence::propose_next_step(state, at, Some(TurnRetryReason::StepTried))
}

/// Skips a step: at once where it waits for the user, otherwise when its turn has ended or begins.
pub(super) fn on_step_skipped(state: &mut RunState, step: u32, reason: &str) -> Vec<Effect> {
    if state.skip_blocker(step).is_some() {
        return Vec::new();
    }
    let planned = state.planned_step(step).map(|known| known.text.clone());
    let Some(execution) = &mut state.execution else {
        return Vec::new();
    };
    // The current step keeps the text with which it began, also where the user has edited the plan since.
    let current = execution.current.as_ref();
    let current = current.filter(|current| current.n == step);
    let is_current = current.is_some();
    let text = current.map(|current| current.text.clone()).or(planned);
    let text = text.unwrap_or_default();
    let reason = clean_to_one_line(reason);
    execution.skips.insert(step, StepSkip { text, reason });
    if !is_current || state.running.is_some() {
        return Vec::new();
    }
    open_questions::drop_workflow_questions(state);
    step_sequence::end_skipped_step(state, step)
}

/// Asks the user about a step without changes: it is never done just because nothing happened.
///
/// `found` is why the program does not see that it was done before; empty where it did not look.
pub(super) fn ask_about_no_change(state: &mut RunState, step: u32, found: String) -> Vec<Effect> {
    let current = state.current_step();
    let said = current.map_or(String::new(), |current| {
        let stated = current.result.as_ref().map(|result| &result.text);
        let stated = stated.filter(|text| !text.is_empty());
        stated.unwrap_or(&current.summary).clone()
    });
    open_questions::ask_user(state, QuestionKind::NothingChanged { step, said, found })
}
