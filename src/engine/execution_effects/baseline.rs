//! Runs the tests before the first step, between two snapshots of the tree.
//!
//! Does not restore anything: what changes in the meantime may be the user's work.

use std::path::PathBuf;

use tokio_util::sync::CancellationToken;

use crate::domain::plan::Plan;
use crate::domain::plan_execution::TestBaseline;
use crate::domain::receipt::Receipt;
use crate::domain::step_proof::{ProofCost, find_unplanned_failures};
use crate::domain::test_command::TestCommand;
use crate::engine::git::GitRepository;
use crate::engine::proof_cells::StepProver;
use crate::engine::run_context::RunContext;
use crate::engine::test_runner::{self, TestRun, TestRunError, TestSettings};
use crate::text::clean_text;

use super::test_environment::{UndecidedTestAccess, test_settings};
use super::tree_audit::{change_paths, untracked_paths};

/// The name under which the tree is stored for readers of the receipt.
const TREE_NAME: &str = "baseline-after";

/// Everything that the baseline run needs.
pub(super) struct BaselineRun {
    git: Option<GitRepository>,
    root: PathBuf,
    test: TestCommand,
    settings: TestSettings,
    /// The test environment that the user has neither allowed nor denied yet.
    undecided_access: UndecidedTestAccess,
    /// Runs the tests in a clean copy; `None` runs them in the working tree.
    prover: Option<StepProver>,
    /// What proving the steps that are left will cost.
    proof_cost: ProofCost,
    plan: Option<Plan>,
}

impl BaselineRun {
    pub(super) fn new(run: &RunContext, test: TestCommand, prover: Option<StepProver>) -> Self {
        let settings = test_settings(run, Some(&test));
        let state = run.state();
        let is_done = |n: u32| {
            let mut done = state.execution.iter().flat_map(|e| &e.done);
            done.any(|record| record.n == n)
        };
        let steps = state.plan.iter().flat_map(|file| &file.plan.steps);
        let left = steps.filter(|step| !is_done(step.n));
        Self {
            proof_cost: ProofCost::estimate(left.map(|step| &step.proof.claim)),
            plan: state.plan.as_ref().map(|file| file.plan.clone()),
            git: run.repository.clone(),
            root: run.setup.root.clone(),
            undecided_access: UndecidedTestAccess::for_tests(run, &settings),
            test,
            settings,
            prover,
        }
    }

    /// Runs the tests; every change in the meantime is part of the result.
    pub(super) async fn run_between_snapshots(
        &self,
        stop: &CancellationToken,
    ) -> Result<TestBaseline, TestRunError> {
        let Some(git) = &self.git else {
            let receipt = self.run_tests(stop).await?;
            return Ok(TestBaseline {
                receipt,
                made_by_tests: Vec::new(),
                changed: Vec::new(),
                proof_cost: None,
                unplanned_failures: None,
            });
        };
        if let Some(prover) = &self.prover {
            let now = git.work_tree().current_tree().await?;
            let (receipt, report) = prover.run_baseline(now, stop).await?;
            let plan = self.plan.as_ref();
            let unplanned = report.zip(plan);
            return Ok(TestBaseline {
                unplanned_failures: unplanned
                    .and_then(|(report, plan)| find_unplanned_failures(&report, plan)),
                receipt: self.complete_receipt(receipt),
                made_by_tests: Vec::new(),
                changed: Vec::new(),
                proof_cost: Some(self.proof_cost),
            });
        }
        let (before, known) = (
            git.work_tree().current_tree().await?,
            untracked_paths(git).await?,
        );
        let mut receipt = self.run_tests(stop).await?;
        let now = git.work_tree().snapshot(TREE_NAME).await?.tree;
        let mut changed = change_paths(&git.trees().changes_between(&before, &now).await?);
        let mut made_by_tests: Vec<String> = untracked_paths(git).await?.into_iter().collect();
        made_by_tests.retain(|path| !known.contains(path));
        changed.retain(|path| !made_by_tests.contains(path));
        receipt.tree_before = Some(before.0);
        receipt.tree_after = Some(now.0);
        Ok(TestBaseline {
            receipt,
            made_by_tests,
            changed,
            proof_cost: None,
            unplanned_failures: None,
        })
    }

    async fn run_tests(&self, stop: &CancellationToken) -> Result<Receipt, TestRunError> {
        let command = test_runner::TestCommandLine::parse(&self.test.command);
        let Some(command) = command else {
            return Ok(Receipt::without_command());
        };
        let run = TestRun {
            command: &command,
            root: &self.root,
            // The snapshots before and after the run are the trees of this receipt.
            repository: None,
            settings: &self.settings,
            clean: &clean_text,
        };
        let receipt = test_runner::run_tests(run, stop).await?;
        Ok(self.complete_receipt(receipt))
    }

    fn complete_receipt(&self, mut receipt: Receipt) -> Receipt {
        receipt.origin = Some(self.test.origin.clone());
        self.undecided_access.note_missing_access(&mut receipt);
        receipt
    }
}
