//! Runs the tests before the first step, between two snapshots of the tree.
//!
//! Does not restore anything: what changes in the meantime may be the user's work.

use std::path::PathBuf;

use tokio_util::sync::CancellationToken;

use crate::domain::event::Event;
use crate::domain::plan_execution::TestBaseline;
use crate::domain::receipt::Receipt;
use crate::domain::test_command::TestCommand;
use crate::engine::Engine;
use crate::engine::git::GitRepository;
use crate::engine::test_runner::{self, TestRun, TestRunError, TestSettings};
use crate::text::clean_text;

use super::UndecidedTestAccess;
use super::tree_audit::{change_paths, untracked_paths};

/// The name under which the tree is stored for readers of the receipt.
const TREE_NAME: &str = "baseline-after";

/// Everything that the baseline run needs.
struct BaselineRun {
    git: Option<GitRepository>,
    root: PathBuf,
    test: TestCommand,
    settings: TestSettings,
    /// The test environment that the user has neither allowed nor denied yet.
    undecided_access: UndecidedTestAccess,
}

impl Engine {
    pub(in crate::engine) fn run_baseline_tests(&mut self, test: TestCommand) {
        let settings = self.test_settings(Some(&test));
        let run = BaselineRun {
            git: self.run.repository.clone(),
            root: self.run.setup.root.clone(),
            undecided_access: self.undecided_test_access(&settings),
            test,
            settings,
        };
        self.baseline_stop = self.run.cancel.child_token();
        let stop = self.baseline_stop.clone();
        self.run.spawn_event_task(async move {
            match run.run_between_snapshots(&stop).await {
                Ok(found) => Event::BaselineRan(found),
                Err(TestRunError::Cancelled) => Event::BaselineSkipped {
                    reason: "you stopped them".to_owned(),
                },
                Err(error @ TestRunError::Git(_)) => Event::BaselineSkipped {
                    reason: error.to_string(),
                },
            }
        });
    }

    /// Stops the baseline tests and every process they started.
    pub(in crate::engine) fn stop_baseline_tests(&self) {
        self.baseline_stop.cancel();
    }
}

impl BaselineRun {
    async fn run_between_snapshots(
        &self,
        stop: &CancellationToken,
    ) -> Result<TestBaseline, TestRunError> {
        let Some(git) = &self.git else {
            let receipt = self.run_tests(stop).await?;
            return Ok(TestBaseline {
                receipt,
                made_by_tests: Vec::new(),
                changed: Vec::new(),
            });
        };
        let (before, known) = (git.current_tree().await?, untracked_paths(git).await?);
        let mut receipt = self.run_tests(stop).await?;
        let now = git.snapshot(TREE_NAME).await?.tree;
        let mut changed = change_paths(&git.changes_between(&before, &now).await?);
        let mut made_by_tests: Vec<String> = untracked_paths(git).await?.into_iter().collect();
        made_by_tests.retain(|path| !known.contains(path));
        changed.retain(|path| !made_by_tests.contains(path));
        receipt.tree_before = Some(before.0);
        receipt.tree_after = Some(now.0);
        Ok(TestBaseline {
            receipt,
            made_by_tests,
            changed,
        })
    }

    async fn run_tests(
        &self,
        stop: &CancellationToken,
    ) -> Result<crate::domain::receipt::Receipt, TestRunError> {
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
        let mut receipt = test_runner::run_tests(run, stop).await?;
        receipt.origin = Some(self.test.origin.clone());
        self.undecided_access.note_missing_access(&mut receipt);
        Ok(receipt)
    }
}
