//! Leads from one step to the next: records how a step ended, and proposes the first one that is not finished.

use super::current_step::{
    audit_again, clear_redo, current_at_stage, enter_stage, new_current_step, take_step_busy,
};
use super::{RunState, approval_validity, turn_start};
use crate::domain::effect::Effect;
use crate::domain::ids::{Sha256, UnixMillis};
use crate::domain::plan_execution::{
    CurrentStep, StepOutcome, StepOverride, StepRecord, StepStage,
};
use crate::domain::turn::{TurnPurpose, TurnRetryReason};

/// Proposes the first step that is not finished, or the summary.
pub(super) fn propose_next_step(
    state: &mut RunState,
    at: UnixMillis,
    again: Option<TurnRetryReason>,
) -> Vec<Effect> {
    if let Some(effects) = approval_validity::check_approval_before_step(state) {
        return effects;
    }
    let (Some(plan), Some(execution)) = (&state.plan, &mut state.execution) else {
        return Vec::new();
    };
    let is_through = |n: u32| execution.done.iter().any(|record| record.n == n);
    let next = plan
        .plan
        .steps
        .iter()
        // Only the program's own records count; a box that was ticked otherwise does not.
        .find(|step| !is_through(step.n));
    let Some(step) = next else {
        execution.current = None;
        return turn_start::propose_turn(state, at, TurnPurpose::Summary, None);
    };
    let n = step.n;
    let is_skipped = execution.is_skip_requested(n, &step.text);
    // A step that was already started keeps the tree from before it, so that all its changes stay its own.
    let started = execution.current.take_if(|current| current.n == n);
    let started = started.unwrap_or_else(|| new_current_step(n));
    execution.current = Some(CurrentStep {
        text: step.text.clone(),
        stage: StepStage::Code,
        ..started
    });
    if is_skipped {
        return record_skipped_step(state);
    }
    turn_start::propose_turn(state, at, TurnPurpose::Step { n }, again)
}

/// Stores the step's record and has it written to disk.
pub(super) fn record_step(state: &mut RunState, outcome: StepOutcome) -> Vec<Effect> {
    let Some(execution) = enter_stage(state, StepStage::Record) else {
        return Vec::new();
    };
    let Some(current) = &execution.current else {
        return Vec::new();
    };
    let step = current.n;
    let left_out = execution.uncommitted_paths(current);
    let receipt = if outcome == StepOutcome::NoChange {
        None
    } else {
        current.receipt.clone()
    };
    execution.done.push(StepRecord {
        n: step,
        text: current.text.clone(),
        outcome,
        receipt,
        fix_turns: current.fix_turns,
        summary: current.summary.clone(),
        changed: current.changed.clone(),
        made_by_tests: current.made_by_tests.clone(),
        left_out,
        users_edits: current.users_edits.clone(),
        decided: current.decided,
        skip_reason: (execution.skips.remove(&step))
            .filter(|_| current.decided == Some(StepOverride::Skipped))
            .map_or(String::new(), |skip| skip.reason),
        proof: current.proof.clone(),
        tree_before: current.tree_before.clone(),
        tree_after: current.tree_after.clone(),
    });
    vec![Effect::RecordStep { step }]
}

pub(super) fn on_step_recorded(
    state: &mut RunState,
    at: UnixMillis,
    step: u32,
    plan_file: Option<&Sha256>,
) -> Vec<Effect> {
    if current_at_stage(state, step, &[StepStage::Record]).is_none()
        || take_step_busy(state).is_none()
    {
        return Vec::new();
    }
    let mut records = state.execution.iter().flat_map(|e| &e.done);
    let is_skipped = records.any(|record| record.n == step && record.is_skipped());
    if let (Some(plan), Some(file_sha256)) = (&mut state.plan, plan_file) {
        plan.file_sha256 = file_sha256.clone();
        // The box of a skipped step stays open.
        if is_skipped {
            return propose_next_step(state, at, None);
        }
        for ticked in plan.plan.steps.iter_mut().filter(|s| s.n == step) {
            ticked.done = true;
        }
    }
    propose_next_step(state, at, None)
}

/// Records the current step as skipped. What it changed counts as the user's from here on, so that no later step takes
/// it into its commit unasked.
pub(super) fn record_skipped_step(state: &mut RunState) -> Vec<Effect> {
    clear_redo(state);
    let Some(execution) = &mut state.execution else {
        return Vec::new();
    };
    let Some(current) = &mut execution.current else {
        return Vec::new();
    };
    current.decided = Some(StepOverride::Skipped);
    let changed = current.changed.clone();
    let outcome = unfinished_outcome(&changed, "the user skipped it");
    let effects = record_step(state, outcome);
    if let Some(execution) = &mut state.execution {
        execution.pre_dirty.extend(changed);
    }
    effects
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
        return audit_again(state, step);
    }
    record_skipped_step(state)
}

pub(super) fn unfinished_outcome(changed: &[String], reason: &str) -> StepOutcome {
    if changed.is_empty() {
        StepOutcome::NoChange
    } else {
        let reason = reason.to_owned();
        StepOutcome::Uncommitted { reason }
    }
}
