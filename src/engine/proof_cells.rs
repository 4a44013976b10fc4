//! Proves steps: old and new tests on old and new code, in clean copies of the repository (TRUTH.md T22, T26).
//!
//! The copies come from git objects, so that neither untracked nor ignored files count, and tests that run there change
//! nothing in the user's working tree. What the results mean is decided by the domain.

mod carried_folders;
mod cell_runner;
mod cell_trees;
mod check_rerunner;
mod ci_variable;
mod earlier_cells;
mod flaky_tests;
mod joined_cells;
mod mutant_trial;
mod seen_trees;
mod step_cells;
mod suite_check;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

pub use check_rerunner::{CheckRerunner, RerunGround, RerunResult};
pub(in crate::engine) use seen_trees::SeenTrees;

use cell_runner::{CellRunner, FinishedCell, parse_test_variables};
use cell_trees::{StepTrees, tree_with_paths};
use step_cells::{compare_cells, files_named_in};
use suite_check::SuiteHistory;

use super::execution_effects::{path_from_event_text, path_to_event_text, unsandboxed_settings};
use super::git::TreeId;
use super::run_context::RunContext;
use super::test_runner::{TestCommandLine, TestRunError, TestSettings};
use crate::config::AppConfig;
use crate::domain::mutants::find_runner_checks;
use crate::domain::plan::proof_lines::{ProofClaim, StepProofPlan};
use crate::domain::plan_execution::{PlanExecution, StepOutcome};
use crate::domain::proof_progress::ProofRun;
use crate::domain::question::CommitTarget;
use crate::domain::receipt::{Receipt, TestOutcome};
use crate::domain::step_proof::{
    CommandProof, ProofCell, ProofScope, StepProof, TestNames, find_test_files,
};
use crate::domain::test_command::TestCommand;
use crate::domain::test_paths::TestPaths;
use crate::domain::test_report::{TestIdentity, TestReport};
use crate::process::{ChildSpawner, SandboxSupport};

/// How many files and folders in no commit are tried where tests fail in a clean copy.
const MAX_MISSING_FILES: usize = 30;
/// The name of the folder for clean copies beside the work trees of tasks.
const CELLS_FOLDER: &str = "cells";

/// Proves the steps of a run.
#[derive(Debug, Clone)]
pub(in crate::engine) struct StepProver {
    cells: CellRunner,
    test: TestCommand,
    tests: TestPaths,
    scope: ProofScope,
    /// The test files that the plan names for the step.
    named_tests: Vec<String>,
    suite: SuiteHistory,
    /// Whether a step's commit contains everything that the step changed, so that commits tell the code before a step.
    is_committing: bool,
}

/// The trees before and after a step, as commits hold them.
#[derive(Debug, Clone)]
pub(in crate::engine) struct StepTreePair {
    before: TreeId,
    after: TreeId,
}

impl StepProver {
    /// Returns what proves the steps of a run.
    ///
    /// # Errors
    /// Nothing can: proofs are off, or a part that they need is missing. The text says which.
    pub(in crate::engine) fn for_run(
        run: &RunContext,
        test: Option<&TestCommand>,
    ) -> Result<Self, String> {
        let (setup, state) = (&run.setup, run.state());
        let test = test.filter(|test| TestCommandLine::parse(&test.command).is_some());
        let (Some(git), Some(test)) = (run.repository.clone(), test) else {
            return Err("there is no test command or no store of trees".to_owned());
        };
        match &setup.sandbox_support {
            _ if !state.settings.proves_steps => return Err("proofs are off".to_owned()),
            _ if !setup.config.safety.contain_tests => {
                return Err("safety.contain_tests is off".to_owned());
            }
            SandboxSupport::Unavailable(why) => {
                return Err(format!("there is no sandbox for clean copies: {why}"));
            }
            SandboxSupport::Available(_) => {}
        }
        let step = state.current_step_number().unwrap_or(0);
        let config = &setup.config.test;
        let settings = cell_settings(&setup.config, &setup.spawner, state.run.as_str());
        let hidden = setup.worktrees.prepare_folder(&setup.root);
        let hidden =
            hidden.map_err(|error| format!("there is no folder for clean copies: {error}"))?;
        let reach = setup.command_reach(&state.run);
        let cells = CellRunner {
            git,
            root: setup.root.clone(),
            place: hidden.join(CELLS_FOLDER).join(state.run.as_str()),
            hidden,
            setup: config.setup.as_deref().and_then(TestCommandLine::parse),
            carry: config.carry.clone(),
            support: setup.sandbox_support.clone(),
            reach: reach.with_command_paths(&test.command),
            receipts: Some(run.receipts.clone()),
            seen_trees: run.seen_trees.clone(),
            alone: BTreeSet::new(),
            copy_prepared: Arc::default(),
            step,
            progress: Some(run.inputs.clone()),
            commands: parse_commands(test.commands_for(&[])),
            settings,
            selection: Vec::new(),
        };
        Ok(Self {
            cells,
            test: test.clone(),
            tests: TestPaths::new(&config.paths),
            scope: state.proof_scope(step),
            named_tests: state.step_proof_plan(step).named_test_files(),
            suite: SuiteHistory::of(state),
            is_committing: state.execution.as_ref().is_some_and(commits_every_step),
        })
    }

    /// Runs the tests on the code before the first step; `now` is the whole working tree. Returns what they report, too,
    /// where their runner names them.
    ///
    /// # Errors
    /// The run is being stopped, or a copy cannot be prepared.
    pub(in crate::engine) async fn run_baseline(
        &self,
        now: TreeId,
        cancel: &CancellationToken,
    ) -> Result<(Receipt, Option<TestReport>), TestRunError> {
        let before = self.tree_before(now).await?;
        let cell = self.cells.run_cell(ProofCell::Baseline, &before, cancel);
        let FinishedCell {
            mut receipt,
            report,
            ..
        } = cell.await?;
        let failed = report.iter().flat_map(|report| report.failed());
        let failed: Vec<String> = failed.map(ToString::to_string).collect();
        // Names from the report are whole, those in the output only what a runner prints.
        if !failed.is_empty() {
            receipt.failed_tests = failed;
        }
        Ok((receipt, report))
    }

    /// Returns the code before a step: the last commit, or the working tree before the step where not every step is
    /// committed.
    async fn tree_before(&self, working: TreeId) -> Result<TreeId, TestRunError> {
        if self.is_committing
            && let Some(head) = self.cells.git.branches().head_tree().await?
        {
            return Ok(head);
        }
        Ok(working)
    }

    /// Returns the trees before and after a step: only the paths that its commit contains differ.
    ///
    /// # Errors
    /// Git fails.
    pub(in crate::engine) async fn step_span(
        &self,
        working_before: TreeId,
        now: &TreeId,
        paths: &[String],
    ) -> Result<StepTreePair, TestRunError> {
        let before = self.tree_before(working_before).await?;
        let paths: Vec<PathBuf> = paths
            .iter()
            .map(|path| path_from_event_text(path))
            .collect();
        let after = tree_with_paths(&self.cells.git, &before, now, &paths).await?;
        Ok(StepTreePair { before, after })
    }

    /// Returns the same prover with the commands that test what a step changes and what its plan names.
    async fn with_commands_for(
        &self,
        span: &StepTreePair,
        named: Vec<String>,
    ) -> Result<Self, TestRunError> {
        let git = &self.cells.git;
        let changes = git
            .trees()
            .path_changes_between(&span.before, &span.after)
            .await?;
        let changed = changes.keys().map(|path| path_to_event_text(path));
        let paths: Vec<String> = changed.chain(named).collect();
        let mut prover = self.clone();
        prover.cells.commands = parse_commands(self.test.commands_for(&paths));
        Ok(prover)
    }

    /// Runs the new tests on the new code, and does something else as soon as they run.
    ///
    /// # Errors
    /// The run is being stopped, or a copy cannot be prepared.
    pub(in crate::engine) async fn run_green<T>(
        &self,
        span: &StepTreePair,
        paths: &[String],
        other: impl Future<Output = T>,
        cancel: &CancellationToken,
    ) -> Result<(Receipt, T), TestRunError> {
        let step = self.with_commands_for(span, Vec::new()).await?;
        let green = step.run_green_cell(span, paths, cancel);
        tokio::pin!(green);
        let (receipt, done) = tokio::select! {
            receipt = &mut green => (receipt?, other.await),
            () = step.cells.copy_prepared.notified() => {
                let (receipt, done) = tokio::join!(green, other);
                (receipt?, done)
            }
        };
        Ok((receipt, done))
    }

    async fn run_green_cell(
        &self,
        span: &StepTreePair,
        paths: &[String],
        cancel: &CancellationToken,
    ) -> Result<Receipt, TestRunError> {
        let divide = || self.divide_trees(span.clone(), &self.tests);
        let new = (ProofCell::Green, &span.after);
        let mut divided = None;
        let (cells, before) = match (self.scope, &self.suite.start) {
            (ProofScope::StepTests, _) => {
                let trees = divided.insert(divide().await?);
                (self.step_cells(trees), &span.before)
            }
            (ProofScope::StepTestsAndSuite, Some(start)) => (self.suite_cells(), start),
            _ => (self.cells.clone(), &span.before),
        };
        // What the later cells need is made while the tests run. What fails is tried again below, and says why.
        let prepare_red = async {
            if divided.is_none() {
                divided = divide().await.ok();
            }
            if let Some(trees) = divided.as_ref().filter(|trees| trees.red != trees.old) {
                cells.lay_copy_down(ProofCell::Red, &trees.red).await;
            }
        };
        let run = ProofRun::Cell(new.0);
        let mut green = cells.run_beside(run, new, prepare_red, cancel).await?;
        let trees = match divided {
            Some(trees) => trees,
            None => divide().await?,
        };
        if green.fails_without_a_test() {
            // The machine may have been short of something while the tests were built.
            green = cells.run_cell(new.0, new.1, cancel).await?;
        }
        let mut receipt = green.receipt.clone();
        if receipt.outcome == TestOutcome::Failed {
            let baseline = cells.run_cell(ProofCell::Baseline, before, cancel);
            let mut baseline = baseline.await?;
            let tests = &trees.changed_tests;
            cells
                .find_flaky_tests(ProofCell::Green, &green, &mut baseline, tests, cancel)
                .await?;
            receipt.only_known_failures = fails_as_before(&green, &baseline);
            if !receipt.only_known_failures {
                receipt.fails_since = self.find_failing_step(&green, &baseline, cancel).await?;
                receipt.passes_with = self.find_missing_files(span, paths, cancel).await?;
            }
        }
        Ok(receipt)
    }

    /// Returns the files and folders in no commit with which failing tests pass; empty where they fail with them, too.
    async fn find_missing_files(
        &self,
        span: &StepTreePair,
        paths: &[String],
        cancel: &CancellationToken,
    ) -> Result<Vec<String>, TestRunError> {
        let found = self.cells.git.status().uncommitted_entries().await?;
        let named = found.iter().map(|path| path_to_event_text(path));
        // What the step makes is in the copy.
        let is_of_step = |entry: &String| {
            let below = format!("{entry}/");
            paths
                .iter()
                .any(|path| path == entry || path.starts_with(&below))
        };
        let named = named.filter(|entry| !self.cells.carry.contains(entry) && !is_of_step(entry));
        let named: Vec<String> = named
            .filter(|entry| carried_folders::is_small(&self.cells.root.join(entry)))
            .collect();
        if named.is_empty() || named.len() > MAX_MISSING_FILES {
            return Ok(Vec::new());
        }
        let mut cells = self.cells.clone();
        cells.carry.extend(named.iter().cloned());
        let with_all = cells
            .run_as(
                ProofRun::WithUncommittedFiles,
                ProofCell::Green,
                &span.after,
                cancel,
            )
            .await?;
        Ok(match with_all.receipt.outcome {
            TestOutcome::Passed => named,
            _ => Vec::new(),
        })
    }

    /// Runs all cells of a step that did not run yet, and compares them.
    ///
    /// # Errors
    /// The run is being stopped, or a copy cannot be prepared.
    pub(in crate::engine) async fn prove(
        &self,
        span: StepTreePair,
        plan: &StepProofPlan,
        cancel: &CancellationToken,
    ) -> Result<StepProof, TestRunError> {
        let named = plan.changes_tests.iter().map(|change| change.path.clone());
        let mut named: Vec<String> = named.collect();
        if let ProofClaim::TestFirst(words) = &plan.claim {
            named.extend(find_test_files(words));
        }
        let step = self.with_commands_for(&span, named).await?;
        step.run_cells(span, plan, cancel).await
    }

    async fn run_cells(
        &self,
        span: StepTreePair,
        plan: &StepProofPlan,
        cancel: &CancellationToken,
    ) -> Result<StepProof, TestRunError> {
        let git = &self.cells.git;
        let mut tests = self.tests.clone();
        if let ProofClaim::Command(line) = &plan.claim {
            // What the proof command runs is a test of the step, and the same on both sides.
            tests = tests.with_files(&files_named_in(line));
        }
        let needs_red = matches!(plan.claim, ProofClaim::TestFirst(_) | ProofClaim::Unnamed);
        let trees = self.divide_trees(span, &tests).await?;
        let cells = self.step_cells(&trees);
        // What the comparison needs from git is read while the tests run.
        let (mut ran, renames, texts, ci_read) = tokio::try_join!(
            cells.run_cells_of_step(&trees, plan, cancel),
            async { Ok(git.trees().renamed_paths(&trees.old, &trees.new).await?) },
            mutant_trial::read_step_code(&self.cells, &trees),
            self.cells.find_ci_read_of_step(&trees),
        )?;
        let flaky = cells.find_flaky_in_cells(&trees, &mut ran, cancel).await?;
        let mut proof = compare_cells(&trees, &ran, plan, &renames);
        proof.flaky = TestNames::from_tests(&flaky);
        proof.scope = self.scope;
        self.add_suite(&mut proof, &trees, cancel).await?;
        if let ProofClaim::Command(line) = &plan.claim {
            proof.command = self.run_proof_command(line, &trees, cancel).await?;
        }
        if let Some(green) = ran.get(&ProofCell::Green) {
            self.cells
                .run_without_ci(&trees, green, ci_read, &mut proof, cancel)
                .await?;
        }
        let checks = find_runner_checks(&mutant_trial::to_changed_code(&texts));
        let checks = checks.into_iter();
        proof
            .doubts
            .extend(checks.map(|check| format!("the code tells a test run from others: {check}")));
        if proof.needs_mutants(&plan.claim)
            && let Some(green) = ran.get(&ProofCell::Green)
        {
            let report = |cell: ProofCell| ran.get(&cell)?.report.as_ref();
            let red = report(ProofCell::Red)
                .or_else(|| report(ProofCell::Baseline).filter(|_| trees.red == trees.old));
            let before = [report(ProofCell::Baseline), red];
            let noticing = if needs_red {
                mutant_trial::find_new_tests(green, before, &trees)
            } else {
                mutant_trial::find_kept_tests(green, before)
            };
            let trial =
                mutant_trial::try_mutants(&cells, &trees, green, &noticing, &texts, cancel).await?;
            proof.mutants = Some(trial);
        }
        Ok(proof)
    }

    async fn divide_trees(
        &self,
        span: StepTreePair,
        tests: &TestPaths,
    ) -> Result<StepTrees, TestRunError> {
        let divided = StepTrees::divide(&self.cells.git, span.before, span.after, tests);
        Ok(divided.await?)
    }

    /// Returns what runs a step's cells: with the whole suite, or with the tests that the step names or changes.
    fn step_cells(&self, trees: &StepTrees) -> CellRunner {
        let mut cells = self.cells.clone();
        if self.scope != ProofScope::WholeSuite {
            let named = self.named_tests.iter().chain(&trees.changed_tests);
            cells.selection = named.cloned().collect();
            cells.selection.sort();
            cells.selection.dedup();
        }
        cells
    }

    /// Runs the command of a `Proof:` line without the step's code and with it; the tests are the new ones both times.
    async fn run_proof_command(
        &self,
        line: &str,
        trees: &StepTrees,
        cancel: &CancellationToken,
    ) -> Result<Option<CommandProof>, TestRunError> {
        let Some(command) = TestCommandLine::parse(line) else {
            return Ok(None);
        };
        let cells = CellRunner {
            commands: vec![command],
            ..self.cells.clone()
        };
        let run = |cell: ProofCell, tree| cells.run_as(ProofRun::Command(cell), cell, tree, cancel);
        let before = run(ProofCell::Red, &trees.red).await?;
        let after = run(ProofCell::Green, &trees.new).await?;
        let passes = |cell: &FinishedCell| cell.receipt.exit_code == Some(0);
        // What a shell says of a program or a script that it does not find.
        let is_found = |cell: &FinishedCell| !matches!(cell.receipt.exit_code, Some(126 | 127));
        // A command that cannot be started proves nothing on either side.
        let is_run = |cell: &FinishedCell| {
            !matches!(
                cell.receipt.outcome,
                TestOutcome::NotStarted(_) | TestOutcome::TimedOut
            )
        };
        Ok(Some(CommandProof {
            failed_before: is_run(&before) && is_found(&before) && !passes(&before),
            passed_after: is_run(&after) && passes(&after),
        }))
    }
}

fn parse_commands(lines: Vec<&str>) -> Vec<TestCommandLine> {
    lines
        .into_iter()
        .filter_map(TestCommandLine::parse)
        .collect()
}

/// Returns whether every test that fails with the step failed before it, and nothing else is wrong.
fn fails_as_before(green: &FinishedCell, baseline: &FinishedCell) -> bool {
    let (Some(now), Some(before)) = (&green.report, &baseline.report) else {
        return false;
    };
    let failed_before: Vec<&TestIdentity> = before.failed().collect();
    now.failed().next().is_some()
        && !now.failed_to_load
        && now.doubts.is_empty()
        && now.failed().all(|test| failed_before.contains(&test))
}

/// Returns how the tests of cells run; each cell has a sandbox of its own.
fn cell_settings(config: &AppConfig, spawner: &ChildSpawner, run: &str) -> TestSettings {
    TestSettings {
        env: parse_test_variables(&config.test.env),
        ..unsandboxed_settings(config, spawner, run)
    }
}

/// Returns whether commits hold the code before and after each step so far.
fn commits_every_step(execution: &PlanExecution) -> bool {
    let is_on = !matches!(execution.commits, CommitTarget::Off { .. });
    let mut records = execution.done.iter();
    let is_committed = |outcome: &StepOutcome| match outcome {
        StepOutcome::Committed { .. } | StepOutcome::NoChange => true,
        StepOutcome::Uncommitted { .. } => false,
    };
    is_on && records.all(|record| is_committed(&record.outcome))
}

/// Removes the clean copies of this repository's runs. No other program uses them: one run of a repository executes at a
/// time.
pub(in crate::engine) fn remove_clean_copies(run: &mut RunContext) {
    let copies = run.setup.worktrees.folder().join(CELLS_FOLDER);
    if copies.is_dir() {
        // A large folder takes time, and nothing waits for it.
        let aside =
            copies.with_file_name(format!("{CELLS_FOLDER}-{}", uuid::Uuid::now_v7().simple()));
        if std::fs::rename(&copies, &aside).is_ok() {
            run.tasks.spawn_blocking(move || {
                let _left = std::fs::remove_dir_all(&aside);
            });
        }
    }
}
