//! Steps that the user takes back or brings back: asked, the tree kept, the files put back, written down.
//!
//! The tree is kept in the record before any file is touched, so that a run that is taken up in the
//! middle goes through with it; until then nothing has happened.

use super::{Busy, State, executing, recovering};
use crate::domain::effect::Effect;
use crate::domain::execution::{Execution, Stage};
use crate::domain::ids::{At, Sha256};
use crate::domain::phase::{Gate, Phase};
use crate::domain::question::{Question, QuestionKind};
use crate::domain::turn::Again;
use crate::domain::undo::{Reversal, Undone, Way};

impl State {
    /// Tells why no step can be undone or redone now, and what to do about it; `None` when one can.
    pub fn stands_against_undo(&self) -> Option<String> {
        if self.execution.is_none() {
            return Some("no step has changed anything yet".to_owned());
        }
        if self.running.is_some() {
            let what = "a turn is running: let it end or interrupt it (X), then undo";
            return Some(what.to_owned());
        }
        if self.busy.is_some() {
            let what = "the program is at the step itself: wait for the next question, then undo";
            return Some(what.to_owned());
        }
        let kind = self.awaiting.as_ref().map(|question| &question.kind);
        match kind {
            Some(QuestionKind::StepRecovery {
                step,
                stage: Stage::Commit | Stage::Record,
            }) => Some(format!(
                "step {step} was being committed when the program ended: answer that first"
            )),
            Some(_) | None => None,
        }
    }
}

/// Tells whether steps are being taken back or brought back right now.
pub(super) fn is_under_way(state: &State) -> bool {
    matches!(state.busy, Some(Busy::Reversing { .. }))
}

pub(super) fn on_asked(state: &mut State, way: Way, seen: &str) -> Vec<Effect> {
    let execution = state.execution.as_ref();
    let fits = execution.is_some_and(|execution| execution.reversal(way, seen).is_ok());
    if !fits || state.stands_against_undo().is_some() {
        return Vec::new();
    }
    state.busy = Some(Busy::Reversing {
        way,
        kept: None,
        left: None,
        question: state.awaiting.take(),
    });
    vec![Effect::KeepTree {
        seen: seen.to_owned(),
    }]
}

pub(super) fn on_kept(state: &mut State, tree: &str) -> Vec<Effect> {
    match &mut state.busy {
        Some(Busy::Reversing { kept, .. }) if kept.is_none() => *kept = Some(tree.to_owned()),
        _ => return Vec::new(),
    }
    go_on(state)
}

pub(super) fn on_put_back(state: &mut State, tree: &str, commit: Option<&str>) -> Vec<Effect> {
    match &mut state.busy {
        Some(Busy::Reversing {
            kept: Some(_),
            left,
            ..
        }) if left.is_none() => *left = Some((tree.to_owned(), commit.map(str::to_owned))),
        _ => return Vec::new(),
    }
    go_on(state)
}

/// Orders what comes next; also after the program's end, since each part can be done again.
pub(super) fn go_on(state: &State) -> Vec<Effect> {
    let Some(Busy::Reversing {
        way,
        kept: Some(kept),
        left,
        ..
    }) = &state.busy
    else {
        return Vec::new();
    };
    let reversal = state.execution.as_ref().map(|e| e.reversal(*way, kept));
    let Some(Ok(reversal)) = reversal else {
        return Vec::new();
    };
    vec![match left {
        None => Effect::Reverse {
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

pub(super) fn on_failed(state: &mut State, at: At) -> Vec<Effect> {
    match take(state) {
        Some(Busy::Reversing { question, .. }) => return_to(state, at, question),
        _ => Vec::new(),
    }
}

fn take(state: &mut State) -> Option<Busy> {
    state
        .busy
        .take_if(|busy| matches!(busy, Busy::Reversing { .. }))
}

/// Goes back to what waited for the user.
pub(super) fn return_to(state: &mut State, at: At, question: Option<Question>) -> Vec<Effect> {
    match question {
        Some(question) => recovering::ask_again(state, at, question),
        None if state.phase.is_final() => vec![Effect::Finish],
        None => Vec::new(),
    }
}

pub(super) fn on_recorded(state: &mut State, at: At, plan_file: Option<&Sha256>) -> Vec<Effect> {
    let is_put_back = matches!(&state.busy, Some(Busy::Reversing { left: Some(_), .. }));
    if !is_put_back {
        return Vec::new();
    }
    let Some(Busy::Reversing {
        way,
        kept: Some(kept),
        left: Some((left, commit)),
        question,
    }) = take(state)
    else {
        return Vec::new();
    };
    let steps = match (way, &mut state.execution) {
        (Way::Undo { step }, Some(execution)) => {
            let at = execution.done.iter().position(|record| record.n == step);
            let records = execution.done.split_off(at.unwrap_or(execution.done.len()));
            let current = execution
                .current
                .take()
                .filter(|current| current.tree_before.is_some());
            let steps = records.iter().map(|record| record.n).collect();
            execution.undone.push(Undone {
                records,
                current,
                kept,
                left,
                commit,
            });
            steps
        }
        (Way::Redo, Some(execution)) => redo(execution.undone.pop(), execution),
        (_, None) => Vec::new(),
    };
    mark(state, way, &steps, plan_file);
    after(state, at, way, question)
}

fn redo(undone: Option<Undone>, execution: &mut Execution) -> Vec<u32> {
    let Some(undone) = undone else {
        return Vec::new();
    };
    let steps = undone.records.iter().map(|record| record.n).collect();
    execution.done.extend(undone.records);
    execution.current = undone.current;
    steps
}

/// Opens or ticks the boxes of steps, as plan.md has them now.
fn mark(state: &mut State, way: Way, steps: &[u32], plan_file: Option<&Sha256>) {
    if let (Some(plan), Some(file_sha256)) = (&mut state.plan, plan_file) {
        plan.file_sha256 = file_sha256.clone();
        for step in plan.plan.steps.iter_mut() {
            if steps.contains(&step.n) {
                step.done = way == Way::Redo;
            }
        }
    }
}

fn after(state: &mut State, at: At, way: Way, question: Option<Question>) -> Vec<Effect> {
    if state.phase != Phase::Execute {
        return return_to(state, at, question);
    }
    state.gate = Gate::Manual;
    let again = match way {
        Way::Undo { step } => Some(Again::Undone { step }),
        Way::Redo => None,
    };
    executing::next_step(state, at, again)
}

/// The reversal that a run was at when the program ended.
pub(super) fn resume(state: &mut State, at: At, busy: Busy) -> Vec<Effect> {
    match busy {
        Busy::Reversing {
            kept: None,
            question,
            ..
        } => return_to(state, at, question),
        other => {
            state.busy = Some(other);
            go_on(state)
        }
    }
}

/// Nothing more can come back once another turn works on the tree.
pub(super) fn forget_undone(state: &mut State) {
    if let Some(execution) = &mut state.execution {
        execution.undone.clear();
    }
}

/// The steps of a reversal whose boxes change.
pub fn boxes(reversal: &Reversal, state: &State) -> Vec<u32> {
    let records = match (&state.execution, reversal.way) {
        (Some(execution), Way::Undo { .. }) => execution.done.as_slice(),
        (Some(execution), Way::Redo) => match execution.undone.last() {
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
