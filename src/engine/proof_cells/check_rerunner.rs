//! Runs the check of a receipt again, outside of any run (TRUTH.md T32): its tree in a clean copy, its command in the
//! sandbox of this machine's configuration.
//!
//! Writes no receipt and uses no earlier result. Trees that no commit holds are built again from those before and after
//! their step, as objects that no reference names.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::cell_runner::{CellRunner, FinishedCell};
use super::cell_settings;
use super::cell_trees::StepTrees;
use super::files_named_in;
use super::seen_trees::SeenTrees;
use crate::config::AppConfig;
use crate::domain::ids::RunId;
use crate::domain::receipt::TestOutcome;
use crate::domain::receipt_chain::{StepCheck, describe_differences};
use crate::domain::test_paths::TestPaths;
use crate::engine::git::{GitError, GitRepository, TreeId, is_object_id};
use crate::engine::run_setup::decided_test_reach;
use crate::engine::sandbox;
use crate::engine::test_runner::{TestCommandLine, TestRunError};
use crate::process::{ChildSpawner, SandboxSupport};
use crate::store::approval_store::ApprovalStore;
use crate::store::worktree_records::WorktreeRegistry;

/// The mark of the processes; it is no run's, so that no run takes them for its own.
const RERUN_MARK: &str = "verify";
/// What the names of folders with clean copies begin with.
const COPIES_PREFIX: &str = "verify-";
/// How often a check runs that ends otherwise than its receipt says: tests may be flaky.
const MAX_TRIES: u32 = 2;

/// Where checks are run again.
#[derive(Debug)]
pub struct RerunGround<'a> {
    pub repository: GitRepository,
    /// The repository's real root.
    pub root: &'a Path,
    pub config: &'a AppConfig,
    /// Holds what the user decided about tests of this repository.
    pub approvals: &'a ApprovalStore,
    /// The folder in the user's cache for clean copies.
    pub worktrees: &'a WorktreeRegistry,
    pub support: SandboxSupport,
    /// The run that the receipts belong to.
    pub run: &'a RunId,
}

/// What running a check again shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RerunResult {
    /// The outcome and each test are as the receipt says.
    Same,
    /// In the same environment they are not; the text names the first differences.
    Different(String),
    /// It shows nothing; the text says why.
    NotRun(String),
}

/// Runs the checks of one chain again. Its clean copies are removed when it is dropped.
#[derive(Debug)]
pub struct CheckRerunner {
    cells: CellRunner,
    tests: TestPaths,
    _copies: TempDir,
}

impl CheckRerunner {
    /// Prepares a folder for clean copies.
    ///
    /// # Errors
    /// There is no sandbox or no such folder; the text says why.
    pub fn prepare(ground: RerunGround<'_>) -> Result<Self, String> {
        if let SandboxSupport::Unavailable(why) = &ground.support {
            return Err(format!("there is no sandbox here: {why}"));
        }
        let no_folder =
            |error: std::io::Error| format!("there is no folder for clean copies: {error}");
        let hidden = ground.worktrees.prepare_folder(ground.root);
        let hidden = hidden.map_err(no_folder)?;
        let copies = tempfile::Builder::new()
            .prefix(COPIES_PREFIX)
            .tempdir_in(&hidden)
            .map_err(no_folder)?;
        let test = &ground.config.test;
        let setup = test.setup.as_deref().and_then(TestCommandLine::parse);
        let mut reach = decided_test_reach(ground.config, ground.approvals, ground.run);
        reach.run = RERUN_MARK.to_owned();
        let cells = CellRunner {
            git: sandbox::sandbox_git_reads(ground.repository, &ground.support),
            root: ground.root.to_owned(),
            place: copies.path().to_owned(),
            hidden,
            // Each check brings its own.
            commands: Vec::new(),
            setup,
            carry: test.carry.clone(),
            settings: cell_settings(ground.config, &ChildSpawner::default(), RERUN_MARK),
            support: ground.support,
            reach,
            receipts: None,
            seen_trees: SeenTrees::default(),
            alone: BTreeSet::new(),
            copy_prepared: Arc::default(),
            step: 0,
            selection: Vec::new(),
            progress: None,
        };
        Ok(Self {
            cells,
            tests: TestPaths::new(&test.paths),
            _copies: copies,
        })
    }

    /// Runs a check again, a second time if it ends otherwise than its receipt says.
    ///
    /// # Errors
    /// It was stopped.
    pub async fn rerun(
        &self,
        check: &StepCheck<'_>,
        cancel: &CancellationToken,
    ) -> Result<RerunResult, TestRunError> {
        match self.try_rerun(check, cancel).await {
            Err(error) if cancel.is_cancelled() => Err(error),
            Err(error) => Ok(RerunResult::NotRun(error.to_string())),
            Ok(result) => Ok(result),
        }
    }

    async fn try_rerun(
        &self,
        step_check: &StepCheck<'_>,
        cancel: &CancellationToken,
    ) -> Result<RerunResult, TestRunError> {
        let check = step_check.check;
        if !matches!(
            check.outcome,
            TestOutcome::Passed | TestOutcome::Failed | TestOutcome::NoTests
        ) {
            let why = "it did not run to its end then, either";
            return Ok(RerunResult::NotRun(why.to_owned()));
        }
        let Some(command) = TestCommandLine::parse(&check.command) else {
            return Ok(RerunResult::NotRun("it has no command".to_owned()));
        };
        let Some(tree) = self.find_tree(step_check).await? else {
            let why =
                "its tree is not in this repository and cannot be built from the step's commits";
            return Ok(RerunResult::NotRun(why.to_owned()));
        };
        let mut settings = self.cells.settings.clone();
        settings.sets_ci = !check.without_ci;
        let cells = CellRunner {
            commands: vec![command],
            settings,
            reach: self.cells.reach.clone().with_command_paths(&check.command),
            ..self.cells.clone()
        };
        let mut differences = String::new();
        for _ in 0..MAX_TRIES {
            let ran = cells.run_unreported(check.cell, &tree, cancel).await?;
            if let Some(why) = why_unusable(&ran, check.exit_code) {
                return Ok(RerunResult::NotRun(why));
            }
            let found = describe_differences(
                check,
                &step_check.step.flaky,
                &ran.receipt.outcome,
                ran.report.as_ref(),
            );
            match found {
                None => return Ok(RerunResult::Same),
                Some(found) if ran.environment != check.environment_sha256 => {
                    return Ok(RerunResult::NotRun(format!(
                        "the environment is another one here (packages, network, or settings of tests), and so is the result: {found}"
                    )));
                }
                Some(found) => differences = found,
            }
        }
        Ok(RerunResult::Different(differences))
    }

    /// Finds the tree of a check, or builds it again from the trees before and after the step.
    async fn find_tree(&self, check: &StepCheck<'_>) -> Result<Option<TreeId>, GitError> {
        let tree = TreeId(check.check.tree.clone());
        if self.has_tree(&tree).await {
            return Ok(Some(tree));
        }
        let step = check.step;
        let [old, new] = [&step.tree_before, &step.tree_after].map(|id| TreeId(id.clone()));
        if !self.has_tree(&old).await || !self.has_tree(&new).await {
            return Ok(None);
        }
        let proof_command = check.other_command.unwrap_or(&check.check.command);
        let with_scripts = self.tests.clone();
        let with_scripts = with_scripts.with_files(&files_named_in(proof_command));
        for tests in [&self.tests, &with_scripts] {
            let trees = StepTrees::divide(&self.cells.git, old.clone(), new.clone(), tests).await?;
            if [trees.red, trees.kept].contains(&tree) {
                return Ok(Some(tree));
            }
        }
        Ok(None)
    }

    /// Returns whether the repository has all of a tree.
    async fn has_tree(&self, tree: &TreeId) -> bool {
        // A receipt may hold any text, and git takes some texts for options.
        is_object_id(&tree.0) && self.cells.git.trees().has_whole_tree(tree).await
    }
}

/// Returns why the result of a run says nothing about a receipt; `None` where it does.
fn why_unusable(ran: &FinishedCell, expected: Option<i32>) -> Option<String> {
    match &ran.receipt.outcome {
        TestOutcome::NotStarted(why) => Some(why.clone()),
        TestOutcome::TimedOut => Some("it takes longer than test.timeout here".to_owned()),
        TestOutcome::Failed
            if matches!(ran.receipt.exit_code, Some(126 | 127))
                && ran.receipt.exit_code != expected =>
        {
            Some("a program that it needs cannot be started here".to_owned())
        }
        TestOutcome::Passed
        | TestOutcome::Failed
        | TestOutcome::NoTests
        | TestOutcome::NoCommand => None,
    }
}
