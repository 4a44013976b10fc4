//! Runs the tests before the first step, so that their failures are not blamed on a step.
//!
//! Where steps are proven, the user decides about failures that the plan does not say it fixes (TRUTH.md T25); otherwise
//! they are only reported. A missing runner, and a network or a socket without an earlier decision, ask as well.

use super::{ProgramOperation, RunState, open_questions, plan_reentry, step_sequence};
use crate::domain::effect::Effect;
use crate::domain::ids::UnixMillis;
use crate::domain::phase::Phase;
use crate::domain::plan_execution::{PlanExecution, TestBaseline};
use crate::domain::question::{QuestionAnswer, QuestionKind};
use crate::domain::receipt::Receipt;

/// The step number that stands for the time before the first step in questions.
pub(super) const BASELINE_STEP: u32 = 0;

/// Runs the tests, where there are some, or continues with the first step.
pub(super) fn start_baseline(state: &mut RunState, at: UnixMillis) -> Vec<Effect> {
    let test = state.execution.as_ref().and_then(|e| e.test.clone());
    // Before the step that says `Test from here:` there are no tests.
    let has_tests = state.steps_before_tests().is_none();
    match test.filter(|_| state.settings.baseline && has_tests) {
        Some(test) => {
            state.busy = Some(ProgramOperation::Baseline);
            vec![Effect::RunBaseline(test)]
        }
        None => step_sequence::propose_next_step(state, at, None),
    }
}

/// Removes the mark that the tests run; returns whether it was set.
fn leave_baseline(state: &mut RunState) -> bool {
    let was_at_it = state
        .busy
        .take_if(|busy| *busy == ProgramOperation::Baseline);
    was_at_it.is_some() && state.phase == Phase::Execute
}

pub(super) fn on_baseline_ran(
    state: &mut RunState,
    at: UnixMillis,
    found: &TestBaseline,
) -> Vec<Effect> {
    if !leave_baseline(state) {
        return Vec::new();
    }
    let Some(execution) = &mut state.execution else {
        return Vec::new();
    };
    let earlier = execution.baseline.take();
    execution.baseline = Some(merge_changed_files(earlier, found));
    let receipt = &found.receipt;
    if let Some(kind) = missing_test_access(BASELINE_STEP, receipt) {
        return open_questions::ask_user(state, kind);
    }
    if receipt.is_runner_missing() {
        let found = receipt.describe();
        return open_questions::ask_user(state, QuestionKind::RunnerMissing { found });
    }
    start_first_step(state, at)
}

/// Continues with the first step once the tests have run, or asks about their failures.
pub(super) fn start_first_step(state: &mut RunState, at: UnixMillis) -> Vec<Effect> {
    ask_about_failures(state).unwrap_or_else(|| step_sequence::propose_next_step(state, at, None))
}

/// Asks about tests that fail before the first step; `None` where the approved plan answers that.
fn ask_about_failures(state: &mut RunState) -> Option<Vec<Effect>> {
    let baseline = state.execution.as_ref()?.baseline.as_ref()?;
    let plan = &state.plan.as_ref()?.plan;
    let is_red = state.settings.proves_steps && baseline.is_red(plan);
    let found = is_red.then(|| baseline.describe_failures())?;
    Some(open_questions::ask_user(
        state,
        QuestionKind::RedBaseline { found },
    ))
}

/// Continues with known failures, or has the plan written again so that its first step fixes them.
pub(super) fn on_red_baseline_answered(
    state: &mut RunState,
    at: UnixMillis,
    found: &str,
    answer: &QuestionAnswer,
) -> Vec<Effect> {
    if *answer != QuestionAnswer::FixFirst {
        return step_sequence::propose_next_step(state, at, None);
    }
    let reason = format!(
        "Tests fail before step 1, and the user wants them fixed first: {found}. The first step makes them pass: \
        `Test first:` names them, or `Proof:` has the test command where no test is named."
    );
    plan_reentry::on_plan_entered(state, at, &reason, None)
}

/// Adds what an earlier run of these tests left in the tree, because it is still there.
fn merge_changed_files(earlier: Option<TestBaseline>, found: &TestBaseline) -> TestBaseline {
    let mut all = found.clone();
    let Some(earlier) = earlier else {
        return all;
    };
    for (known, new) in [
        (earlier.made_by_tests, &mut all.made_by_tests),
        (earlier.changed, &mut all.changed),
    ] {
        let kept: Vec<String> = known
            .into_iter()
            .filter(|path| !new.contains(path))
            .collect();
        new.extend(kept);
    }
    // A file that one run makes is changed by the next one.
    let made = all.made_by_tests.clone();
    all.changed.retain(|path| !made.contains(path));
    all
}

/// Assigns to the step files that its agent's edits name, although the tests made them before it.
pub(super) fn attribute_to_step(execution: &mut PlanExecution, changed: &[String]) {
    let PlanExecution {
        baseline: Some(baseline),
        current: Some(current),
        ..
    } = execution
    else {
        return;
    };
    let Some(calls) = &current.calls else {
        return;
    };
    let is_named = |path: &String| {
        // CLIs may report absolute paths.
        let below = format!("/{path}");
        let mut files = calls.edited_files().iter();
        changed.contains(path) && files.any(|file| file == path || file.ends_with(&below))
    };
    baseline.made_by_tests.retain(|path| !is_named(path));
}

/// Stops the test run. The next step starts only after its end, so that they never run at the same time.
pub(super) fn on_baseline_stopped(state: &RunState) -> Vec<Effect> {
    match state.busy {
        Some(ProgramOperation::Baseline) => vec![Effect::StopTests],
        _ => Vec::new(),
    }
}

pub(super) fn on_baseline_skipped(state: &mut RunState, at: UnixMillis) -> Vec<Effect> {
    if leave_baseline(state) {
        step_sequence::propose_next_step(state, at, None)
    } else {
        Vec::new()
    }
}

pub(super) fn on_runner_missing_answered(
    state: &mut RunState,
    at: UnixMillis,
    answer: &QuestionAnswer,
) -> Vec<Effect> {
    match answer {
        QuestionAnswer::Retry => start_baseline(state, at),
        _ => step_sequence::propose_next_step(state, at, None),
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
