//! Tests a step: run its tests, have failures fixed, ask where the program cannot decide.

use super::current_step::{
    current_at_stage, exclude_paths, propose_fix, run_tests, take_step_busy, test_artifacts,
};
use super::{
    RunState, entry_point_questions, files_changed_by_tests, held_edit_questions, open_questions,
    proof_questions, step_commit, step_sequence, test_baseline, unattributed_changes,
};
use crate::domain::effect::Effect;
use crate::domain::event::Event;
use crate::domain::ids::UnixMillis;
use crate::domain::plan_execution::{StepOutcome, StepStage};
use crate::domain::question::{QuestionAnswer, QuestionKind};
use crate::domain::receipt::Receipt;
use crate::text::clean_to_one_line;

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
        return match test_baseline::missing_test_access(step, receipt) {
            Some(kind) => open_questions::ask_user(state, kind),
            None => on_tests_failing(state, at, step, receipt),
        };
    }
    let asked = held_edit_questions::ask_about_held_edits(state, *step, held)
        .or_else(|| entry_point_questions::ask_about_entry_points(state, *step, entry_points))
        .or_else(|| {
            files_changed_by_tests::check_rewritten_files(state, *step, receipt, rewritten)
        });
    asked.unwrap_or_else(|| proof_questions::accept_tests(state))
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
        return open_questions::ask_user(state, QuestionKind::TestsFailed { step, found });
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
    open_questions::ask_user(state, QuestionKind::TestsFailed { step, found })
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

pub(super) fn on_tests_failed_answered(
    state: &mut RunState,
    at: UnixMillis,
    answer: &QuestionAnswer,
) -> Vec<Effect> {
    match answer {
        QuestionAnswer::Retry => propose_fix(state, at),
        QuestionAnswer::SkipTests => {
            let reason = "its tests fail and the user continued without a commit".to_owned();
            step_sequence::record_step(state, StepOutcome::Uncommitted { reason })
        }
        _ => step_commit::commit_step(state),
    }
}
