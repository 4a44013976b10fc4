//! Runs the tests of a step a second time without the variable `CI`, where the step's code or tests read it
//! (TRUTH.md T26).

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::cell_runner::{CellRunner, FinishedCell};
use super::cell_trees::StepTrees;
use super::mutant_trial::{read_changed_texts, to_changed_code};
use crate::domain::mutants::find_ci_read;
use crate::domain::receipt::TestOutcome;
use crate::domain::step_proof::{
    ProofCell, RunWithoutCi, StepProof, TestNames, find_tests_that_need_ci,
};
use crate::engine::test_runner::TestRunError;

/// How much longer than with `CI` the tests may take: without it some runners wait for changes of files.
const MAX_TEST_RUNS: u32 = 4;
/// The time that they always get.
const MIN_TIME: Duration = Duration::from_secs(60);
/// How often they run where some do not pass; a flaky test passes once.
const MAX_RUNS: usize = 2;

impl CellRunner {
    /// Returns where the step reads `CI`; `None` where it does not.
    ///
    /// # Errors
    /// Git fails.
    pub(super) async fn find_ci_read_of_step(
        &self,
        trees: &StepTrees,
    ) -> Result<Option<String>, TestRunError> {
        let changes = self
            .git
            .trees()
            .path_changes_between(&trees.old, &trees.new);
        let changes = changes.await?;
        let texts = read_changed_texts(self, changes.iter()).await?;
        Ok(find_ci_read(&to_changed_code(&texts)))
    }

    /// Runs green without `CI` where the step reads it, and enters what is found in the proof. Where green has not ended,
    /// nothing more is to be found.
    ///
    /// # Errors
    /// The run is being stopped, or a copy cannot be prepared.
    pub(super) async fn run_without_ci(
        &self,
        trees: &StepTrees,
        green: &FinishedCell,
        read_at: Option<String>,
        proof: &mut StepProof,
        cancel: &CancellationToken,
    ) -> Result<(), TestRunError> {
        let has_ended = |cell: &FinishedCell| {
            matches!(
                cell.receipt.outcome,
                TestOutcome::Passed | TestOutcome::Failed
            )
        };
        let Some(read_at) = read_at.filter(|_| has_ended(green)) else {
            return Ok(());
        };
        let cells = self.without_ci(green);
        for _ in 0..MAX_RUNS {
            let ran = cells.run_cell(ProofCell::Green, &trees.new, cancel).await?;
            let failing = if has_ended(&ran) {
                cells.name_failing(trees, [green, &ran], cancel).await?
            } else {
                TestNames::default()
            };
            let has_passed = failing.is_empty();
            proof.without_ci = Some(Box::new(RunWithoutCi {
                run: ran.to_cell_run(ProofCell::Green),
                read_at: read_at.clone(),
                failing,
            }));
            if has_passed {
                if !has_ended(&ran) {
                    let end = ran.receipt.describe();
                    let doubt = format!("without CI, which {read_at} reads: {end}");
                    proof.doubts.push(doubt);
                }
                proof
                    .doubts
                    .extend(ran.report.into_iter().flat_map(|report| report.doubts));
                break;
            }
        }
        Ok(())
    }

    /// Returns the same cells without the variable, with a shorter time limit.
    fn without_ci(&self, green: &FinishedCell) -> Self {
        let mut cells = self.clone();
        cells.settings.sets_ci = false;
        let time = Duration::from_millis(green.receipt.duration_ms) * MAX_TEST_RUNS;
        cells.settings.timeout = cells.settings.timeout.min(time.max(MIN_TIME));
        cells
    }

    /// Names the tests that pass with `CI` and not without it, and did pass without it before the step.
    async fn name_failing(
        &self,
        trees: &StepTrees,
        [with, without]: [&FinishedCell; 2],
        cancel: &CancellationToken,
    ) -> Result<TestNames, TestRunError> {
        let reports = with.report.as_ref().zip(without.report.as_ref());
        let is_worse = with.receipt.outcome == TestOutcome::Passed
            && without.receipt.outcome == TestOutcome::Failed;
        let needs_ci = |(now, then)| !find_tests_that_need_ci(now, then, None).is_empty();
        if !is_worse && !reports.is_some_and(needs_ci) {
            return Ok(TestNames::default());
        }
        let before = self
            .run_cell(ProofCell::Baseline, &trees.old, cancel)
            .await?;
        if let Some((now, then)) = reports {
            let found = find_tests_that_need_ci(now, then, before.report.as_ref());
            if !found.is_empty() {
                return Ok(TestNames::from_tests(&found));
            }
        }
        // Nobody knows which test it is; where they failed before, too, it is no fault of the step.
        Ok(match before.receipt.outcome {
            TestOutcome::Passed if is_worse => TestNames::of_unnamed_test(),
            _ => TestNames::default(),
        })
    }
}
