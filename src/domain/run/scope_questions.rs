//! Asks about what a step changed outside of the files that its plan names: the user allows it, or it is restored.

use super::current_step::{audit_again, restore_files};
use super::{RunState, open_questions};
use crate::domain::effect::Effect;
use crate::domain::event::Approval;
use crate::domain::plan_execution::CurrentStep;
use crate::domain::question::{QuestionAnswer, QuestionKind};
use crate::domain::step_scope::ScopeChange;
use crate::permission::hard_limits::Floor;
use crate::permission::{DecisionReason, DecisionSource};

impl CurrentStep {
    /// Returns whether the user has allowed a change in this step, whatever its plan names: only an answer about a
    /// deletion allows one.
    pub fn allows_change(&self, change: &ScopeChange) -> bool {
        let ScopeChange { path, is_deleted } = change;
        let allowed = self.allowed_outside.iter();
        let kept = self.kept_edits.iter();
        let mut decided = allowed
            .map(|allowed| (&allowed.path, allowed.is_deleted))
            .chain(kept.map(|kept| (&kept.path, kept.content.is_none())));
        let mut entry_points = self.allowed_entry_points.iter();
        let is_edit_allowed = !is_deleted
            && (self.allowed_edits.contains(path) || entry_points.any(|point| point.path == *path));
        is_edit_allowed || decided.any(|(known, is_gone)| known == path && (is_gone || !is_deleted))
    }
}

/// Records that the user allowed an agent to delete files when it asked.
pub(super) fn on_edit_allowed(current: &mut CurrentStep, approval: &Approval) {
    let why = approval.why.as_ref().map(DecisionReason::source);
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
    let current = state.current_step()?;
    let is_open = |change: &&ScopeChange| {
        current.changed.contains(&change.path) && !current.allows_change(change)
    };
    let changes: Vec<ScopeChange> = found.iter().filter(is_open).cloned().collect();
    (!changes.is_empty())
        .then(|| open_questions::ask_user(state, QuestionKind::OutOfScope { step, changes }))
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
    if let Some(current) = state.current_step_mut() {
        current.allowed_outside.extend_from_slice(changes);
    }
    audit_again(state, step)
}
