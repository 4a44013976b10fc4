//! Commits what a step changed, and records how the step ended.

use super::step_execution::{
    audit_again, current_at_stage, enter_stage, exclude_paths, propose_next_step, take_step_busy,
};
use super::{RunState, turn_lifecycle};
use crate::domain::commit_subject::commit_subject;
use crate::domain::effect::Effect;
use crate::domain::ids::{Sha256, UnixMillis};
use crate::domain::plan_execution::{
    CommitSize, CurrentStep, DirtyPolicy, PlanExecution, StepOutcome, StepOverride, StepRecord,
    StepStage,
};
use crate::domain::question::{CommitTarget, QuestionAnswer, QuestionKind};
use crate::text::clean_to_one_line;

impl PlanExecution {
    /// Returns the paths that the current step's commit contains, without files that are the user's.
    pub fn step_commit_paths(&self) -> Vec<String> {
        let current = self.current.as_ref();
        current.map_or(Vec::new(), |current| {
            exclude_paths(&current.changed, &self.uncommitted_paths(current))
        })
    }

    /// Lists the user's dirty files that the step edited and that stay uncommitted.
    pub(super) fn uncommitted_paths(&self, current: &CurrentStep) -> Vec<String> {
        let included = |path: &&String| self.dirty_policy.get(*path) == Some(&DirtyPolicy::Include);
        // Files that the tests themselves rewrite get a question of their own and do not count as the user's.
        let is_decided = |path: &String| self.dirty_policy.contains_key(path);
        let dirty = |path: &&String| {
            let was_changed = self.changed_during_baseline(path) && is_decided(path);
            self.pre_dirty.contains(path) || was_changed
        };
        current
            .changed
            .iter()
            .filter(dirty)
            .filter(|path| !included(path))
            .cloned()
            .collect()
    }
}

/// Commits what the step changed, without files that the tests made or that are the user's.
pub(super) fn commit_step(state: &mut RunState) -> Vec<Effect> {
    let Some(execution) = &state.execution else {
        return Vec::new();
    };
    let Some(current) = &execution.current else {
        return Vec::new();
    };
    if let CommitTarget::Off { reason } = &execution.commits {
        let reason = format!("commits are off: {reason}");
        return record_step(state, StepOutcome::Uncommitted { reason });
    }
    let paths = execution.step_commit_paths();
    if paths.is_empty() {
        let reason = "everything it changed is left out of commits".to_owned();
        return record_step(state, StepOutcome::Uncommitted { reason });
    }
    let tested = match (&current.proof, &current.receipt) {
        (Some(proof), _) => proof.describe(),
        (None, Some(receipt)) => receipt.describe(),
        (None, None) => "not tested".to_owned(),
    };
    let (step, message) = (current.n, commit_message(current, &tested));
    enter_stage(state, StepStage::Commit);
    vec![Effect::CommitStep {
        step,
        paths,
        message,
    }]
}

/// Writes a commit message: first the agent's line, then the plan's step and the tests.
fn commit_message(current: &CurrentStep, tested: &str) -> String {
    let mark = format!("Step {}", current.n);
    let said = to_commit_title(&current.summary, &mark);
    let title = if said.is_empty() {
        &current.text
    } else {
        &said
    };
    let subject = commit_subject(&mark, title);
    if subject.ends_with(&format!("] {}", current.text)) {
        format!("{subject}\n\n{tested}\n")
    } else {
        format!("{subject}\n\n{}\n\n{tested}\n", current.text)
    }
}

/// Turns an agent's line into a commit title, without Markdown around it, the mark and the full stop.
fn to_commit_title(line: &str, mark: &str) -> String {
    let line = clean_to_one_line(line);
    let bare = line.trim_start_matches(['*', '#', '>', ' ']);
    let bare = bare.trim_end().trim_end_matches("**");
    let bare = bare.strip_prefix(&format!("[{mark}]")).unwrap_or(bare);
    bare.trim().trim_end_matches('.').to_owned()
}

pub(super) fn on_commit_made(
    state: &mut RunState,
    step: u32,
    commit: &str,
    message: &str,
    size: Option<CommitSize>,
) -> Vec<Effect> {
    if current_at_stage(state, step, &[StepStage::Commit]).is_none() {
        return Vec::new();
    }
    let outcome = StepOutcome::Committed {
        commit: commit.to_owned(),
        message: message.to_owned(),
        size,
    };
    record_step(state, outcome)
}

pub(super) fn on_commit_skipped(state: &mut RunState, step: u32, reason: &str) -> Vec<Effect> {
    if current_at_stage(state, step, &[StepStage::Commit]).is_none() {
        return Vec::new();
    }
    record_step(
        state,
        StepOutcome::Uncommitted {
            reason: reason.to_owned(),
        },
    )
}

pub(super) fn on_commit_failed(state: &mut RunState, step: u32, message: &str) -> Vec<Effect> {
    if current_at_stage(state, step, &[StepStage::Commit]).is_none()
        || take_step_busy(state).is_none()
    {
        return Vec::new();
    }
    turn_lifecycle::ask_user(
        state,
        QuestionKind::CommitFailed {
            step,
            message: message.to_owned(),
        },
    )
}

pub(super) fn on_commit_failed_answered(
    state: &mut RunState,
    message: &str,
    answer: &QuestionAnswer,
) -> Vec<Effect> {
    let current = state.current_step();
    let step = current.map_or(0, |current| current.n);
    let is_known = current.is_some_and(|current| current.commit_tree.is_some());
    match answer {
        QuestionAnswer::Retry if is_known => commit_step(state),
        // A step of an earlier version has no tested tree, so it is tested first.
        QuestionAnswer::Retry => audit_again(state, step),
        _ => {
            let why = clean_to_one_line(message);
            let reason = format!("the commit failed ({why}) and the user continued without it");
            record_step(state, StepOutcome::Uncommitted { reason })
        }
    }
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
