//! Returns from executing to planning, when the executor or the user asks for it.
//!
//! Commits stay. The turn that asked is not interrupted: its agent is instructed to end it, and its result does not
//! count. Where one step is planned again, or the user edited the plan, the execution is kept, and only the change of
//! the plan is reviewed.

use super::{
    ResultValidity, RunState, agent_questions, deferred_answers, review_loop, step_execution,
    step_undo, turn_lifecycle,
};
use crate::domain::effect::{Effect, ExpiryReason};
use crate::domain::ids::UnixMillis;
use crate::domain::phase::{Phase, TransitionCause};
use crate::domain::plan_execution::{CurrentStep, PlanExecution, ReplanRecord};
use crate::domain::question::ExecutionTerms;
use crate::domain::turn::TurnPurpose;
use crate::text::clean_to_one_line;

pub(super) fn on_plan_entered(
    state: &mut RunState,
    at: UnixMillis,
    reason: &str,
    step: Option<u32>,
) -> Vec<Effect> {
    let is_blocked = step.is_some_and(|step| state.replan_blocker(step).is_some());
    if is_blocked
        || step_undo::is_undo_running(state)
        || !turn_lifecycle::change_phase(state, TransitionCause::PlanEntered)
    {
        return Vec::new();
    }
    let role = turn_lifecycle::running_role(state);
    let mut effects = turn_lifecycle::expire_approvals(state, role, ExpiryReason::Stopped);
    if let Some(running) = &mut state.running {
        running.result = ResultValidity::No;
    }
    (state.awaiting, state.busy) = (None, None);
    agent_questions::take_turn_questions(state);
    deferred_answers::forget_deferred(state);
    let log = match step {
        Some(step) => {
            let reason = reason_with_result(state, step, reason);
            keep_execution(state, &reason, Some(step));
            let reason = clean_to_one_line(&reason);
            format!("Step {step} is planned again: {reason}")
        }
        None => {
            leave_execution(state, reason);
            format!("Back to planning, confirmed by the user: {reason}")
        }
    };
    effects.push(Effect::SwitchToPlanProfile);
    effects.push(Effect::AppendLog(log));
    effects.extend(propose_plan_when_idle(state, at));
    effects
}

/// Returns what the planner is told: what stands in the way, as the step's agent said it, and the user's words.
fn reason_with_result(state: &RunState, step: u32, words: &str) -> String {
    let current = state.current_step();
    let current = current.filter(|current| current.n == step);
    let stated = current.and_then(CurrentStep::obstacle);
    let stated = stated.map_or("", |obstacle| obstacle.text.as_str());
    let parts = [stated, words].into_iter().filter(|part| !part.is_empty());
    let said: Vec<&str> = parts.collect();
    said.join("\n")
}

/// Ends the execution; a new one begins with the next plan.
fn leave_execution(state: &mut RunState, reason: &str) {
    let earlier = state.replanning.take().map(|record| record.done);
    let ended = state.execution.take().map(|execution| execution.done);
    state.replanning = Some(ReplanRecord {
        reason: reason.to_owned(),
        done: [earlier, ended].into_iter().flatten().flatten().collect(),
        step: None,
        kept: None,
    });
    begin_cycle(state, 0);
}

/// Puts the execution aside until the changed plan is approved.
fn keep_execution(state: &mut RunState, reason: &str, step: Option<u32>) {
    let earlier = state.replanning.take().map(|record| record.done);
    let mut kept = state.execution.take();
    if let Some(kept) = &mut kept {
        kept.undone.clear();
        kept.current = kept.current.take().map(restarted_step);
    }
    state.replanning = Some(ReplanRecord {
        reason: reason.to_owned(),
        done: earlier.unwrap_or_default(),
        step,
        kept: kept.map(Box::new),
    });
    // The plan as a whole was reviewed: what follows is the second review of it, of the change alone.
    let n_reviews = state.findings.review_count();
    begin_cycle(state, n_reviews.min(1));
    review_loop::allow_one_more_iteration(state);
}

/// Returns the step as it is tried with another text: only what it changed so far is its own.
fn restarted_step(current: CurrentStep) -> CurrentStep {
    CurrentStep {
        tree_before: current.tree_before,
        changed: current.changed,
        made_by_tests: current.made_by_tests,
        calls: current.calls,
        users_edits: current.users_edits,
        ..step_execution::new_current_step(current.n)
    }
}

/// Marks the steps of the plan as done that have ended in the execution that is kept.
pub(super) fn mark_kept_steps(state: &mut RunState) {
    let kept = state
        .replanning
        .iter()
        .filter_map(|record| record.kept.as_ref());
    let records = kept.flat_map(|kept| &kept.done);
    let ended = records
        .filter(|record| !record.is_skipped())
        .map(|record| record.n);
    let ended: Vec<u32> = ended.collect();
    let steps = state.plan.iter_mut().flat_map(|file| &mut file.plan.steps);
    for step in steps.filter(|step| ended.contains(&step.n)) {
        step.done = true;
    }
}

/// Gives the execution back that is kept while a step is planned again.
pub(super) fn restore_kept_execution(state: &mut RunState) {
    let kept = state
        .replanning
        .as_mut()
        .and_then(|record| record.kept.take());
    if let Some(kept) = kept {
        state.execution = Some(*kept);
    }
}

fn begin_cycle(state: &mut RunState, iteration: u32) {
    (state.approved_sha256, state.verdict) = (None, None);
    state.cycle += 1;
    (state.iteration, state.extra, state.stall) = (iteration, 0, 0);
}

/// Has the change reviewed that the user made to the plan while it is executed.
pub(super) fn review_users_change(state: &mut RunState, at: UnixMillis) -> Vec<Effect> {
    if !turn_lifecycle::change_phase(state, TransitionCause::StaleReviewedAgain) {
        return Vec::new();
    }
    keep_execution(state, "the user edited the plan", None);
    let mut effects = vec![Effect::SwitchToPlanProfile];
    effects.extend(review_loop::enter_review(state, at));
    effects
}

/// Continues the execution that was kept, where there is one, under the terms that the user approved now.
pub(super) fn resume_kept_execution(
    state: &mut RunState,
    at: UnixMillis,
    terms: &ExecutionTerms,
) -> Option<Vec<Effect>> {
    mark_kept_steps(state);
    let kept = state.replanning.as_mut()?.kept.take()?;
    let of_step = kept.current.iter().flat_map(|current| &current.changed);
    let of_step: Vec<&String> = of_step.collect();
    let is_new = |path: &&String| !kept.pre_dirty.contains(path) && !of_step.contains(path);
    let new: Vec<String> = terms.dirty.iter().filter(is_new).cloned().collect();
    state.execution = Some(PlanExecution {
        commits: terms.commits.clone(),
        test: terms.test.clone(),
        binding: terms.binding.clone(),
        approved_steps: state.plan_block_hashes(),
        pre_dirty: [kept.pre_dirty.clone(), new].concat(),
        left: terms.left.clone(),
        ..*kept
    });
    Some(step_execution::propose_next_step(state, at, None))
}

/// Continues once no turn is running, whatever the result of the turn that asked.
pub(super) fn propose_plan_when_idle(state: &mut RunState, at: UnixMillis) -> Vec<Effect> {
    if state.phase == Phase::WritePlan && turn_lifecycle::is_idle(state) {
        turn_lifecycle::propose_turn(state, at, TurnPurpose::WritePlan, None)
    } else {
        Vec::new()
    }
}
