//! Executes the plan step by step: store the tree, let the agent work, audit what it changed.
//!
//! Tests and fixes follow in `step_tests`, the commit and the record in `step_commit`.

use super::step_tests::run_tests;
use super::{
    ProgramOperation, RunState, deferred_answers, held_edit_questions, plan_approval,
    proof_questions, scope_questions, step_undo, test_baseline, turn_lifecycle,
    unattributed_changes, unfinished_step,
};
use crate::domain::effect::Effect;
use crate::domain::event::StepAudit;
use crate::domain::ids::UnixMillis;
use crate::domain::phase::Phase;
use crate::domain::plan_execution::{CurrentStep, DirtyPolicy, PlanExecution, StepStage};
use crate::domain::question::{EntryPoint, FileOrigin, QuestionAnswer, QuestionKind};
use crate::domain::step_calls::StepCalls;
use crate::domain::step_result::{self, StepResultKind};
use crate::domain::turn::{TurnOutcome, TurnPurpose, TurnRetryReason};

/// What an agent reads that ended a step's turn without its result.
const ASK_FOR_RESULT: &str = "Your turn ended without the result of the step. State it now, with the tool `step_result` \
    or in a block `step-result`; finish the step first if it is not complete.";

/// Proposes the first step that is not finished, or the summary.
pub(super) fn propose_next_step(
    state: &mut RunState,
    at: UnixMillis,
    again: Option<TurnRetryReason>,
) -> Vec<Effect> {
    if let Some(effects) = plan_approval::check_approval_before_step(state) {
        return effects;
    }
    let (Some(plan), Some(execution)) = (&state.plan, &mut state.execution) else {
        return Vec::new();
    };
    let is_through = |n: u32| execution.done.iter().any(|record| record.n == n);
    let next = plan
        .plan
        .steps
        .iter()
        // Only the program's own records count; a box that was ticked otherwise does not.
        .find(|step| !is_through(step.n));
    let Some(step) = next else {
        execution.current = None;
        return turn_lifecycle::propose_turn(state, at, TurnPurpose::Summary, None);
    };
    let n = step.n;
    let is_skipped = execution.is_skip_requested(n, &step.text);
    // A step that was already started keeps the tree from before it, so that all its changes stay its own.
    let started = execution.current.take_if(|current| current.n == n);
    let started = started.unwrap_or_else(|| new_current_step(n));
    execution.current = Some(CurrentStep {
        text: step.text.clone(),
        stage: StepStage::Code,
        ..started
    });
    if is_skipped {
        return unfinished_step::record_skipped_step(state);
    }
    turn_lifecycle::propose_turn(state, at, TurnPurpose::Step { n }, again)
}

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

/// Returns the step for a turn's snapshot; 0 for the summary.
fn snapshot_step(purpose: &TurnPurpose) -> Option<u32> {
    match purpose {
        TurnPurpose::Step { n } | TurnPurpose::Fix { n, .. } => Some(*n),
        TurnPurpose::Summary => Some(0),
        TurnPurpose::RefineGoal { .. }
        | TurnPurpose::WritePlan
        | TurnPurpose::Review
        | TurnPurpose::Respond
        | TurnPurpose::Judge => None,
    }
}

pub(super) fn on_snapshot_taken(
    state: &mut RunState,
    at: UnixMillis,
    step: u32,
    tree: Option<&str>,
) -> Vec<Effect> {
    let fits = |busy: &mut ProgramOperation| match busy {
        ProgramOperation::Storing { order } => snapshot_step(&order.purpose) == Some(step),
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
        step_undo::clear_redo(state);
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
    turn_lifecycle::run_turn(state, at, order)
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
        return turn_lifecycle::propose_turn(state, at, purpose, Some(again));
    }
    current.stage = StepStage::Audit;
    state.busy = Some(ProgramOperation::Stepping {
        question: question.clone(),
    });
    vec![Effect::AuditStep { step }]
}

/// Audits a step's changes again; tests and commit follow.
pub(super) fn audit_again(state: &mut RunState, step: u32) -> Vec<Effect> {
    match enter_stage(state, StepStage::Audit) {
        Some(_) => vec![Effect::AuditStep { step }],
        None => Vec::new(),
    }
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
    if let Some(effects) = ask_about_entry_points(state, step, &audit.entry_points) {
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
    if unfinished_step::is_skipped(state, step) {
        return unfinished_step::record_skipped_step(state);
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
        return turn_lifecycle::ask_user(state, kind);
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
        return turn_lifecycle::ask_user(
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
        .then(|| turn_lifecycle::ask_user(state, QuestionKind::EntryPoints { step, changes }))
}

fn on_nothing_changed(
    state: &mut RunState,
    at: UnixMillis,
    step: u32,
    question: Option<String>,
) -> Vec<Effect> {
    let Some(text) = question else {
        return proof_questions::look_for_earlier_proof(state, step)
            .unwrap_or_else(|| ask_about_no_change(state, step, String::new()));
    };
    let purpose = TurnPurpose::Step { n: step };
    if let Some(answered) = deferred_answers::take_background_results(state, &purpose) {
        return on_step_question_answered(state, at, step, Some(answered));
    }
    turn_lifecycle::ask_user(state, QuestionKind::from_last_text(text, purpose))
}

/// Asks the user about a step without changes: it is never done just because nothing happened.
///
/// `found` is why the program does not see that it was done before; empty where it did not look.
pub(super) fn ask_about_no_change(state: &mut RunState, step: u32, found: String) -> Vec<Effect> {
    let current = state.current_step();
    let said = current.map_or(String::new(), |current| {
        let stated = current.result.as_ref().map(|result| &result.text);
        let stated = stated.filter(|text| !text.is_empty());
        stated.unwrap_or(&current.summary).clone()
    });
    turn_lifecycle::ask_user(state, QuestionKind::NothingChanged { step, said, found })
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

pub(super) fn exclude_paths(paths: &[String], left_out: &[String]) -> Vec<String> {
    paths
        .iter()
        .filter(|path| !left_out.contains(path))
        .cloned()
        .collect()
}

/// Moves the current step to a stage in which the program works.
pub(super) fn enter_stage(state: &mut RunState, stage: StepStage) -> Option<&mut PlanExecution> {
    state.busy = Some(ProgramOperation::Stepping { question: None });
    let execution = state.execution.as_mut()?;
    execution.current.as_mut()?.stage = stage;
    Some(execution)
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
        return ask_about_no_change(state, step, String::new());
    }
    current.stage = StepStage::Code;
    turn_lifecycle::propose_turn(state, at, TurnPurpose::Step { n: step }, again)
}
