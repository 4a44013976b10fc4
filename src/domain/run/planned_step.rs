//! Says what the plan asks of a step: what proves it, which files it may change, and which tests run for it.

use super::RunState;
use crate::domain::plan::Step;
use crate::domain::plan::proof_lines::StepProofPlan;
use crate::domain::plan_execution::PlanExecution;
use crate::domain::step_proof::ProofScope;
use crate::domain::step_scope::StepScope;
use crate::domain::test_command::TestCommand;
use crate::domain::test_paths::TestPaths;

impl RunState {
    /// Returns a step of the plan.
    pub(super) fn planned_step(&self, n: u32) -> Option<&Step> {
        self.plan.as_ref()?.plan.step(n)
    }

    /// Returns what the plan says about the proof of a step.
    pub fn step_proof_plan(&self, step: u32) -> StepProofPlan {
        let planned = self.planned_step(step);
        planned.map_or(StepProofPlan::default(), |planned| planned.proof.clone())
    }

    /// Returns what the current step may write; `None` where it may write anywhere. `test_paths` are the user's patterns
    /// for tests.
    pub fn step_scope(&self, test_paths: &[String]) -> Option<StepScope> {
        let current = self.current_step()?;
        let planned = self.step_proof_plan(current.n);
        self.settings
            .proves_steps
            .then(|| StepScope::new(current.n, planned, TestPaths::new(test_paths)))?
    }

    /// Returns the steps that nothing tests, because a later one says `Test from here:` (TRUTH.md T23); `None` where no
    /// step says so, or where the test command is not the plan's.
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

    /// Returns which tests prove a step: the whole suite, or, where that is slow, the step's own tests and the suite once
    /// at the end (TRUTH.md T34).
    pub fn proof_scope(&self, step: u32) -> ProofScope {
        let execution = self.execution.as_ref();
        if !self.settings.proves_by_step_tests
            && !execution.is_some_and(PlanExecution::has_slow_suite)
        {
            return ProofScope::WholeSuite;
        }
        let is_open = |planned: &Step| {
            planned.n != step && execution.is_some_and(|execution| execution.is_open_step(planned))
        };
        let mut steps = self.plan.iter().flat_map(|file| &file.plan.steps);
        if steps.any(is_open) {
            ProofScope::StepTests
        } else {
            ProofScope::StepTestsAndSuite
        }
    }
}
