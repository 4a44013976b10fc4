//! Says which tests prove a step: the whole suite, or, where that is slow, the step's own tests and the suite once at the
//! end (TRUTH.md T34); none before the step from which on there are tests (T23).

use super::RunState;
use crate::domain::plan::Step;
use crate::domain::plan_execution::StepRecord;
use crate::domain::step_proof::ProofScope;
use crate::domain::test_command::TestCommand;

/// From this duration on, in milliseconds, a suite is not run several times for each step.
const SLOW_SUITE_MS: u64 = 120_000;

impl RunState {
    /// Returns the steps that nothing tests, because a later one says `Test from here:`; `None` where no step says so, or
    /// where the test command is not the plan's.
    pub fn steps_before_tests(&self) -> Option<&[Step]> {
        let test = self.execution.as_ref()?.test.as_ref()?;
        let plan = self.plan.as_ref().filter(|_| test.is_from_plan())?;
        plan.plan.steps_before_tests()
    }

    /// Returns what tests a step; `None` where nothing does.
    pub fn test_of_step(&self, step: u32) -> Option<&TestCommand> {
        let untested = self.steps_before_tests().unwrap_or_default();
        let is_tested = untested.iter().all(|before| before.n != step);
        let test = self.execution.as_ref()?.test.as_ref();
        test.filter(|_| is_tested)
    }

    /// Returns which tests prove a step.
    pub fn proof_scope(&self, step: u32) -> ProofScope {
        let execution = self.execution.as_ref();
        let baseline = execution.and_then(|execution| execution.baseline.as_ref());
        let is_slow = baseline.is_some_and(|found| found.receipt.duration_ms > SLOW_SUITE_MS);
        if !self.settings.proves_by_step_tests && !is_slow {
            return ProofScope::WholeSuite;
        }
        let mut steps = self.plan.iter().flat_map(|file| &file.plan.steps);
        let is_open = |n: u32, text: &str| {
            n != step
                && execution.is_some_and(|execution| {
                    !execution.done.iter().any(|record| record.n == n)
                        && !execution.is_skip_requested(n, text)
                })
        };
        if steps.any(|planned| is_open(planned.n, &planned.text)) {
            ProofScope::StepTests
        } else {
            ProofScope::StepTestsAndSuite
        }
    }

    /// Returns the last finished step after which the whole suite should have run and did not.
    pub(super) fn step_without_suite(&self) -> Option<u32> {
        let records = self.execution.iter().flat_map(|execution| &execution.done);
        let scope = |record: &StepRecord| Some(record.proof.as_ref()?.found.scope);
        let mut scopes = records.filter_map(|record| Some((record.n, scope(record)?)));
        let (step, last) = scopes.next_back()?;
        (last == ProofScope::StepTests).then_some(step)
    }
}
