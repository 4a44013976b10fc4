//! Returns from executing to planning, when the executor or the user asks for it.
//!
//! Commits stay. The turn that asked is not interrupted: its agent is instructed to end it, and its result does not
//! count. Where one step is planned again, or the user edited the plan, the execution is kept, and only the change of
//! the plan is reviewed.

use super::current_step::new_current_step;
use super::{
    ResultValidity, RunState, approval_requests, open_questions, phase_entry, step_sequence,
};
use crate::domain::effect::{Effect, ExpiryReason};
use crate::domain::ids::UnixMillis;
use crate::domain::phase::TransitionCause;
use crate::domain::plan_execution::{CurrentStep, PlanExecution, ReplanRecord};
use crate::domain::question::ExecutionTerms;
use crate::text::clean_to_one_line;

pub(super) fn on_plan_entered(
    state: &mut RunState,
    at: UnixMillis,
    reason: &str,
    step: Option<u32>,
) -> Vec<Effect> {
    let is_blocked = step.is_some_and(|step| state.replan_blocker(step).is_some());
    if is_blocked
        || state.is_undo_running()
        || !phase_entry::change_phase(state, TransitionCause::PlanEntered)
    {
        return Vec::new();
    }
    let role = state.running_role();
    let mut effects = approval_requests::expire_approvals(state, role, ExpiryReason::Stopped);
    if let Some(running) = &mut state.running {
        running.result = ResultValidity::No;
    }
    state.busy = None;
    open_questions::drop_workflow_questions(state);
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
    effects.extend(phase_entry::propose_plan_when_idle(state, at));
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
    phase_entry::allow_one_more_iteration(state);
}

/// Returns the step as it is tried with another text: only what it changed so far is its own.
fn restarted_step(current: CurrentStep) -> CurrentStep {
    CurrentStep {
        tree_before: current.tree_before,
        changed: current.changed,
        made_by_tests: current.made_by_tests,
        calls: current.calls,
        users_edits: current.users_edits,
        ..new_current_step(current.n)
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
    if !phase_entry::change_phase(state, TransitionCause::StaleReviewedAgain) {
        return Vec::new();
    }
    keep_execution(state, "the user edited the plan", None);
    let mut effects = vec![Effect::SwitchToPlanProfile];
    effects.extend(phase_entry::enter_review(state, at));
    effects
}

/// Continues the execution that was kept, where there is one, under the terms that the user approved now.
pub(super) fn resume_kept_execution(
    state: &mut RunState,
    at: UnixMillis,
    terms: &ExecutionTerms,
) -> Option<Vec<Effect>> {
    state.mark_kept_steps();
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
    Some(step_sequence::propose_next_step(state, at, None))
}
