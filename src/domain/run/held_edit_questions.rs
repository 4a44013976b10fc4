//! Asks about a step's changes that path rules hold back: the user keeps them, or they are restored.

use super::current_step::{audit_again, current_at_stage, restore_files};
use super::{RunState, open_questions, scope_questions};
use crate::domain::effect::Effect;
use crate::domain::event::{Approval, CallPermission};
use crate::domain::plan_execution::{CurrentStep, StepStage};
use crate::domain::question::{HeldEdit, QuestionAnswer, QuestionKind};
use crate::permission::PermissionAction;

fn current_step_mut(state: &mut RunState) -> Option<&mut CurrentStep> {
    state.execution.as_mut()?.current.as_mut()
}

/// Asks about held edits that the user has neither kept with this content nor allowed when the agent asked.
pub(super) fn ask_about_held_edits(
    state: &mut RunState,
    step: u32,
    held: &[HeldEdit],
) -> Option<Vec<Effect>> {
    let known = current_step_mut(state)?;
    let is_open = |edit: &&HeldEdit| {
        let is_kept = known.kept_edits.contains(edit);
        let is_allowed = known.allowed_edits.contains(&edit.path);
        !(is_kept || is_allowed && edit.hold == PermissionAction::Ask)
    };
    let edits: Vec<HeldEdit> = held.iter().filter(is_open).cloned().collect();
    (!edits.is_empty())
        .then(|| open_questions::ask_user(state, QuestionKind::HeldEdits { step, edits }))
}

/// Records what the user allowed an agent to edit, so that the audit of the step does not ask again.
pub(super) fn on_edit_allowed(state: &mut RunState, approval: &Approval) {
    if approval.permission == CallPermission::Edit
        && let Some(current) = current_step_mut(state)
    {
        current.allowed_edits.extend_from_slice(&approval.targets);
        scope_questions::on_edit_allowed(current, approval);
    }
}

pub(super) fn on_held_edits_answered(
    state: &mut RunState,
    step: u32,
    edits: &[HeldEdit],
    answer: &QuestionAnswer,
) -> Vec<Effect> {
    match answer {
        QuestionAnswer::PutBack => {
            let paths = edits.iter().map(|edit| edit.path.clone()).collect();
            restore_files(state, step, paths)
        }
        _ => {
            if let Some(current) = current_step_mut(state) {
                current.kept_edits.extend_from_slice(edits);
            }
            audit_again(state, step)
        }
    }
}

/// Audits the rest of the step again.
pub(super) fn on_edits_put_back(state: &mut RunState, step: u32) -> Vec<Effect> {
    match current_at_stage(state, step, &[StepStage::Audit]) {
        Some(_) => audit_again(state, step),
        None => Vec::new(),
    }
}
