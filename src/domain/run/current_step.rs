//! Moves the current step from stage to stage, and says which changes are its own.

use super::{ProgramOperation, RunState, approval_validity, turn_start};
use crate::domain::effect::Effect;
use crate::domain::ids::UnixMillis;
use crate::domain::phase::Phase;
use crate::domain::plan_execution::{CurrentStep, DirtyPolicy, PlanExecution, StepStage};
use crate::domain::step_calls::StepCalls;
use crate::domain::turn::TurnPurpose;

pub(super) fn new_current_step(n: u32) -> CurrentStep {
    CurrentStep {
        n,
        text: String::new(),
        stage: StepStage::Code,
        fix_turns: 0,
        tree_before: None,
        tree_after: None,
        commit_tree: None,
        tested_again: false,
        changed: Vec::new(),
        made_by_tests: Vec::new(),
        allowed_entry_points: Vec::new(),
        kept_edits: Vec::new(),
        allowed_edits: Vec::new(),
        allowed_outside: Vec::new(),
        calls: Some(StepCalls::default()),
        users_edits: Vec::new(),
        receipt: None,
        decided: None,
        summary: String::new(),
        result: None,
        was_asked_for_result: false,
        proof: None,
    }
}

/// Returns the current step, where it is this one at one of these stages.
pub(super) fn current_at_stage<'a>(
    state: &'a mut RunState,
    step: u32,
    stages: &[StepStage],
) -> Option<&'a mut CurrentStep> {
    if state.phase != Phase::Execute {
        return None;
    }
    let current = state.current_step_mut()?;
    (current.n == step && stages.contains(&current.stage)).then_some(current)
}

/// Moves the current step to a stage in which the program works.
pub(super) fn enter_stage(state: &mut RunState, stage: StepStage) -> Option<&mut PlanExecution> {
    state.busy = Some(ProgramOperation::Stepping { question: None });
    let execution = state.execution.as_mut()?;
    execution.current.as_mut()?.stage = stage;
    Some(execution)
}

/// Removes the mark that the program works on the step; returns the question at the end of the agent's text.
pub(super) fn take_step_busy(state: &mut RunState) -> Option<Option<String>> {
    match state.busy.take() {
        Some(ProgramOperation::Stepping { question }) => Some(question),
        other => {
            state.busy = other;
            None
        }
    }
}

/// Audits a step's changes again; tests and commit follow.
pub(super) fn audit_again(state: &mut RunState, step: u32) -> Vec<Effect> {
    match enter_stage(state, StepStage::Audit) {
        Some(_) => vec![Effect::AuditStep { step }],
        None => Vec::new(),
    }
}

/// Restores files of the step to their state before it.
pub(super) fn restore_files(state: &mut RunState, step: u32, paths: Vec<String>) -> Vec<Effect> {
    match enter_stage(state, StepStage::Audit) {
        Some(_) => vec![Effect::RestoreFiles { step, paths }],
        None => Vec::new(),
    }
}

pub(super) fn run_tests(state: &mut RunState) -> Vec<Effect> {
    let Some(execution) = enter_stage(state, StepStage::Test) else {
        return Vec::new();
    };
    let step = execution.current.as_ref().map_or(0, |current| current.n);
    approval_validity::check_binding(state, step).unwrap_or_else(|| start_tests(state))
}

/// Starts the tests of the current step with the command that was approved.
pub(super) fn start_tests(state: &RunState) -> Vec<Effect> {
    let execution = state.execution.iter();
    let of_step = execution.filter_map(|execution| {
        let step = execution.current.as_ref()?.n;
        let test = state.test_of_step(step).cloned();
        Some(Effect::RunTests { step, test })
    });
    of_step.collect()
}

pub(super) fn propose_fix(state: &mut RunState, at: UnixMillis) -> Vec<Effect> {
    let Some(current) = state
        .execution
        .as_mut()
        .and_then(|execution| execution.current.as_mut())
    else {
        return Vec::new();
    };
    current.fix_turns += 1;
    current.stage = StepStage::Fix;
    let purpose = TurnPurpose::Fix {
        n: current.n,
        attempt: current.fix_turns,
    };
    turn_start::propose_turn(state, at, purpose, None)
}

/// Clears the undone steps: once another turn works on the tree, they cannot be redone.
pub(super) fn clear_redo(state: &mut RunState) {
    if let Some(execution) = &mut state.execution {
        execution.undone.clear();
    }
}

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

pub(super) fn exclude_paths(paths: &[String], left_out: &[String]) -> Vec<String> {
    paths
        .iter()
        .filter(|path| !left_out.contains(path))
        .cloned()
        .collect()
}

/// Lists files that test runs of this execution made; they belong to no step.
pub(super) fn test_artifacts(execution: &PlanExecution) -> Vec<String> {
    let earlier = execution
        .done
        .iter()
        .flat_map(|record| &record.made_by_tests);
    let now = execution
        .current
        .iter()
        .flat_map(|current| &current.made_by_tests);
    let before = execution
        .baseline
        .iter()
        .flat_map(|baseline| &baseline.made_by_tests);
    before.chain(earlier).chain(now).cloned().collect()
}
