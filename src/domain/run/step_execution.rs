//! Executes the plan step by step: store the tree, let the agent work, audit what it changed.
//!
//! Tests and fixes follow in `step_tests`, the commit in `step_commit`, the record and the next step in `step_sequence`.

use super::current_step::{
    clear_redo, current_at_stage, exclude_paths, run_tests, take_step_busy, test_artifacts,
};
use super::{
    ProgramOperation, RunState, entry_point_questions, held_edit_questions, open_questions,
    proof_questions, scope_questions, step_sequence, test_baseline, turn_start,
    unattributed_changes, unfinished_step,
};
use crate::domain::effect::Effect;
use crate::domain::event::StepAudit;
use crate::domain::ids::UnixMillis;
use crate::domain::plan_execution::{DirtyPolicy, StepStage};
use crate::domain::question::{FileOrigin, QuestionAnswer, QuestionKind};
use crate::domain::step_result;
use crate::domain::step_result::StepResultKind;
use crate::domain::turn::{TurnOutcome, TurnPurpose, TurnRetryReason};

/// What an agent reads that ended a step's turn without its result.
const ASK_FOR_RESULT: &str = "Your turn ended without the result of the step. State it now, with the tool `step_result` \
    or in a block `step-result`; finish the step first if it is not complete.";

pub(super) fn on_snapshot_taken(
    state: &mut RunState,
    at: UnixMillis,
    step: u32,
    tree: Option<&str>,
) -> Vec<Effect> {
    let fits = |busy: &mut ProgramOperation| match busy {
        ProgramOperation::Storing { order } => {
            turn_start::stored_step(&order.purpose).is_some_and(|(stored, _)| stored == step)
        }
        ProgramOperation::Collecting { .. }
        | ProgramOperation::Held { .. }
        | ProgramOperation::Surveying
        | ProgramOperation::Entering
        | ProgramOperation::Baseline
        | ProgramOperation::Moving { .. }
        | ProgramOperation::Stepping { .. }
        | ProgramOperation::Reversing { .. } => false,
    };
    let Some(ProgramOperation::Storing { order }) = state.busy.take_if(fits) else {
        return Vec::new();
    };
    if step > 0 {
        // The summary only reads, so it does not clear what can be redone.
        clear_redo(state);
    }
    if let Some(current) = current_at_stage(state, step, &[StepStage::Code, StepStage::Fix]) {
        // Only the first snapshot counts, so that a fix turn's snapshot does not hide earlier changes of the step.
        current.tree_before = current
            .tree_before
            .take()
            .or_else(|| tree.map(str::to_owned));
    }
    if let Some(execution) = &mut state.execution {
        let first = execution.base_tree.take();
        execution.base_tree = first.or_else(|| tree.map(str::to_owned));
    }
    turn_start::run_turn(state, at, order)
}

/// Audits what changed, after a completed turn of the step. An agent that states no result of its step and asks nothing
/// is asked for it once.
pub(super) fn on_step_turn_completed(
    state: &mut RunState,
    at: UnixMillis,
    step: u32,
    again: Option<&TurnRetryReason>,
    result: &TurnOutcome,
) -> Vec<Effect> {
    let TurnOutcome::Completed {
        question,
        summary,
        result,
    } = result
    else {
        return Vec::new();
    };
    let Some(current) = current_at_stage(state, step, &[StepStage::Code, StepStage::Fix]) else {
        return Vec::new();
    };
    // A turn that only states the result does not replace what was said of the work.
    if !matches!(again, Some(TurnRetryReason::AskedBack { .. })) || current.summary.is_empty() {
        current.summary.clone_from(summary);
    }
    // Version 0.1 told a blocked step by the first line alone.
    let stated = result.clone();
    current.result = stated.or_else(|| step_result::parse_blocked_line(summary));
    let is_unstated = matches!(result, Some(result) if result.kind == StepResultKind::Unstated);
    let is_silent = is_unstated && question.is_none() && current.stage == StepStage::Code;
    if is_silent && !current.was_asked_for_result {
        current.was_asked_for_result = true;
        let reason = ASK_FOR_RESULT.to_owned();
        let again = TurnRetryReason::AskedBack { reason };
        let purpose = TurnPurpose::Step { n: step };
        return turn_start::propose_turn(state, at, purpose, Some(again));
    }
    current.stage = StepStage::Audit;
    state.busy = Some(ProgramOperation::Stepping {
        question: question.clone(),
    });
    vec![Effect::AuditStep { step }]
}

pub(super) fn on_step_audited(
    state: &mut RunState,
    at: UnixMillis,
    audit: &StepAudit,
) -> Vec<Effect> {
    if current_at_stage(state, audit.step, &[StepStage::Audit]).is_none() {
        return Vec::new();
    }
    let Some(question) = take_step_busy(state) else {
        return Vec::new();
    };
    let step = audit.step;
    // This question comes first: files that are restored need no other question.
    if let Some(effects) = held_edit_questions::ask_about_held_edits(state, step, &audit.held) {
        return effects;
    }
    if let Some(effects) =
        entry_point_questions::ask_about_entry_points(state, step, &audit.entry_points)
    {
        return effects;
    }
    let Some(execution) = &mut state.execution else {
        return Vec::new();
    };
    test_baseline::attribute_to_step(execution, &audit.changed);
    let litter = test_artifacts(execution);
    let Some(current) = &mut execution.current else {
        return Vec::new();
    };
    current.changed = exclude_paths(
        &exclude_paths(&audit.changed, &litter),
        &current.users_edits,
    );
    current.tree_after = audit.tree.clone();
    current.tested_again = false;
    if step_sequence::is_skipped(state, step) {
        return step_sequence::record_skipped_step(state);
    }
    let Some(current) = state.current_step() else {
        return Vec::new();
    };
    if let Some(obstacle) = current.obstacle() {
        let kind = QuestionKind::Blocked {
            step,
            said: obstacle.text.clone(),
            check: obstacle.check.clone(),
            n_changed: current.changed.len(),
        };
        return open_questions::ask_user(state, kind);
    }
    if current.changed.is_empty() {
        return on_nothing_changed(state, at, step, question);
    }
    // Whose the changes are is asked first: what is the user's is outside of no step.
    let asked =
        unattributed_changes::ask_about_unattributed_changes(state, step, &audit.outside_of_calls)
            .or_else(|| scope_questions::ask_about_scope(state, step, &audit.out_of_scope));
    if let Some(effects) = asked {
        return effects;
    }
    let Some(execution) = &state.execution else {
        return Vec::new();
    };
    let changed = execution.current.iter().flat_map(|c| &c.changed);
    let is_dirty =
        |path: &String| audit.dirty.contains(path) || execution.changed_during_baseline(path);
    let is_open = |path: &&String| is_dirty(path) && !execution.dirty_policy.contains_key(*path);
    let paths: Vec<String> = changed.filter(is_open).cloned().collect();
    if !paths.is_empty() {
        let origin = FileOrigin::UsersBefore;
        return open_questions::ask_user(
            state,
            QuestionKind::DirtyFiles {
                step,
                paths,
                origin,
            },
        );
    }
    run_tests(state)
}

fn on_nothing_changed(
    state: &mut RunState,
    at: UnixMillis,
    step: u32,
    question: Option<String>,
) -> Vec<Effect> {
    let Some(text) = question else {
        return proof_questions::look_for_earlier_proof(state, step)
            .unwrap_or_else(|| unfinished_step::ask_about_no_change(state, step, String::new()));
    };
    let purpose = TurnPurpose::Step { n: step };
    if let Some(answered) = turn_start::take_background_results(state, &purpose) {
        return on_step_question_answered(state, at, step, Some(answered));
    }
    open_questions::ask_user(state, QuestionKind::from_last_text(text, purpose))
}

pub(super) fn on_users_files_answered(
    state: &mut RunState,
    paths: &[String],
    answer: &QuestionAnswer,
) -> Vec<Effect> {
    let policy = match answer {
        QuestionAnswer::Include => DirtyPolicy::Include,
        _ => DirtyPolicy::LeaveOut,
    };
    if let Some(execution) = &mut state.execution {
        let decided = paths.iter().map(|path| (path.clone(), policy));
        execution.dirty_policy.extend(decided);
    }
    run_tests(state)
}

/// Handles the answer to a question in the text of a step's turn that changed nothing.
pub(super) fn on_step_question_answered(
    state: &mut RunState,
    at: UnixMillis,
    step: u32,
    again: Option<TurnRetryReason>,
) -> Vec<Effect> {
    let Some(current) = current_at_stage(state, step, &[StepStage::Audit]) else {
        return Vec::new();
    };
    if again.is_none() {
        return unfinished_step::ask_about_no_change(state, step, String::new());
    }
    current.stage = StepStage::Code;
    turn_start::propose_turn(state, at, TurnPurpose::Step { n: step }, again)
}
