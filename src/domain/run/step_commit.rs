//! Commits what a step changed.

use super::current_step::{audit_again, current_at_stage, enter_stage, take_step_busy};
use super::{RunState, open_questions, step_sequence};
use crate::domain::commit_subject::commit_subject;
use crate::domain::effect::Effect;
use crate::domain::plan_execution::{CommitSize, CurrentStep, StepOutcome, StepStage};
use crate::domain::question::{CommitTarget, QuestionAnswer, QuestionKind};
use crate::text::clean_to_one_line;

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
        return step_sequence::record_step(state, StepOutcome::Uncommitted { reason });
    }
    let paths = execution.step_commit_paths();
    if paths.is_empty() {
        let reason = "everything it changed is left out of commits".to_owned();
        return step_sequence::record_step(state, StepOutcome::Uncommitted { reason });
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
    step_sequence::record_step(state, outcome)
}

pub(super) fn on_commit_skipped(state: &mut RunState, step: u32, reason: &str) -> Vec<Effect> {
    if current_at_stage(state, step, &[StepStage::Commit]).is_none() {
        return Vec::new();
    }
    step_sequence::record_step(
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
    open_questions::ask_user(
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
            step_sequence::record_step(state, StepOutcome::Uncommitted { reason })
        }
    }
}
