//! Asks about a step's changes that the program would run, for example before the tests.

use super::current_step::audit_again;
use super::{RunState, open_questions};
use crate::domain::effect::Effect;
use crate::domain::question::{EntryPoint, QuestionKind};

/// Asks about changes that the program would run and that the user has not allowed. An answer holds for the whole step;
/// in later steps it holds for the content that it was given for.
pub(super) fn ask_about_entry_points(
    state: &mut RunState,
    step: u32,
    found: &[EntryPoint],
) -> Option<Vec<Effect>> {
    let execution = state.execution.as_ref()?;
    let current = execution.current.as_ref()?;
    let planned = state.step_proof_plan(step);
    let new = |point: &&EntryPoint| {
        let mut allowed = current.allowed_entry_points.iter();
        allowed.all(|known| known.path != point.path)
            && !execution.allowed_entry_points.contains(point)
            && !planned.names_path(&point.path)
    };
    let changes: Vec<EntryPoint> = found.iter().filter(new).cloned().collect();
    (!changes.is_empty())
        .then(|| open_questions::ask_user(state, QuestionKind::EntryPoints { step, changes }))
}

pub(super) fn on_entry_points_answered(
    state: &mut RunState,
    changes: &[EntryPoint],
) -> Vec<Effect> {
    let Some(execution) = &mut state.execution else {
        return Vec::new();
    };
    let Some(current) = &mut execution.current else {
        return Vec::new();
    };
    current.allowed_entry_points.extend_from_slice(changes);
    execution.allowed_entry_points.extend_from_slice(changes);
    // A second audit comes first; it leads to the remaining questions and the tests.
    let step = current.n;
    audit_again(state, step)
}
