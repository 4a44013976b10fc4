//! Finds the result of a cell that ran before: the same command on the same tree in the same environment.
//!
//! The tree itself is not laid down for that where this process did so before.

use sha2::{Digest, Sha256 as Sha256Hasher};

use super::carried_folders::{CarriedFolders, fingerprint_carried, to_hex};
use super::cell_runner::{CellRunner, FinishedCell};
use crate::domain::ids::Sha256;
use crate::domain::receipt::{Receipt, TestCounts, TestOutcome};
use crate::domain::step_proof::ProofCell;
use crate::domain::test_report::{TestReport, TestStatus};
use crate::engine::git::TreeId;
use crate::engine::test_runner::{TestCommandLine, TestRunError};

impl CellRunner {
    /// Returns an earlier result on a tree that was laid down before, without laying it down again; `None` where there is
    /// none, or where only a copy tells.
    pub(super) async fn find_without_copy(
        &self,
        command: &TestCommandLine,
        cell: ProofCell,
        tree: &TreeId,
    ) -> Result<Option<FinishedCell>, TestRunError> {
        // Which of the selected tests there are is seen in a copy.
        let is_possible = self.receipts.is_some() && self.selection.is_empty();
        let Some(own) = self.seen_trees.find(tree).filter(|_| is_possible) else {
            return Ok(None);
        };
        let (root, named) = (self.root.clone(), self.carry.clone());
        let carried = tokio::task::spawn_blocking(move || fingerprint_carried(&root, &own, &named));
        let carried = carried
            .await
            .map_err(|error| TestRunError::Copy(error.to_string()))?;
        let Some(carried) = carried.map_err(TestRunError::Copy)? else {
            return Ok(None);
        };
        let environment = self.environment_hash(&carried);
        self.find_earlier(command, cell, tree, &environment, &carried.doubts)
    }

    /// Returns an earlier result on the same tree in the same environment.
    pub(super) fn find_earlier(
        &self,
        command: &TestCommandLine,
        cell: ProofCell,
        tree: &TreeId,
        environment: &Sha256,
        doubts: &[String],
    ) -> Result<Option<FinishedCell>, TestRunError> {
        let Some(receipts) = &self.receipts else {
            return Ok(None);
        };
        let command = command.to_string();
        let found = receipts.find_check(&tree.0, &command, environment);
        let found = found.map_err(|error| TestRunError::Copy(error.to_string()))?;
        // With the new code a failure is tried again: it may have been the machine's.
        let is_old_code = matches!(cell, ProofCell::Baseline | ProofCell::Red);
        let found = found.filter(|(_, check)| is_old_code || check.outcome == TestOutcome::Passed);
        Ok(found.map(|(number, check)| {
            let receipt = Receipt {
                command,
                outcome: check.outcome,
                exit_code: check.exit_code,
                duration_ms: check.duration_ms,
                tree_before: Some(tree.0.clone()),
                tree_after: Some(tree.0.clone()),
                counts: check.report.as_ref().map(count_tests),
                ..Receipt::without_command()
            };
            FinishedCell {
                tree: tree.clone(),
                receipt,
                report: check.report,
                doubts: doubts.to_vec(),
                number: Some(number),
                is_reused: true,
                environment: environment.clone(),
            }
        }))
    }

    /// Returns the hash of what a result depends on besides the tree and the command.
    pub(super) fn environment_hash(&self, carried: &CarriedFolders) -> Sha256 {
        let mut hash = Sha256Hasher::new();
        let setup = self.setup.as_ref().map(ToString::to_string);
        let network = format!("{:?}", self.reach.network);
        let parts = [
            setup.unwrap_or_default(),
            network,
            carried.fingerprint.clone(),
        ];
        let variables = self.settings.env.iter();
        let variables = variables.flat_map(|(name, value)| [name.clone(), value.clone()]);
        let without_ci = (!self.settings.sets_ci).then(|| "without CI".to_owned());
        for part in parts.into_iter().chain(variables).chain(without_ci) {
            hash.update(part.len().to_le_bytes());
            hash.update(part.as_bytes());
        }
        Sha256::new(to_hex(&hash.finalize()))
    }
}

fn count_tests(report: &TestReport) -> TestCounts {
    let count = |status| u64::try_from(report.count(status)).unwrap_or(u64::MAX);
    TestCounts {
        passed: count(TestStatus::Passed),
        failed: count(TestStatus::Failed),
        skipped: count(TestStatus::Skipped),
    }
}
