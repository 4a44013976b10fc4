//! Tests a step: run its tests, have failures fixed, ask where the program cannot decide.

use super::step_commit::{commit_step, record_step};
use super::step_execution::{
    ask_about_entry_points, current_at_stage, enter_stage, exclude_paths, take_step_busy,
    test_artifacts,
};
use super::{
    RunState, approval_checks, files_changed_by_tests, held_edit_questions, proof_questions,
    test_baseline, turn_lifecycle, unattributed_changes,
};
use crate::domain::effect::Effect;
use crate::domain::event::Event;
use crate::domain::ids::UnixMillis;
use crate::domain::plan_execution::{PlanExecution, StepOutcome, StepOverride, StepStage};
use crate::domain::question::{QuestionAnswer, QuestionKind};
use crate::domain::receipt::Receipt;
use crate::domain::turn::TurnPurpose;
use crate::text::clean_to_one_line;

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
        let step = execution.current.as_ref()?.n;
        let test = state.test_of_step(step).cloned();
        Some(Effect::RunTests { step, test })
    });
    of_step.collect()
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
    if let Some(current) = state.current_step_mut() {
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
    let step = state.current_step_number().unwrap_or(0);
    let execution = state.execution.as_ref();
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
            if let Some(current) = state.current_step_mut() {
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
    let current = state.current_step();
    let receipt = current.and_then(|current| current.receipt.clone());
    let then = match (step, receipt) {
        (test_baseline::BASELINE_STEP, _) if is_given => test_baseline::start_baseline(state, at),
        (test_baseline::BASELINE_STEP, _) => test_baseline::start_first_step(state, at),
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
