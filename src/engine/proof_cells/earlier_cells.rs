//! Finds the result of a cell that ran before: the same command on the same tree in the same environment.
//!
//! A tree that this process laid down once is not laid down again for that, and neither is a copy in which nothing has run
//! yet.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sha2::{Digest, Sha256 as Sha256Hasher};

use super::carried_folders::{CarriedFolders, OwnPaths, fingerprint_carried, to_hex};
use super::cell_runner::{CellRunner, FinishedCell};
use crate::domain::ids::Sha256;
use crate::domain::receipt::{Receipt, TestCounts, TestOutcome};
use crate::domain::step_proof::ProofCell;
use crate::domain::test_report::{TestReport, TestStatus};
use crate::engine::git::{MissingContent, TreeId};
use crate::engine::test_runner::{TestCommandLine, TestRunError};

/// What is known of the trees that were laid down; clones share it.
#[derive(Debug, Clone, Default)]
pub(in crate::engine) struct SeenTrees {
    /// What they have of their own, by tree.
    own_paths: Arc<Mutex<BTreeMap<String, OwnPaths>>>,
    /// The copies that were laid down for later cells, by their places.
    ready_copies: Arc<Mutex<BTreeMap<PathBuf, ReadyCopy>>>,
}

/// A copy in which nothing ran since it was laid down.
#[derive(Debug, Clone)]
struct ReadyCopy {
    tree: TreeId,
    missing: Vec<MissingContent>,
}

impl SeenTrees {
    /// Keeps a copy that was laid down for a later cell.
    pub(super) fn keep_ready(&self, slot: PathBuf, tree: TreeId, missing: Vec<MissingContent>) {
        let mut ready = lock(&self.ready_copies);
        ready.insert(slot, ReadyCopy { tree, missing });
    }

    /// Takes the copy at a place that is about to be used, and returns what its tree lacks; `None` where there is none of
    /// this tree. In either case there is none any more.
    pub(super) fn take_ready(&self, slot: &Path, tree: &TreeId) -> Option<Vec<MissingContent>> {
        let copy = lock(&self.ready_copies).remove(slot)?;
        (copy.tree == *tree).then_some(copy.missing)
    }

    /// Remembers a tree that was just laid down. One of which this machine lacks something is not remembered: it may get
    /// what is missing.
    pub(super) fn keep(&self, tree: &TreeId, missing: &[MissingContent], carried: &CarriedFolders) {
        if missing.is_empty() {
            let own = carried.own_paths.clone();
            lock(&self.own_paths).insert(tree.0.clone(), own);
        }
    }

    fn find(&self, tree: &TreeId) -> Option<OwnPaths> {
        lock(&self.own_paths).get(&tree.0).cloned()
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_that_is_ready_is_taken_once_and_for_its_tree_only() {
        let (seen, slot) = (SeenTrees::default(), Path::new("/cells/old"));
        let tree = |name: &str| TreeId(name.to_owned());
        seen.keep_ready(slot.to_owned(), tree("red"), Vec::new());
        assert_eq!(seen.take_ready(slot, &tree("red")), Some(Vec::new()));
        assert_eq!(seen.take_ready(slot, &tree("red")), None);
        seen.keep_ready(slot.to_owned(), tree("red"), Vec::new());
        assert_eq!(seen.take_ready(slot, &tree("old")), None);
        // Its place is in use now.
        assert_eq!(seen.take_ready(slot, &tree("red")), None);
    }
}
