//! Runs the whole suite once after the last step, where its own tests prove each step (TRUTH.md T34).

use tokio_util::sync::CancellationToken;

use super::cell_runner::{CellRunner, FinishedCell};
use super::cell_trees::StepTrees;
use super::{StepProver, parse_commands};
use crate::domain::plan::proof_lines::{ProofClaim, StepProofPlan};
use crate::domain::receipt::TestOutcome;
use crate::domain::run::RunState;
use crate::domain::step_proof::{CellReports, ProofCell, ProofScope, StepProof};
use crate::domain::test_report::{TestIdentity, TestStatus};
use crate::engine::git::TreeId;
use crate::engine::test_runner::TestRunError;

/// The trees of a run up to its last step.
#[derive(Debug, Clone)]
pub(super) struct SuiteHistory {
    /// The tree before the first step; `None` where no tests ran on it.
    pub(super) start: Option<TreeId>,
    /// The finished steps with the trees that were tested, oldest first.
    steps: Vec<(u32, TreeId)>,
    /// Whether there were no tests before the first step, by the plan.
    had_no_tests: bool,
    /// What all steps together may do to old tests.
    plan: StepProofPlan,
}

impl SuiteHistory {
    pub(super) fn of(state: &RunState) -> Self {
        let execution = state.execution.as_ref();
        let baseline = execution.and_then(|execution| execution.baseline.as_ref());
        let start = baseline.and_then(|baseline| baseline.receipt.tree_before.clone());
        let records = execution.iter().flat_map(|execution| &execution.done);
        let steps = records.filter_map(|record| {
            let green = record.proof.as_ref()?.found.run_of(ProofCell::Green)?;
            Some((record.n, TreeId(green.tree.clone())))
        });
        let planned = state.plan.iter().flat_map(|file| &file.plan.steps);
        Self {
            start: start.map(TreeId),
            had_no_tests: state.steps_before_tests().is_some(),
            steps: steps.collect(),
            plan: StepProofPlan {
                claim: ProofClaim::KeepsBehaviour,
                changes_tests: planned
                    .flat_map(|step| step.proof.changes_tests.clone())
                    .collect(),
                ..StepProofPlan::default()
            },
        }
    }
}

impl StepProver {
    /// Returns what runs the whole suite: every test command, whatever the step changes.
    pub(super) fn suite_cells(&self) -> CellRunner {
        CellRunner {
            commands: parse_commands(self.test.commands_for(&[])),
            ..self.cells.clone()
        }
    }

    /// Adds to the last step's proof what became of the tests from before the first step.
    ///
    /// # Errors
    /// The run is being stopped, or a copy cannot be prepared.
    pub(super) async fn add_suite(
        &self,
        proof: &mut StepProof,
        trees: &StepTrees,
        cancel: &CancellationToken,
    ) -> Result<(), TestRunError> {
        if self.scope != ProofScope::StepTestsAndSuite {
            return Ok(());
        }
        let cells = &self.suite_cells();
        let now = cells.run_cell(ProofCell::Green, &trees.new, cancel).await?;
        let run = now.to_cell_run(ProofCell::Green);
        if run.receipt.is_none() || !proof.cells.iter().any(|cell| cell.receipt == run.receipt) {
            proof.cells.push(run);
        }
        if self.suite.had_no_tests {
            return Ok(());
        }
        let Some(start) = self.suite.start.clone() else {
            let doubt = "no tests ran before the first step, so nobody knows which passed then";
            proof.doubts.push(doubt.to_owned());
            return Ok(());
        };
        let before = cells.run_cell(ProofCell::Baseline, &start, cancel).await?;
        let renames = cells.git.trees().renamed_paths(&start, &trees.new).await?;
        let whole = StepTrees::divide(&cells.git, start, trees.new.clone(), &self.tests).await?;
        let mut suite = StepProof {
            changed_tests: whole.changed_tests,
            ..StepProof::default()
        };
        let reports = CellReports {
            baseline: before.report.as_ref(),
            green: now.report.as_ref(),
            kept: now.report.as_ref(),
            red: None,
        };
        suite.compare_cells(reports, &self.suite.plan, &renames);
        proof.add_suite(suite);
        Ok(())
    }

    /// Finds the finished step since which the suite fails, by running it on some of their trees; `None` where it fails
    /// since the present step.
    ///
    /// # Errors
    /// The run is being stopped, or a copy cannot be prepared.
    pub(super) async fn find_failing_step(
        &self,
        failed: &FinishedCell,
        before: &FinishedCell,
        cancel: &CancellationToken,
    ) -> Result<Option<u32>, TestRunError> {
        if self.scope != ProofScope::StepTestsAndSuite {
            return Ok(None);
        }
        let (cells, new) = (self.suite_cells(), new_failures(failed, before));
        let steps = &self.suite.steps;
        let (mut low, mut high) = (0, steps.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let Some((_, tree)) = steps.get(middle) else {
                break;
            };
            let ran = cells.run_cell(ProofCell::Green, tree, cancel).await?;
            let fails = |test: &TestIdentity| {
                let report = ran.report.as_ref();
                report.is_some_and(|report| report.tests.get(test) == Some(&TestStatus::Failed))
            };
            let is_failing = if new.is_empty() {
                ran.receipt.outcome == TestOutcome::Failed
            } else {
                new.iter().any(fails)
            };
            if is_failing {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Ok(steps.get(low).map(|(step, _)| *step))
    }
}

/// Returns the tests that fail now and did not before.
fn new_failures(failed: &FinishedCell, before: &FinishedCell) -> Vec<TestIdentity> {
    let failed_before: Vec<&TestIdentity> = before
        .report
        .iter()
        .flat_map(|report| report.failed())
        .collect();
    let failed_now = failed.report.iter().flat_map(|report| report.failed());
    failed_now
        .filter(|test| !failed_before.contains(test))
        .cloned()
        .collect()
}
