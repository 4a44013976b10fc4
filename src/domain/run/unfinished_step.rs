//! Handles what the user decides about a step that is not finished: amend it, plan it again, skip it, or try again
//! (TRUTH.md T20).

use super::{RunState, plan_reentry, step_execution};
use crate::domain::effect::Effect;
use crate::domain::ids::UnixMillis;
use crate::domain::phase::Phase;
use crate::domain::plan_execution::{StepOutcome, StepOverride, StepStage};
use crate::domain::question::QuestionAnswer;
use crate::domain::run::ProgramOperation;
use crate::domain::turn::TurnRetryReason;

impl RunState {
    /// Returns why a step cannot be skipped or planned again now; `None` where it can.
    pub fn unfinished_step_blocker(&self, step: u32) -> Option<String> {
        let Some(execution) = self
            .execution
            .as_ref()
            .filter(|_| self.phase == Phase::Execute)
        else {
            return Some("no plan is being executed".to_owned());
        };
        let steps = self.plan.iter().flat_map(|file| &file.plan.steps);
        if steps.clone().all(|known| known.n != step) {
            return Some(format!("the plan has no step {step}"));
        }
        if execution.done.iter().any(|record| record.n == step) {
            return Some(format!("step {step} has ended; /undo {step} takes it back"));
        }
        let is_current = execution
            .current
            .as_ref()
            .is_some_and(|current| current.n == step);
        let is_worked_on = is_current && self.busy.is_some();
        is_worked_on.then(|| format!("step {step} is being checked; try again in a moment"))
    }
}

/// Handles answers about a step that changed nothing, or whose agent is blocked.
pub(super) fn on_unfinished_step_answered(
    state: &mut RunState,
    at: UnixMillis,
    step: u32,
    answer: &QuestionAnswer,
) -> Vec<Effect> {
    let Some(current) = step_execution::current_at_stage(state, step, &[StepStage::Audit]) else {
        return Vec::new();
    };
    match answer {
        QuestionAnswer::AlreadyTrue => {
            current.decided = Some(StepOverride::AlreadyTrue);
            let outcome = unfinished_outcome(&current.changed, "its agent says that it is blocked");
            step_execution::record_step(state, outcome)
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
        _ => step_execution::propose_next_step(state, at, Some(TurnRetryReason::StepTried)),
    }
}

/// Tries a step again whose text in the plan is amended.
pub(super) fn on_step_amended(state: &mut RunState, at: UnixMillis, step: u32) -> Vec<Effect> {
    let is_current = step_execution::current_at_stage(state, step, &[StepStage::Audit]).is_some();
    let amends = |busy: &mut ProgramOperation| matches!(busy, ProgramOperation::Stepping { .. });
    if !is_current || state.busy.take_if(amends).is_none() {
        return Vec::new();
    }
    step_execution::propose_next_step(state, at, Some(TurnRetryReason::StepTried))
}

/// Skips a step: at once where it waits for the user, otherwise when its turn has ended or begins.
pub(super) fn on_step_skipped(state: &mut RunState, step: u32, reason: &str) -> Vec<Effect> {
    if state.unfinished_step_blocker(step).is_some() {
        return Vec::new();
    }
    let Some(execution) = &mut state.execution else {
        return Vec::new();
    };
    execution.skips.insert(step, reason.to_owned());
    let is_current = execution
        .current
        .as_ref()
        .is_some_and(|current| current.n == step);
    if !is_current || state.running.is_some() {
        return Vec::new();
    }
    state.awaiting = None;
    record_skipped_step(state)
}

/// Returns whether the user skips this step, whose turn has just ended.
pub(super) fn is_skipped(state: &RunState, step: u32) -> bool {
    let execution = state.execution.as_ref();
    execution.is_some_and(|execution| execution.skips.contains_key(&step))
}

/// Records the current step as skipped.
pub(super) fn record_skipped_step(state: &mut RunState) -> Vec<Effect> {
    let Some(current) = state.execution.as_mut().and_then(|e| e.current.as_mut()) else {
        return Vec::new();
    };
    current.decided = Some(StepOverride::Skipped);
    let outcome = unfinished_outcome(&current.changed, "the user skipped it");
    step_execution::record_step(state, outcome)
}

fn unfinished_outcome(changed: &[String], reason: &str) -> StepOutcome {
    if changed.is_empty() {
        StepOutcome::NoChange
    } else {
        let reason = reason.to_owned();
        StepOutcome::Uncommitted { reason }
    }
}
