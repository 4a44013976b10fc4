//! Runs tests again that fail with a step's code although the step did not touch them (TRUTH.md T25).
//!
//! A test is flaky, and no fault of the step, where it passes once with the step's code and fails once without it. It runs
//! alone, where its runner takes names of tests; only the last run without the step's code has the whole suite, so that a
//! test is found, too, that fails only in company.

use std::collections::{BTreeMap, BTreeSet};

use tokio_util::sync::CancellationToken;

use super::cell_runner::{CellRunner, FinishedCell};
use super::cell_trees::StepTrees;
use crate::domain::step_proof::{ProofCell, find_flaky_suspects};
use crate::domain::test_report::{TestIdentity, TestStatus};
use crate::engine::git::TreeId;
use crate::engine::test_runner::TestRunError;

/// How often tests run again with the step's code.
const MAX_NEW_RUNS: usize = 2;
/// How often they run again without it.
const MAX_OLD_RUNS: usize = 3;
/// Tests that took longer are not run again: the user decides about their failures.
const MAX_DURATION_MS: u64 = 120_000;

impl CellRunner {
    /// Finds the flaky ones of the tests that failed in a cell with the step's code, and enters them in the baseline as
    /// failures from before the step, which they are.
    ///
    /// # Errors
    /// The run is being stopped, or a copy cannot be prepared.
    pub(super) async fn find_flaky_tests(
        &self,
        cell: ProofCell,
        failed: &FinishedCell,
        baseline: &mut FinishedCell,
        changed_tests: &[String],
        cancel: &CancellationToken,
    ) -> Result<BTreeSet<TestIdentity>, TestRunError> {
        let (Some(now), Some(before)) = (&failed.report, &mut baseline.report) else {
            return Ok(BTreeSet::new());
        };
        let suspects = find_flaky_suspects(now, before, changed_tests);
        if suspects.is_empty() || failed.receipt.duration_ms > MAX_DURATION_MS {
            return Ok(BTreeSet::new());
        }
        let new = (cell, &failed.tree, MAX_NEW_RUNS);
        let passed = self.rerun_until(new, &suspects, TestStatus::Passed, cancel);
        // Tests that fail each time with the new code fail because of it.
        if passed.await? != suspects {
            return Ok(BTreeSet::new());
        }
        let old = (ProofCell::Baseline, &baseline.tree, MAX_OLD_RUNS);
        let flaky = self.rerun_until(old, &suspects, TestStatus::Failed, cancel);
        let flaky = flaky.await?;
        for test in &flaky {
            before.tests.insert(test.clone(), TestStatus::Failed);
        }
        Ok(flaky)
    }

    /// Finds the flaky ones of the tests that fail in a step's cells, and enters them in the baseline as failures.
    ///
    /// # Errors
    /// The run is being stopped, or a copy cannot be prepared.
    pub(super) async fn find_flaky_in_cells(
        &self,
        trees: &StepTrees,
        ran: &mut BTreeMap<ProofCell, FinishedCell>,
        cancel: &CancellationToken,
    ) -> Result<BTreeSet<TestIdentity>, TestRunError> {
        let mut flaky = BTreeSet::new();
        let Some(mut baseline) = ran.remove(&ProofCell::Baseline) else {
            return Ok(flaky);
        };
        for cell in [ProofCell::Green, ProofCell::Kept] {
            if let Some(failed) = ran.get(&cell) {
                let tests = &trees.changed_tests;
                let found = self.find_flaky_tests(cell, failed, &mut baseline, tests, cancel);
                flaky.extend(found.await?);
            }
        }
        ran.insert(ProofCell::Baseline, baseline);
        Ok(flaky)
    }

    /// Runs the tests of a tree again until each of these has ended like this, at most so many times; returns those that
    /// have.
    async fn rerun_until(
        &self,
        (cell, tree, max_runs): (ProofCell, &TreeId, usize),
        tests: &BTreeSet<TestIdentity>,
        status: TestStatus,
        cancel: &CancellationToken,
    ) -> Result<BTreeSet<TestIdentity>, TestRunError> {
        // These runs decide what a failure means; the receipts hold the failure itself.
        let whole = Self {
            receipts: None,
            ..self.clone()
        };
        let alone = Self {
            alone: tests.clone(),
            ..whole.clone()
        };
        let mut found = BTreeSet::new();
        let mut runs_alone = true;
        let mut n_runs = 0;
        while n_runs < max_runs && found.len() < tests.len() {
            let is_last = cell == ProofCell::Baseline && n_runs + 1 == max_runs;
            let is_alone = runs_alone && !is_last;
            let again = if is_alone { &alone } else { &whole };
            let ran = again.run_cell(cell, tree, cancel).await?;
            let report = ran.report.unwrap_or_default();
            // Another name in the command than in the report.
            if is_alone && !tests.iter().all(|test| report.tests.contains_key(test)) {
                runs_alone = false;
                continue;
            }
            let ended = |test: &&TestIdentity| report.tests.get(*test) == Some(&status);
            found.extend(tests.iter().filter(ended).cloned());
            n_runs += 1;
        }
        Ok(found)
    }
}
