//! Handles what the user decides about a step that is not finished: amend it, plan it again, skip it, or try again
//! (TRUTH.md T20).

use super::{
    RunState, agent_questions, deferred_answers, plan_reentry, step_commit, step_execution,
    step_undo,
};
use crate::domain::effect::Effect;
use crate::domain::ids::UnixMillis;
use crate::domain::phase::Phase;
use crate::domain::plan_execution::{CurrentStep, StepOutcome, StepOverride, StepSkip, StepStage};
use crate::domain::question::{QuestionAnswer, QuestionKind};
use crate::domain::run::ProgramOperation;
use crate::domain::turn::TurnRetryReason;
use crate::text::clean_to_one_line;

impl RunState {
    /// Returns why a step cannot be skipped now; `None` where it can.
    pub fn skip_blocker(&self, step: u32) -> Option<String> {
        let is_worked_on = self.current_step_number() == Some(step) && self.busy.is_some();
        self.unfinished_step_blocker(step)
            .or_else(|| is_worked_on.then(|| BUSY.to_owned()))
    }

    /// Returns why a step cannot be planned again now; `None` where it can.
    pub fn replan_blocker(&self, step: u32) -> Option<String> {
        // A turn that has not started can be left; everything else that the program does must end first.
        let is_busy = match &self.busy {
            None | Some(ProgramOperation::Held { .. } | ProgramOperation::Storing { .. }) => false,
            Some(_) => true,
        };
        self.unfinished_step_blocker(step)
            .or_else(|| is_busy.then(|| BUSY.to_owned()))
    }

    fn unfinished_step_blocker(&self, step: u32) -> Option<String> {
        let executes = self.phase == Phase::Execute;
        let Some(execution) = self.execution.as_ref().filter(|_| executes) else {
            return Some("no plan is being executed".to_owned());
        };
        if self.planned_step(step).is_none() {
            return Some(format!("the plan has no step {step}"));
        }
        if execution.done.iter().any(|record| record.n == step) {
            return Some(format!("step {step} has ended; /undo {step} takes it back"));
        }
        let kind = self.awaiting.as_ref().map(|question| &question.kind);
        match kind {
            Some(QuestionKind::StepRecovery { step, .. }) => Some(format!(
                "step {step} was cut off when the program exited: answer that first"
            )),
            _ => None,
        }
    }
}

/// The reason while the program works.
const BUSY: &str = "the program is working on a step: wait for the next question or turn";

/// Handles answers about a step that changed nothing, or whose agent is blocked.
pub(super) fn on_unfinished_step_answered(
    state: &mut RunState,
    at: UnixMillis,
    step: u32,
    answer: &QuestionAnswer,
) -> Vec<Effect> {
    let is_gone = state.unfinished_step_blocker(step).is_some();
    let Some(current) = step_execution::current_at_stage(state, step, &[StepStage::Audit]) else {
        return Vec::new();
    };
    match answer {
        // The user has changed the plan so much that the step is no longer in it: the change comes first.
        QuestionAnswer::SkipStep { .. } | QuestionAnswer::ReplanStep { .. } if is_gone => {
            step_execution::propose_next_step(state, at, None)
        }
        QuestionAnswer::AlreadyTrue => {
            current.decided = Some(StepOverride::AlreadyTrue);
            let outcome = unfinished_outcome(&current.changed, "its agent says that it is blocked");
            step_commit::record_step(state, outcome)
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
    state.awaiting = None;
    agent_questions::take_turn_questions(state);
    deferred_answers::forget_deferred(state);
    end_skipped_step(state, step)
}

/// Returns whether this is the current step and the user skips it.
pub(super) fn is_skipped(state: &RunState, step: u32) -> bool {
    let execution = state.execution.as_ref();
    execution.is_some_and(|execution| {
        let current = execution.current.as_ref();
        let current = current.filter(|current| current.n == step);
        current.is_some_and(|current| execution.is_skip_requested(step, &current.text))
    })
}

/// Ends a skipped step. If it had begun, the program first finds out what it changed.
pub(super) fn end_skipped_step(state: &mut RunState, step: u32) -> Vec<Effect> {
    let current = state.current_step();
    // At a question about what was found, the program has already looked.
    let is_unseen =
        |current: &CurrentStep| current.tree_before.is_some() && current.stage != StepStage::Audit;
    if current.is_some_and(is_unseen) {
        return step_execution::audit_again(state, step);
    }
    record_skipped_step(state)
}

/// Records the current step as skipped. What it changed counts as the user's from here on, so that no later step takes
/// it into its commit unasked.
pub(super) fn record_skipped_step(state: &mut RunState) -> Vec<Effect> {
    step_undo::clear_redo(state);
    let Some(execution) = &mut state.execution else {
        return Vec::new();
    };
    let Some(current) = &mut execution.current else {
        return Vec::new();
    };
    current.decided = Some(StepOverride::Skipped);
    let changed = current.changed.clone();
    let outcome = unfinished_outcome(&changed, "the user skipped it");
    let effects = step_commit::record_step(state, outcome);
    if let Some(execution) = &mut state.execution {
        execution.pre_dirty.extend(changed);
    }
    effects
}

fn unfinished_outcome(changed: &[String], reason: &str) -> StepOutcome {
    if changed.is_empty() {
        StepOutcome::NoChange
    } else {
        let reason = reason.to_owned();
        StepOutcome::Uncommitted { reason }
    }
}
