//! The tests before the first step, between two looks at the tree.
//!
//! Refuses to put anything back: what changes meanwhile may be the user's.

use std::path::PathBuf;

use tokio_util::sync::CancellationToken;

use crate::domain::event::Event;
use crate::domain::plan_execution::TestBaseline;
use crate::domain::receipt::Receipt;
use crate::domain::test_command::TestCommand;
use crate::engine::Engine;
use crate::engine::git::Repository;
use crate::engine::test_run::{self, TestRun, TestRunError, TestSettings};
use crate::text::clean_text;

use super::Unsaid;
use super::looks::{paths_of, untracked};

/// The tree as it is kept for whoever looks at the receipt.
const TREE_NAME: &str = "baseline-after";

/// What the run needs.
struct BaselineRun {
    git: Option<Repository>,
    root: PathBuf,
    test: TestCommand,
    settings: TestSettings,
    /// Of what nobody has said yet whether tests get it.
    unsaid: Unsaid,
}

impl Engine {
    pub(in crate::engine) fn run_baseline(&mut self, test: TestCommand) {
        let settings = self.test_settings(Some(&test));
        let run = BaselineRun {
            git: self.repository.clone(),
            root: self.setup.root.clone(),
            unsaid: self.unsaid(&settings),
            test,
            settings,
        };
        self.baseline_stop = self.cancel.child_token();
        let stop = self.baseline_stop.clone();
        self.spawn(async move {
            match run.between_looks(&stop).await {
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

    /// Ends the tests before the first step, and all that they started.
    pub(in crate::engine) fn stop_baseline(&self) {
        self.baseline_stop.cancel();
    }
}

impl BaselineRun {
    async fn between_looks(&self, stop: &CancellationToken) -> Result<TestBaseline, TestRunError> {
        let Some(git) = &self.git else {
            let receipt = self.receipt(stop).await?;
            return Ok(TestBaseline {
                receipt,
                made_by_tests: Vec::new(),
                changed: Vec::new(),
            });
        };
        let (before, known) = (git.tree_now().await?, untracked(git).await?);
        let mut receipt = self.receipt(stop).await?;
        let now = git.snapshot(TREE_NAME).await?.tree;
        let mut changed = paths_of(&git.changes_between(&before, &now).await?);
        let mut made_by_tests: Vec<String> = untracked(git).await?.into_iter().collect();
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

    async fn receipt(
        &self,
        stop: &CancellationToken,
    ) -> Result<crate::domain::receipt::Receipt, TestRunError> {
        let command = test_run::TestCommand::parse(&self.test.command);
        let Some(command) = command else {
            return Ok(Receipt::without_command());
        };
        let run = TestRun {
            command: &command,
            root: &self.root,
            // The looks around it are its trees.
            repository: None,
            settings: &self.settings,
            clean: &clean_text,
        };
        let mut receipt = test_run::run(run, stop).await?;
        receipt.origin = Some(self.test.origin.clone());
        self.unsaid.look_at(&mut receipt);
        Ok(receipt)
    }
}
