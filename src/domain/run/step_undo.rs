//! Undoes and redoes steps for the user: store the tree, restore the files, record the result.
//!
//! The stored tree is recorded before any file is touched, so a run that is resumed midway finishes the reversal.
//! Before that, nothing has changed.

use super::{ProgramOperation, RunState, restored_questions, step_sequence};
use crate::domain::effect::Effect;
use crate::domain::ids::{Sha256, UnixMillis};
use crate::domain::phase::{Gate, Phase};
use crate::domain::plan_execution::{PlanExecution, UndoRecord};
use crate::domain::question::Question;
use crate::domain::reversal_plan::{ReversalPlan, UndoDirection};
use crate::domain::turn::TurnRetryReason;

pub(super) fn on_undo_requested(
    state: &mut RunState,
    way: UndoDirection,
    seen: &str,
) -> Vec<Effect> {
    let execution = state.execution.as_ref();
    let fits = execution.is_some_and(|execution| execution.plan_reversal(way, seen).is_ok());
    if !fits || state.undo_blocker().is_some() {
        return Vec::new();
    }
    state.busy = Some(ProgramOperation::Reversing {
        way,
        kept: None,
        left: None,
        question: state.awaiting.take(),
    });
    vec![Effect::StoreTree {
        seen: seen.to_owned(),
    }]
}

pub(super) fn on_tree_saved(state: &mut RunState, tree: &str) -> Vec<Effect> {
    match &mut state.busy {
        Some(ProgramOperation::Reversing { kept, .. }) if kept.is_none() => {
            *kept = Some(tree.to_owned())
        }
        _ => return Vec::new(),
    }
    next_undo_effects(state)
}

pub(super) fn on_files_restored(
    state: &mut RunState,
    tree: &str,
    commit: Option<&str>,
) -> Vec<Effect> {
    match &mut state.busy {
        Some(ProgramOperation::Reversing {
            kept: Some(_),
            left,
            ..
        }) if left.is_none() => *left = Some((tree.to_owned(), commit.map(str::to_owned))),
        _ => return Vec::new(),
    }
    next_undo_effects(state)
}

/// Returns the next effect. It also works after the program's end, because each part can be repeated.
pub(super) fn next_undo_effects(state: &RunState) -> Vec<Effect> {
    let Some(ProgramOperation::Reversing {
        way,
        kept: Some(kept),
        left,
        ..
    }) = &state.busy
    else {
        return Vec::new();
    };
    let reversal = state
        .execution
        .as_ref()
        .map(|e| e.plan_reversal(*way, kept));
    let Some(Ok(reversal)) = reversal else {
        return Vec::new();
    };
    vec![match left {
        None => Effect::ApplyReversal {
            reversal,
            kept: kept.clone(),
        },
        Some((_, commit)) => Effect::RecordReversal {
            reversal,
            kept: kept.clone(),
            commit: commit.clone(),
        },
    }]
}

pub(super) fn on_undo_failed(state: &mut RunState, at: UnixMillis) -> Vec<Effect> {
    match take_reversal(state) {
        Some(ProgramOperation::Reversing { question, .. }) => {
            return_to_question(state, at, question)
        }
        _ => Vec::new(),
    }
}

fn take_reversal(state: &mut RunState) -> Option<ProgramOperation> {
    state
        .busy
        .take_if(|busy| matches!(busy, ProgramOperation::Reversing { .. }))
}

/// Returns to the question that waited for the user.
pub(super) fn return_to_question(
    state: &mut RunState,
    at: UnixMillis,
    question: Option<Question>,
) -> Vec<Effect> {
    match question {
        Some(question) => restored_questions::ask_question_again(state, at, question),
        None if state.phase.is_final() => vec![Effect::FinishRun],
        None => Vec::new(),
    }
}

pub(super) fn on_undo_recorded(
    state: &mut RunState,
    at: UnixMillis,
    plan_file: Option<&Sha256>,
) -> Vec<Effect> {
    let is_put_back = matches!(
        &state.busy,
        Some(ProgramOperation::Reversing { left: Some(_), .. })
    );
    if !is_put_back {
        return Vec::new();
    }
    let Some(ProgramOperation::Reversing {
        way,
        kept: Some(kept),
        left: Some((left, commit)),
        question,
    }) = take_reversal(state)
    else {
        return Vec::new();
    };
    let steps = match (way, &mut state.execution) {
        (UndoDirection::Undo { step }, Some(execution)) => {
            let at = execution.done.iter().position(|record| record.n == step);
            let records = execution.done.split_off(at.unwrap_or(execution.done.len()));
            let current = execution
                .current
                .take()
                // A step without a stored tree was not started.
                .filter(|current| current.tree_before.is_some());
            let steps = records.iter().map(|record| record.n).collect();
            execution.undone.push(UndoRecord {
                records,
                current,
                kept,
                left,
                commit,
            });
            steps
        }
        (UndoDirection::Redo, Some(execution)) => {
            if state.settings.proves_steps {
                execution.redo_commit = commit;
            }
            redo_steps(execution.undone.pop(), execution)
        }
        (_, None) => Vec::new(),
    };
    mark_boxes(state, way, &steps, plan_file);
    continue_after_undo(state, at, way, question)
}

fn redo_steps(undone: Option<UndoRecord>, execution: &mut PlanExecution) -> Vec<u32> {
    let Some(undone) = undone else {
        return Vec::new();
    };
    let steps = undone.records.iter().map(|record| record.n).collect();
    execution.done.extend(undone.records);
    execution.current = undone.current;
    steps
}

/// Unticks or ticks the boxes of steps, as plan.md has them now.
fn mark_boxes(state: &mut RunState, way: UndoDirection, steps: &[u32], plan_file: Option<&Sha256>) {
    if let (Some(plan), Some(file_sha256)) = (&mut state.plan, plan_file) {
        plan.file_sha256 = file_sha256.clone();
        for step in plan.plan.steps.iter_mut() {
            if steps.contains(&step.n) {
                step.done = way == UndoDirection::Redo;
            }
        }
    }
}

fn continue_after_undo(
    state: &mut RunState,
    at: UnixMillis,
    way: UndoDirection,
    question: Option<Question>,
) -> Vec<Effect> {
    if state.phase != Phase::Execute {
        return return_to_question(state, at, question);
    }
    state.gate = Gate::Manual;
    let again = match way {
        UndoDirection::Undo { step } => Some(TurnRetryReason::Undone { step }),
        UndoDirection::Redo => None,
    };
    step_sequence::propose_next_step(state, at, again)
}

/// Resumes the reversal that was in progress when the program ended.
pub(super) fn resume_undo(
    state: &mut RunState,
    at: UnixMillis,
    busy: ProgramOperation,
) -> Vec<Effect> {
    match busy {
        ProgramOperation::Reversing {
            kept: None,
            question,
            ..
        } => return_to_question(state, at, question),
        other => {
            state.busy = Some(other);
            next_undo_effects(state)
        }
    }
}

/// Returns the steps of a reversal whose boxes change.
pub fn changed_boxes(reversal: &ReversalPlan, state: &RunState) -> Vec<u32> {
    let records = match (&state.execution, reversal.way) {
        (Some(execution), UndoDirection::Undo { .. }) => execution.done.as_slice(),
        (Some(execution), UndoDirection::Redo) => match execution.undone.last() {
            Some(undone) => undone.records.as_slice(),
            None => &[],
        },
        (None, _) => &[],
    };
    let recorded = |step: &&u32| {
        let mut records = records.iter();
        records.any(|record| record.n == **step && !record.is_skipped())
    };
    reversal.steps.iter().filter(recorded).copied().collect()
}
