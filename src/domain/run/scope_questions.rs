//! Asks about what a step changed outside of the files that its plan names: the user allows it, or it is restored.

use super::held_edit_questions::restore_files;
use super::step_execution::audit_again;
use super::{RunState, turn_lifecycle};
use crate::domain::effect::Effect;
use crate::domain::event::Approval;
use crate::domain::plan_execution::CurrentStep;
use crate::domain::question::{QuestionAnswer, QuestionKind};
use crate::domain::step_scope::{ScopeChange, StepScope};
use crate::domain::test_paths::TestPaths;
use crate::permission::DecisionSource;
use crate::permission::hard_limits::Floor;

impl RunState {
    /// Returns what the current step may write; `None` where it may write anywhere. `test_paths` are the user's patterns
    /// for tests.
    pub fn step_scope(&self, test_paths: &[String]) -> Option<StepScope> {
        let current = self.execution.as_ref()?.current.as_ref()?;
        let planned = self.step_proof_plan(current.n);
        self.settings
            .proves_steps
            .then(|| StepScope::new(current.n, planned, TestPaths::new(test_paths)))?
    }

    /// Returns whether the user has allowed a change of the current step, whatever its plan names.
    pub fn is_allowed_outside(&self, change: &ScopeChange) -> bool {
        let execution = self.execution.as_ref();
        let current = execution.and_then(|execution| execution.current.as_ref());
        current.is_some_and(|current| allows_change(current, change))
    }
}

/// Returns whether an answer in this step was about the path. Only an answer about a deletion allows one.
fn allows_change(current: &CurrentStep, change: &ScopeChange) -> bool {
    let ScopeChange { path, is_deleted } = change;
    let allowed = current.allowed_outside.iter();
    let kept = current.kept_edits.iter();
    let mut decided = allowed
        .map(|allowed| (&allowed.path, allowed.is_deleted))
        .chain(kept.map(|kept| (&kept.path, kept.content.is_none())));
    let mut entry_points = current.allowed_entry_points.iter();
    let is_edit_allowed = !is_deleted
        && (current.allowed_edits.contains(path) || entry_points.any(|point| point.path == *path));
    is_edit_allowed || decided.any(|(known, is_gone)| known == path && (is_gone || !is_deleted))
}

/// Records that the user allowed an agent to delete files when it asked.
pub(super) fn on_edit_allowed(current: &mut CurrentStep, approval: &Approval) {
    let why = approval.why.as_ref().map(|why| why.source);
    if why == Some(DecisionSource::Floor(Floor::DeletionOutsideStep)) {
        let deleted = approval.targets.iter().map(|path| ScopeChange {
            path: path.clone(),
            is_deleted: true,
        });
        current.allowed_outside.extend(deleted);
    }
}

/// Asks about changes of the step that its plan does not name and that the user has not allowed in this step.
pub(super) fn ask_about_scope(
    state: &mut RunState,
    step: u32,
    found: &[ScopeChange],
) -> Option<Vec<Effect>> {
    let current = state.execution.as_ref()?.current.as_ref()?;
    let is_open = |change: &&ScopeChange| {
        current.changed.contains(&change.path) && !allows_change(current, change)
    };
    let changes: Vec<ScopeChange> = found.iter().filter(is_open).cloned().collect();
    (!changes.is_empty())
        .then(|| turn_lifecycle::ask_user(state, QuestionKind::OutOfScope { step, changes }))
}

pub(super) fn on_out_of_scope_answered(
    state: &mut RunState,
    step: u32,
    changes: &[ScopeChange],
    answer: &QuestionAnswer,
) -> Vec<Effect> {
    if *answer == QuestionAnswer::PutBack {
        let paths = changes.iter().map(|change| change.path.clone()).collect();
        return restore_files(state, step, paths);
    }
    let execution = state.execution.as_mut();
    if let Some(current) = execution.and_then(|execution| execution.current.as_mut()) {
        current.allowed_outside.extend_from_slice(changes);
    }
    audit_again(state, step)
}
