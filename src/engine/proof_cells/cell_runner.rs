//! Runs the tests of one cell: lays its tree down, carries into it what no commit holds, and reads the runner's report.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use super::carried_folders::{CarriedFolders, carry_into_copy, fingerprint_build};
use super::joined_cells::join_cells;
use super::seen_trees::SeenTrees;
use crate::domain::ids::Sha256;
use crate::domain::proof_progress::{ProofProgress, ProofRun, ProofRunEnd, RunTime};
use crate::domain::receipt::{Receipt, TestOutcome};
use crate::domain::receipt_chain::CheckLink;
use crate::domain::step_proof::{CellRun, ProofCell};
use crate::domain::test_report::{TestIdentity, TestReport, TestStatus};
use crate::engine::engine_input::EngineInput;
use crate::engine::git::{CleanTreeFolder, GitRepository, TreeId};
use crate::engine::receipt_writer::ReceiptWriter;
use crate::engine::sandbox::{self, CleanCopyMounts, CommandReach};
use crate::engine::test_runner::{
    self, FinishedTestRun, TestCommandLine, TestRun, TestRunError, TestSettings, find_runner,
    select_test_files, select_tests,
};
use crate::process::{SandboxMount, SandboxSupport};
use crate::text::clean_text;

/// Everything that the cells of a run share.
#[derive(Debug, Clone)]
pub(in crate::engine) struct CellRunner {
    pub(super) git: GitRepository,
    pub(super) root: PathBuf,
    /// The folder for the clean copies of this run.
    pub(super) place: PathBuf,
    /// The folder around it, which no command in a sandbox sees.
    pub(super) hidden: PathBuf,
    /// What runs in a cell, one after another, each in a copy that is laid down again.
    pub(super) commands: Vec<TestCommandLine>,
    /// What prepares a copy before its tests.
    pub(super) setup: Option<TestCommandLine>,
    /// The paths that `test.carry` names.
    pub(super) carry: Vec<String>,
    pub(super) settings: TestSettings,
    pub(super) support: SandboxSupport,
    pub(super) reach: CommandReach,
    /// Where the receipts of the checks go, and where earlier results are found; `None` keeps none and uses none.
    pub(super) receipts: Option<ReceiptWriter>,
    /// What the trees that were laid down have of their own.
    pub(super) seen_trees: SeenTrees,
    /// The step that is checked; 0 before the first.
    pub(super) step: u32,
    /// The test files that run, by path; all where it is empty, or where the command cannot be narrowed to them.
    pub(super) selection: Vec<String>,
    /// The tests that run, of the one command that can be narrowed to them; all where it is empty.
    pub(super) alone: BTreeSet<TestIdentity>,
    /// Notified when the copy of a cell is prepared and its tests start.
    pub(super) copy_prepared: Arc<Notify>,
    /// Who hears which run starts and ends; `None` where nobody watches.
    pub(super) progress: Option<mpsc::Sender<EngineInput>>,
}

/// The tests of one cell, as they ended.
#[derive(Debug, Clone)]
pub(in crate::engine) struct FinishedCell {
    pub(in crate::engine) tree: TreeId,
    pub(in crate::engine) receipt: Receipt,
    /// The tests by identity; `None` where only the exit code is known.
    pub(in crate::engine) report: Option<TestReport>,
    /// What the user should know about the copy, one line each.
    pub(in crate::engine) doubts: Vec<String>,
    /// The number of its receipt.
    pub(in crate::engine) number: Option<u32>,
    /// Whether an earlier run on the same tree was used.
    pub(in crate::engine) is_reused: bool,
    /// The hash of the environment that it ran in.
    pub(super) environment: Sha256,
}

/// A copy that is ready for a test run.
struct CopyRoom {
    /// How commands run in it.
    settings: TestSettings,
    /// Where the runner writes its report.
    report: PathBuf,
    /// Where cargo builds.
    target: PathBuf,
}

impl FinishedCell {
    /// A tree without any of the selected tests.
    fn without_tests(tree: &TreeId) -> Self {
        let receipt = Receipt {
            outcome: TestOutcome::NoTests,
            ..Receipt::without_command()
        };
        Self {
            tree: tree.clone(),
            receipt,
            report: Some(TestReport::default()),
            doubts: Vec::new(),
            number: None,
            is_reused: false,
            environment: Sha256::new(""),
        }
    }

    /// Returns whether the command fails although its report names no test that does, as where a build fails.
    pub(super) fn fails_without_a_test(&self) -> bool {
        self.receipt.outcome == TestOutcome::Failed
            && self
                .report
                .as_ref()
                .is_some_and(|report| report.count(TestStatus::Failed) == 0)
    }

    /// Returns whether its report names a test.
    pub(super) fn names_tests(&self) -> bool {
        let report = self.report.as_ref();
        report.is_some_and(|report| !report.tests.is_empty())
    }

    /// Describes the cell for a proof.
    pub(super) fn to_cell_run(&self, cell: ProofCell) -> CellRun {
        let count = |status| {
            self.report
                .as_ref()
                .map_or(0, |report| report.count(status))
        };
        CellRun {
            cell,
            tree: self.tree.0.clone(),
            outcome: self.receipt.outcome.clone(),
            exit_code: self.receipt.exit_code,
            duration_ms: if self.is_reused {
                0
            } else {
                self.receipt.duration_ms
            },
            n_passed: count(TestStatus::Passed),
            n_failed: count(TestStatus::Failed),
            n_skipped: count(TestStatus::Skipped),
            receipt: self.number,
            is_reused: self.is_reused,
        }
    }
}

impl CellRunner {
    /// Runs the tests on a tree, and reports that.
    ///
    /// # Errors
    /// The run is being stopped, or a copy cannot be prepared.
    pub(super) async fn run_cell(
        &self,
        cell: ProofCell,
        tree: &TreeId,
        cancel: &CancellationToken,
    ) -> Result<FinishedCell, TestRunError> {
        self.run_as(ProofRun::Cell(cell), cell, tree, cancel).await
    }

    /// Runs the tests of a cell on a tree, and reports it under another name.
    ///
    /// # Errors
    /// The run is being stopped, or a copy cannot be prepared.
    pub(super) async fn run_as(
        &self,
        run: ProofRun,
        cell: ProofCell,
        tree: &TreeId,
        cancel: &CancellationToken,
    ) -> Result<FinishedCell, TestRunError> {
        self.report(run, None).await;
        let ran = self.run_unreported(cell, tree, cancel).await?;
        let time = if ran.is_reused {
            RunTime::Reused
        } else {
            RunTime::Took(ran.receipt.duration_ms)
        };
        let end = run.end(&ran.receipt.outcome, ran.receipt.exit_code, time);
        self.report(run, Some(end)).await;
        Ok(ran)
    }

    /// Reports that a run starts, or how it ended.
    pub(super) async fn report(&self, run: ProofRun, end: Option<ProofRunEnd>) {
        let step = self.step;
        if let Some(progress) = &self.progress {
            let news = EngineInput::ProofProgress(ProofProgress { step, run, end });
            // The receiver is gone only if the program is about to end.
            let _nobody = progress.send(news).await;
        }
    }

    /// Runs the tests on a tree; a tree whose tests ran before in the same environment is not tested again.
    ///
    /// # Errors
    /// The run is being stopped, or a copy cannot be prepared.
    pub(super) async fn run_unreported(
        &self,
        cell: ProofCell,
        tree: &TreeId,
        cancel: &CancellationToken,
    ) -> Result<FinishedCell, TestRunError> {
        let mut finished = Vec::new();
        for command in &self.commands {
            let ran = self.run_command_cell(command, cell, tree, cancel).await?;
            finished.push(ran);
        }
        join_cells(finished)
            .ok_or_else(|| TestRunError::Copy("there is no test command".to_owned()))
    }

    async fn run_command_cell(
        &self,
        command: &TestCommandLine,
        cell: ProofCell,
        tree: &TreeId,
        cancel: &CancellationToken,
    ) -> Result<FinishedCell, TestRunError> {
        if let Some(known) = self.find_without_copy(command, cell, tree).await? {
            return Ok(known);
        }
        let slot = self.place.join(slot_name(cell));
        let folder = CleanTreeFolder::new(slot.clone());
        let ready = self.seen_trees.take_ready(&slot, tree);
        let missing = match ready.filter(|_| folder.files().is_dir()) {
            Some(missing) => missing,
            None => self.git.clean_trees().lay_down_tree(tree, &folder).await?,
        };
        let Some(command) = &self.narrow(command, &folder.files()) else {
            return Ok(FinishedCell::without_tests(tree));
        };
        let mut carried = self.carry(folder.files()).await?;
        carried.note_missing(&missing);
        self.seen_trees.keep(tree, &missing, &carried);
        let environment = self.environment_hash(&carried);
        if let Some(known) =
            self.find_earlier(command, cell, tree, &environment, &carried.doubts)?
        {
            return Ok(known);
        }
        let doubts = carried.doubts.clone();
        let room = self.prepare_copy(&slot, &folder, carried)?;
        self.copy_prepared.notify_one();
        let failed = self.set_up(&room.settings, cancel).await?;
        let (receipt, report, number) = match failed {
            Some(failed) => (failed, None, None),
            None => {
                let (ran, report) = self
                    .run_in_copy(command, room, &folder.files(), cancel)
                    .await?;
                let FinishedTestRun {
                    mut receipt,
                    output,
                } = ran;
                receipt.command = command.to_string();
                receipt.tree_before = Some(tree.0.clone());
                receipt.tree_after = Some(tree.0.clone());
                let number =
                    self.keep_receipt(cell, tree, &receipt, &report, output, &environment)?;
                (receipt, report, number)
            }
        };
        Ok(FinishedCell {
            tree: tree.clone(),
            receipt,
            report,
            doubts,
            number,
            is_reused: false,
            environment,
        })
    }

    /// Runs the tests of a cell, and does something else while they run; not at all where they do not.
    ///
    /// # Errors
    /// The run is being stopped, or a copy cannot be prepared.
    pub(super) async fn run_beside(
        &self,
        run: ProofRun,
        (cell, tree): (ProofCell, &TreeId),
        other: impl Future<Output = ()>,
        cancel: &CancellationToken,
    ) -> Result<FinishedCell, TestRunError> {
        let mut cells = self.clone();
        cells.copy_prepared = Arc::default();
        let run = cells.run_as(run, cell, tree, cancel);
        tokio::pin!(run);
        tokio::select! {
            ended = &mut run => ended,
            () = cells.copy_prepared.notified() => {
                self.copy_prepared.notify_one();
                tokio::join!(run, other).0
            }
        }
    }

    /// Lays the copy of a later cell down, in a place that the running one does not use. Where that fails, the cell tries
    /// it again and says why.
    pub(super) async fn lay_copy_down(&self, cell: ProofCell, tree: &TreeId) {
        let slot = self.place.join(slot_name(cell));
        let folder = CleanTreeFolder::new(slot.clone());
        let _replaced = self.seen_trees.take_ready(&slot, tree);
        if let Ok(missing) = self.git.clean_trees().lay_down_tree(tree, &folder).await {
            self.seen_trees.keep_ready(slot, tree.clone(), missing);
        }
    }

    /// Returns the command for the selected tests of a copy; `None` where the copy has none of their files.
    fn narrow(&self, command: &TestCommandLine, files: &Path) -> Option<TestCommandLine> {
        if !self.alone.is_empty() && self.commands.len() == 1 {
            let narrowed = select_tests(command, files, &self.alone);
            return narrowed.or_else(|| Some(command.clone()));
        }
        // Which of several commands runs a file is not known.
        if self.selection.is_empty() || self.commands.len() > 1 {
            return Some(command.clone());
        }
        let is_there = |path: &&String| files.join(path).is_file();
        let there: Vec<String> = self.selection.iter().filter(is_there).cloned().collect();
        let narrowed = select_test_files(command, files, &there);
        // What cannot be narrowed is run as a whole, wherever the files are.
        let is_whole = || select_test_files(command, files, &self.selection).is_none();
        narrowed.or_else(|| is_whole().then(|| command.clone()))
    }

    /// Prepares the sandbox of a copy that was laid down, and the folders beside it.
    fn prepare_copy(
        &self,
        slot: &Path,
        folder: &CleanTreeFolder,
        carried: CarriedFolders,
    ) -> Result<CopyRoom, TestRunError> {
        let (report, target) = (slot.join("report"), slot.join("target"));
        make_empty_folder(&report)?;
        let mut inside = carried.mounts;
        if self.root.join("Cargo.toml").is_file() {
            fs::create_dir_all(&target).map_err(|error| copy_error(&target, &error))?;
            let mount = SandboxMount::BindFrom(target.clone());
            inside.push((PathBuf::from("target"), mount));
        }
        let copy = CleanCopyMounts {
            files: folder.files(),
            writable: vec![report.clone()],
            inside,
        };
        let mut settings = self.settings.clone();
        settings.sandbox = sandbox::clean_copy_sandbox_spec(
            &self.support,
            &self.root,
            &self.hidden,
            &copy,
            &self.reach,
        );
        if settings.sandbox.is_none() {
            let why = "there is no sandbox on this system".to_owned();
            return Err(TestRunError::Copy(why));
        }
        Ok(CopyRoom {
            settings,
            report,
            target,
        })
    }

    /// Runs the tests in a copy that is ready, and reads what they report.
    async fn run_in_copy(
        &self,
        test: &TestCommandLine,
        room: CopyRoom,
        files: &Path,
        cancel: &CancellationToken,
    ) -> Result<(FinishedTestRun, Option<TestReport>), TestRunError> {
        let CopyRoom {
            mut settings,
            report: report_folder,
            target,
        } = room;
        let runner = find_runner(test, files);
        let mut command = test.clone();
        if let Some(runner) = &runner {
            let prepared = runner.prepare_folder(&report_folder);
            prepared.map_err(|error| copy_error(&report_folder, &error))?;
            let variables = runner.report_variables(&report_folder, &settings.env);
            settings.env.extend(variables);
            command = runner.reporting_command(&command, &report_folder);
        }
        let build = runner.as_ref();
        let build = build.and_then(|runner| runner.build_command(&command));
        let mut built = None;
        if let Some(build) = &build {
            self.run_command(build, &settings, cancel).await?;
            built = fingerprint_build(&target).ok();
        }
        let mut ran = self.run_command(&command, &settings, cancel).await?;
        // Tests that write among what was built could decide what the next cell runs.
        if build.is_some() && (built.is_none() || fingerprint_build(&target).ok() != built) {
            make_empty_folder(&target)?;
        }
        let report = runner.map(|runner| {
            let (output, exit_code) = (ran.output.as_deref(), ran.receipt.exit_code);
            let report = runner.read_report(&report_folder, &self.root, output, exit_code);
            if let Some(output) = output.and_then(|output| runner.readable_output(output)) {
                ran.replace_output(output, test, &clean_text);
            }
            report
        });
        Ok((ran, report))
    }

    fn keep_receipt(
        &self,
        cell: ProofCell,
        tree: &TreeId,
        receipt: &Receipt,
        report: &Option<TestReport>,
        output: Option<String>,
        environment: &Sha256,
    ) -> Result<Option<u32>, TestRunError> {
        let Some(receipts) = &self.receipts else {
            return Ok(None);
        };
        let check = CheckLink {
            step: self.step,
            cell,
            command: receipt.command.clone(),
            tree: tree.0.clone(),
            outcome: receipt.outcome.clone(),
            exit_code: receipt.exit_code,
            duration_ms: receipt.duration_ms,
            sandboxed: true,
            network: format!("{:?}", self.reach.network).to_lowercase(),
            without_ci: !self.settings.sets_ci,
            report: report.clone(),
            // The writer fills it in.
            output_sha256: Sha256::new(""),
            environment_sha256: environment.clone(),
        };
        let output = output.map(|output| clean_text(&output));
        let output = output.as_deref().unwrap_or(&receipt.output_tail);
        let kept = receipts.append_check(check, output);
        let kept = kept.map_err(|error| TestRunError::Copy(error.to_string()))?;
        Ok(Some(kept.number))
    }

    async fn carry(&self, files: PathBuf) -> Result<CarriedFolders, TestRunError> {
        let (root, copies) = (self.root.clone(), self.place.join("carried"));
        let named = self.carry.clone();
        let carried =
            tokio::task::spawn_blocking(move || carry_into_copy(&root, &files, &copies, &named));
        let carried = carried
            .await
            .map_err(|error| TestRunError::Copy(error.to_string()))?;
        carried.map_err(TestRunError::Copy)
    }

    /// Prepares the copy; returns the receipt of a preparation that failed.
    async fn set_up(
        &self,
        settings: &TestSettings,
        cancel: &CancellationToken,
    ) -> Result<Option<Receipt>, TestRunError> {
        let Some(setup) = &self.setup else {
            return Ok(None);
        };
        let ran = self.run_command(setup, settings, cancel).await?.receipt;
        let is_ready = ran.exit_code == Some(0) && ran.outcome != TestOutcome::TimedOut;
        let why = format!("test.setup `{setup}` failed: {}", ran.describe());
        Ok((!is_ready).then_some(Receipt {
            outcome: TestOutcome::NotStarted(why),
            ..ran
        }))
    }

    async fn run_command(
        &self,
        command: &TestCommandLine,
        settings: &TestSettings,
        cancel: &CancellationToken,
    ) -> Result<FinishedTestRun, TestRunError> {
        let run = TestRun {
            command,
            root: &self.root,
            repository: None,
            settings,
            clean: &clean_text,
        };
        test_runner::run_tests_with_output(run, cancel).await
    }
}

/// Old and new code have copies of their own, so that build tools keep what they built for each.
fn slot_name(cell: ProofCell) -> &'static str {
    match cell {
        ProofCell::Baseline | ProofCell::Red => "old",
        ProofCell::Green | ProofCell::Kept => "new",
    }
}

fn make_empty_folder(folder: &Path) -> Result<(), TestRunError> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|error| copy_error(folder, &error))?;
    }
    fs::create_dir_all(folder).map_err(|error| copy_error(folder, &error))
}

fn copy_error(path: &Path, error: &std::io::Error) -> TestRunError {
    TestRunError::Copy(format!("{}: {error}", path.display()))
}

/// Parses `test.env`: `NAME` keeps the user's variable, `NAME=value` sets one.
pub(super) fn parse_test_variables(entries: &[String]) -> BTreeMap<String, String> {
    let variable = |entry: &String| match entry.split_once('=') {
        Some((name, value)) => Some((name.to_owned(), value.to_owned())),
        None => Some((entry.clone(), std::env::var(entry).ok()?)),
    };
    entries.iter().filter_map(variable).collect()
}
