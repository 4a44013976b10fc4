//! Executes the plan step by step: store the tree, let the agent work, audit, test, fix, commit, record.

use super::{
    ProgramOperation, RunState, approval_checks, deferred_answers, files_changed_by_tests,
    held_edit_questions, plan_approval, proof_questions, scope_questions, step_undo, test_baseline,
    turn_lifecycle, unattributed_changes, unfinished_step,
};
use crate::domain::effect::Effect;
use crate::domain::event::{Event, StepAudit};
use crate::domain::ids::{Sha256, UnixMillis};
use crate::domain::phase::Phase;
use crate::domain::plan_execution::{
    CurrentStep, DirtyPolicy, PlanExecution, StepOutcome, StepOverride, StepRecord, StepStage,
};
use crate::domain::question::{CommitTarget, EntryPoint, FileOrigin, QuestionAnswer, QuestionKind};
use crate::domain::receipt::Receipt;
use crate::domain::step_calls::StepCalls;
use crate::domain::step_result::{self, StepResultKind};
use crate::domain::turn::{TurnOutcome, TurnPurpose, TurnRetryReason};
use crate::text::clean_to_one_line;

/// What an agent reads that ended a step's turn without its result.
const ASK_FOR_RESULT: &str = "Your turn ended without the result of the step. State it now, with the tool `step_result` \
    or in a block `step-result`; finish the step first if it is not complete.";
/// The maximum length of a commit message's first line, in characters.
const MAX_SUBJECT_CHARS: usize = 72;

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
    let begun = execution.current.take_if(|current| current.n == n);
    let begun = begun.unwrap_or_else(|| new_current_step(n));
    execution.current = Some(CurrentStep {
        text: step.text.clone(),
        stage: StepStage::Code,
        ..begun
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
    let current = state.execution.as_mut()?.current.as_mut()?;
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
fn take_step_busy(state: &mut RunState) -> Option<Option<String>> {
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
    let current = state.execution.iter().find_map(|e| e.current.as_ref());
    let Some(current) = current else {
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
fn ask_about_entry_points(
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
    let current = state.execution.iter().find_map(|e| e.current.as_ref());
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

pub(super) fn run_tests(state: &mut RunState) -> Vec<Effect> {
    let Some(execution) = enter_stage(state, StepStage::Test) else {
        return Vec::new();
    };
    let step = execution.current.as_ref().map_or(0, |current| current.n);
    approval_checks::check_before(state, step).unwrap_or_else(|| start_tests(state))
}

/// Starts the tests of the current step with the command that was approved.
pub(super) fn start_tests(state: &RunState) -> Vec<Effect> {
    let execution = state.execution.iter();
    let of_step = execution.filter_map(|execution| {
        Some(Effect::RunTests {
            step: execution.current.as_ref()?.n,
            test: execution.test.clone(),
        })
    });
    of_step.collect()
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

pub(super) fn on_tests_ran(state: &mut RunState, at: UnixMillis, event: &Event) -> Vec<Effect> {
    let Event::TestsRan {
        step,
        receipt,
        changed,
        made_by_tests,
        entry_points,
        held,
        rewritten,
        tree,
    } = event
    else {
        return Vec::new();
    };
    if current_at_stage(state, *step, &[StepStage::Test]).is_none()
        || take_step_busy(state).is_none()
    {
        return Vec::new();
    }
    record_test_run(state, receipt, changed, made_by_tests);
    unattributed_changes::on_tests_ran(state, at, receipt.duration_ms);
    let current = state.execution.iter_mut().find_map(|e| e.current.as_mut());
    if let Some(current) = current {
        current.tree_after = tree.clone();
        current.commit_tree = tree.clone();
    }
    if !receipt.allows_next_step() {
        let step = *step;
        return match missing_test_access(step, receipt) {
            Some(kind) => turn_lifecycle::ask_user(state, kind),
            None => on_tests_failing(state, at, step, receipt),
        };
    }
    let asked = held_edit_questions::ask_about_held_edits(state, *step, held)
        .or_else(|| ask_about_entry_points(state, *step, entry_points))
        .or_else(|| {
            files_changed_by_tests::check_rewritten_files(state, *step, receipt, rewritten)
        });
    asked.unwrap_or_else(|| accept_tests(state))
}

/// Accepts tests that do not fail. The user decides where they may not have tested what they tested before.
pub(super) fn accept_tests(state: &mut RunState) -> Vec<Effect> {
    if proof_questions::is_proving(state) {
        return proof_questions::prove_step(state);
    }
    accept_checked_tests(state)
}

/// Accepts tests of which only the numbers are known.
pub(super) fn accept_checked_tests(state: &mut RunState) -> Vec<Effect> {
    let execution = state.execution.as_ref();
    let step = execution.and_then(|execution| execution.current.as_ref());
    let step = step.map_or(0, |current| current.n);
    match execution.and_then(PlanExecution::describe_test_doubt) {
        Some(found) => turn_lifecycle::ask_user(state, QuestionKind::TestsInDoubt { step, found }),
        None => commit_step(state),
    }
}

pub(super) fn on_tests_in_doubt_answered(
    state: &mut RunState,
    at: UnixMillis,
    answer: &QuestionAnswer,
) -> Vec<Effect> {
    match answer {
        QuestionAnswer::Retry => propose_fix(state, at),
        QuestionAnswer::SkipTests => {
            let reason = "its tests are doubtful and the user continued without a commit";
            let reason = reason.to_owned();
            record_step(state, StepOutcome::Uncommitted { reason })
        }
        _ => {
            if let Some(execution) = &mut state.execution
                && let Some(current) = &mut execution.current
            {
                current.decided = Some(StepOverride::TestsInDoubt);
            }
            commit_step(state)
        }
    }
}

fn record_test_run(
    state: &mut RunState,
    receipt: &Receipt,
    changed: &[String],
    made_by_tests: &[String],
) {
    let Some(execution) = &mut state.execution else {
        return;
    };
    let known = test_artifacts(execution);
    let Some(current) = &mut execution.current else {
        return;
    };
    let new = made_by_tests.iter().filter(|path| !known.contains(path));
    current.made_by_tests.extend(new.cloned());
    let of_step = exclude_paths(changed, &current.users_edits);
    current.changed = exclude_paths(&exclude_paths(&of_step, &known), made_by_tests);
    current.receipt = Some(receipt.clone());
    current.proof = None;
    current.decided = None;
}

fn on_tests_failing(
    state: &mut RunState,
    at: UnixMillis,
    step: u32,
    receipt: &Receipt,
) -> Vec<Effect> {
    let max_fix_turns = state.settings.max_fix_turns;
    let current = state
        .execution
        .as_ref()
        .and_then(|execution| execution.current.as_ref());
    let may_fix = current.is_some_and(|current| current.fix_turns < max_fix_turns);
    let execution = state.execution.as_ref();
    let before = execution.and_then(|execution| execution.matching_baseline_failure(receipt));
    if !receipt.passes_with.is_empty() {
        let found = describe_missing_files(receipt);
        return turn_lifecycle::ask_user(state, QuestionKind::TestsFailed { step, found });
    }
    let found = match before {
        Some(_) => format!(
            "{}; {}",
            receipt.describe(),
            describe_known_failures(receipt)
        ),
        None => receipt.describe(),
    };
    // Failures from before step 1 are not the step's fault, and no edit helps against a missing runner: the user
    // decides.
    if may_fix && before.is_none() && !receipt.is_runner_missing() {
        return propose_fix(state, at);
    }
    turn_lifecycle::ask_user(state, QuestionKind::TestsFailed { step, found })
}

/// Describes tests that need files which no commit holds.
fn describe_missing_files(receipt: &Receipt) -> String {
    let names: Vec<String> = receipt
        .passes_with
        .iter()
        .map(|path| clean_to_one_line(path))
        .collect();
    let list: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    format!(
        "{} in a clean copy of the commit, but they pass with files that no commit holds: {}. Commit what belongs to \
        the project, or set test.carry = [{}]",
        receipt.describe(),
        names.join(", "),
        list.join(", ")
    )
}

fn describe_known_failures(receipt: &Receipt) -> String {
    let before = "no failures beyond those before step 1";
    if receipt.failed_tests.is_empty() {
        before.to_owned()
    } else {
        format!("{before}: {}", receipt.failed_tests_label())
    }
}

/// Returns the question for tests that fail without a socket or a network which the user has not decided about yet.
pub(super) fn missing_test_access(step: u32, receipt: &Receipt) -> Option<QuestionKind> {
    match (receipt.lacks_socket.clone(), receipt.lacks_network.clone()) {
        (Some(lacked), _) => Some(QuestionKind::TestSocket { step, lacked }),
        (None, Some(line)) => Some(QuestionKind::TestNetwork { step, line }),
        (None, None) => None,
    }
}

/// Stores the user's choice about a network or a socket that the tests lacked; where access is given, they run again.
pub(super) fn on_test_access_answered(
    state: &mut RunState,
    at: UnixMillis,
    step: u32,
    is_given: bool,
    keep: Effect,
) -> Vec<Effect> {
    let current = state.execution.as_ref().and_then(|e| e.current.as_ref());
    let receipt = current.and_then(|current| current.receipt.clone());
    let then = match (step, receipt) {
        (test_baseline::BASELINE_STEP, _) if is_given => test_baseline::start_baseline(state, at),
        (test_baseline::BASELINE_STEP, _) => propose_next_step(state, at, None),
        _ if is_given => run_tests(state),
        (_, Some(receipt)) => on_tests_failing(state, at, step, &receipt),
        (_, None) => Vec::new(),
    };
    std::iter::once(keep).chain(then).collect()
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
    turn_lifecycle::propose_turn(state, at, purpose, None)
}

pub(super) fn on_tests_failed_answered(
    state: &mut RunState,
    at: UnixMillis,
    answer: &QuestionAnswer,
) -> Vec<Effect> {
    match answer {
        QuestionAnswer::Retry => propose_fix(state, at),
        QuestionAnswer::SkipTests => {
            let reason = "its tests fail and the user continued without a commit".to_owned();
            record_step(state, StepOutcome::Uncommitted { reason })
        }
        _ => commit_step(state),
    }
}

impl RunState {
    /// Returns the paths that the current step's commit contains, without files that are the user's.
    pub fn step_commit_paths(&self) -> Vec<String> {
        let execution = self.execution.as_ref();
        let current =
            execution.and_then(|execution| Some((execution, execution.current.as_ref()?)));
        current.map_or(Vec::new(), |(execution, current)| {
            exclude_paths(&current.changed, &uncommitted_paths(execution, current))
        })
    }
}

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
        return record_step(state, StepOutcome::Uncommitted { reason });
    }
    let paths = exclude_paths(&current.changed, &uncommitted_paths(execution, current));
    if paths.is_empty() {
        let reason = "everything it changed is left out of commits".to_owned();
        return record_step(state, StepOutcome::Uncommitted { reason });
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

/// Lists the user's dirty files that the step edited and that stay uncommitted.
pub(super) fn uncommitted_paths(execution: &PlanExecution, current: &CurrentStep) -> Vec<String> {
    let included =
        |path: &&String| execution.dirty_policy.get(*path) == Some(&DirtyPolicy::Include);
    // Files that the tests themselves rewrite get a question of their own and do not count as the user's.
    let is_decided = |path: &String| execution.dirty_policy.contains_key(path);
    let dirty = |path: &&String| {
        let was_changed = execution.changed_during_baseline(path) && is_decided(path);
        execution.pre_dirty.contains(path) || was_changed
    };
    current
        .changed
        .iter()
        .filter(dirty)
        .filter(|path| !included(path))
        .cloned()
        .collect()
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

/// Writes `[mark] text`, cut to 72 characters.
pub fn commit_subject(mark: &str, text: &str) -> String {
    let line = format!("[{mark}] {}", clean_to_one_line(text));
    let mut short: String = line.chars().take(MAX_SUBJECT_CHARS).collect();
    if short.len() < line.len() {
        short.pop();
        short.push('…');
    }
    short
}

pub(super) fn on_commit_made(
    state: &mut RunState,
    step: u32,
    commit: &str,
    message: &str,
) -> Vec<Effect> {
    if current_at_stage(state, step, &[StepStage::Commit]).is_none() {
        return Vec::new();
    }
    let (commit, message) = (commit.to_owned(), message.to_owned());
    record_step(state, StepOutcome::Committed { commit, message })
}

pub(super) fn on_commit_skipped(state: &mut RunState, step: u32, reason: &str) -> Vec<Effect> {
    if current_at_stage(state, step, &[StepStage::Commit]).is_none() {
        return Vec::new();
    }
    record_step(
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
    turn_lifecycle::ask_user(
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
    let current = state.execution.iter().find_map(|e| e.current.as_ref());
    let step = current.map_or(0, |current| current.n);
    let is_known = current.is_some_and(|current| current.commit_tree.is_some());
    match answer {
        QuestionAnswer::Retry if is_known => commit_step(state),
        // A step of an earlier version has no tested tree, so it is tested first.
        QuestionAnswer::Retry => audit_again(state, step),
        _ => {
            let why = clean_to_one_line(message);
            let reason = format!("the commit failed ({why}) and the user continued without it");
            record_step(state, StepOutcome::Uncommitted { reason })
        }
    }
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

/// Stores the step's record and has it written to disk.
pub(super) fn record_step(state: &mut RunState, outcome: StepOutcome) -> Vec<Effect> {
    let Some(execution) = enter_stage(state, StepStage::Record) else {
        return Vec::new();
    };
    let Some(current) = &execution.current else {
        return Vec::new();
    };
    let step = current.n;
    let left_out = uncommitted_paths(execution, current);
    let receipt = if outcome == StepOutcome::NoChange {
        None
    } else {
        current.receipt.clone()
    };
    execution.done.push(StepRecord {
        n: step,
        text: current.text.clone(),
        outcome,
        receipt,
        fix_turns: current.fix_turns,
        summary: current.summary.clone(),
        changed: current.changed.clone(),
        made_by_tests: current.made_by_tests.clone(),
        left_out,
        users_edits: current.users_edits.clone(),
        decided: current.decided,
        skip_reason: (execution.skips.remove(&step))
            .filter(|_| current.decided == Some(StepOverride::Skipped))
            .map_or(String::new(), |skip| skip.reason),
        proof: current.proof.clone(),
        tree_before: current.tree_before.clone(),
        tree_after: current.tree_after.clone(),
    });
    vec![Effect::RecordStep { step }]
}

pub(super) fn on_step_recorded(
    state: &mut RunState,
    at: UnixMillis,
    step: u32,
    plan_file: Option<&Sha256>,
) -> Vec<Effect> {
    if current_at_stage(state, step, &[StepStage::Record]).is_none()
        || take_step_busy(state).is_none()
    {
        return Vec::new();
    }
    let mut records = state.execution.iter().flat_map(|e| &e.done);
    let is_skipped = records.any(|record| record.n == step && record.is_skipped());
    if let (Some(plan), Some(file_sha256)) = (&mut state.plan, plan_file) {
        plan.file_sha256 = file_sha256.clone();
        // The box of a skipped step stays open.
        if is_skipped {
            return propose_next_step(state, at, None);
        }
        for ticked in plan.plan.steps.iter_mut().filter(|s| s.n == step) {
            ticked.done = true;
        }
    }
    propose_next_step(state, at, None)
}
