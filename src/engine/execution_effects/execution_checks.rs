//! Checks an execution: audits each step's changes and runs the tests, before the first step and after each one.

use tokio_util::sync::CancellationToken;

use crate::domain::event::Event;
use crate::domain::plan_execution::PlanExecution;
use crate::domain::step_proof::StepProof;
use crate::domain::test_command::TestCommand;
use crate::engine::git::{TreeId, UnversionedCode};
use crate::engine::proof_cells::StepProver;
use crate::engine::run_context::RunContext;
use crate::engine::test_runner::{TestCommandLine, TestRun, TestRunError};
use crate::engine::warnings::failure_event;
use crate::text::clean_text;

use super::baseline::BaselineRun;
use super::change_attribution::ChangeAttribution;
use super::clean_copy_test::CleanCopyTest;
use super::edit_rules::EditRules;
use super::git_error_with_hint;
use super::step_tree::{report_missing_tree, repository_and_step_tree};
use super::test_environment::{UndecidedTestAccess, test_settings};
use super::tree_audit::{StepAuditInputs, audit_changes, run_tests_between_snapshots};

/// The audits and test runs of an execution.
#[derive(Debug, Default)]
pub(in crate::engine) struct ExecutionChecks {
    /// Code outside the tree that git and the tests would run, as it was before the execution's first turn.
    initial_unversioned_code: Option<UnversionedCode>,
    /// Stops the tests that run.
    test_stop: CancellationToken,
}

impl ExecutionChecks {
    /// Notes the code outside the tree. The first note of an execution is what later changes are compared with.
    pub(in crate::engine) fn note_unversioned_code(&mut self, code: UnversionedCode) {
        self.initial_unversioned_code.get_or_insert(code);
    }

    /// Audits what a step changed.
    pub(in crate::engine) fn audit_step(&self, run: &mut RunContext, step: u32) {
        let Some((git, before)) = repository_and_step_tree(run) else {
            return report_missing_tree(run, "inspect the changes of the step");
        };
        let execution = run.state().execution.as_ref();
        let command = execution.and_then(|execution| execution.test.as_ref());
        let user_dirty_paths = execution.map(|execution| execution.pre_dirty.clone());
        let inputs = StepAuditInputs {
            user_dirty_paths: user_dirty_paths.unwrap_or_default(),
            attribution: ChangeAttribution::for_current_step(run),
            command: command.and_then(|test| TestCommandLine::parse(&test.command)),
            edit_rules: EditRules::for_executing_agent(run),
            scope: run.state().step_scope(&run.setup.config.test.paths),
            initial_unversioned_code: self.initial_unversioned_code.clone(),
        };
        let lock = run.tree_lock.clone();
        run.spawn_event_task(async move {
            let _guard = lock.lock().await;
            match audit_changes(&git, step, &before, &inputs).await {
                Ok(audit) => Event::StepAudited(audit),
                Err(error) => failure_event(
                    "inspect the changes of the step",
                    git_error_with_hint(&error),
                ),
            }
        });
    }

    /// Runs the tests after a step.
    pub(in crate::engine) fn run_tests(
        &mut self,
        run: &mut RunContext,
        step: u32,
        test: Option<TestCommand>,
    ) {
        let Some((git, before)) = repository_and_step_tree(run) else {
            return report_missing_tree(run, "run the tests");
        };
        let settings = test_settings(run, test.as_ref());
        let undecided_access = UndecidedTestAccess::for_tests(run, &settings);
        let prover = StepProver::for_run(run, test.as_ref()).ok();
        let execution = run.state().execution.as_ref();
        let paths = execution.map_or(Vec::new(), PlanExecution::step_commit_paths);
        let current = run.state().current_step();
        let changed = current.map_or(Vec::new(), |current| current.changed.clone());
        let (root, stop) = (run.setup.root.clone(), self.next_stop(run));
        let inputs = StepAuditInputs {
            user_dirty_paths: Vec::new(),
            attribution: None,
            command: test
                .as_ref()
                .and_then(|test| TestCommandLine::parse(&test.command)),
            edit_rules: EditRules::for_executing_agent(run),
            scope: None,
            initial_unversioned_code: self.initial_unversioned_code.clone(),
        };
        run.spawn_events_task(async move {
            let test_run = inputs.command.as_ref().map(|command| TestRun {
                command,
                root: &root,
                // The trees come from the snapshots around the test.
                repository: None,
                settings: &settings,
                clean: &clean_text,
            });
            let ran = match &prover {
                Some(prover) => {
                    let copied = CleanCopyTest {
                        git: &git,
                        step,
                        before: &before,
                        prover,
                        paths: &paths,
                        changed,
                    };
                    let ran = copied.run_tests(&stop, &inputs).await;
                    ran.map_err(|error| error.to_string())
                }
                None => {
                    let ran =
                        run_tests_between_snapshots(&git, step, &before, test_run, &stop, &inputs);
                    ran.await.map_err(|error| error.to_string())
                }
            };
            match ran {
                Ok(mut event) => {
                    if let Event::TestsRan { receipt, .. } = &mut event {
                        receipt.origin = test.map(|test| test.origin);
                        undecided_access.note_missing_access(receipt);
                    }
                    vec![event]
                }
                // Whoever stopped them knows.
                Err(_) if stop.is_cancelled() => Vec::new(),
                Err(error) => vec![failure_event("run the tests", error)],
            }
        });
    }

    /// Runs old and new tests on the code before and after a step.
    pub(in crate::engine) fn prove_step(&mut self, run: &mut RunContext, step: u32) {
        let Some((git, before)) = repository_and_step_tree(run) else {
            return report_missing_tree(run, "prove the step");
        };
        let execution = run.state().execution.as_ref();
        let test = execution.and_then(|execution| execution.test.clone());
        let current = execution.and_then(|execution| execution.current.as_ref());
        let now = current.and_then(|current| current.commit_tree.clone().map(TreeId));
        let prover = StepProver::for_run(run, test.as_ref());
        let paths = execution.map_or(Vec::new(), PlanExecution::step_commit_paths);
        let plan = run.state().step_proof_plan(step);
        let stop = self.next_stop(run);
        run.spawn_events_task(async move {
            let prover = match prover {
                Ok(prover) => prover,
                Err(reason) => {
                    let proof = StepProof::without_cells(&reason);
                    let tree = now.map(|now| now.0);
                    return vec![Event::StepProved { step, proof, tree }];
                }
            };
            let tree = now.clone().map(|now| now.0);
            let proved = async {
                let now = match now {
                    Some(now) => now,
                    None => git.work_tree().current_tree().await?,
                };
                let span = prover.step_span(before, &now, &paths).await?;
                prover.prove(span, &plan, &stop).await
            };
            match proved.await {
                Ok(proof) => vec![Event::StepProved { step, proof, tree }],
                Err(_) if stop.is_cancelled() => Vec::new(),
                Err(error) => vec![failure_event("prove the step", error)],
            }
        });
    }

    /// Runs the tests before the first step.
    pub(in crate::engine) fn run_baseline_tests(
        &mut self,
        run: &mut RunContext,
        test: TestCommand,
    ) {
        let prover = StepProver::for_run(run, Some(&test)).ok();
        let baseline = BaselineRun::new(run, test, prover);
        let stop = self.next_stop(run);
        run.spawn_event_task(async move {
            match baseline.run_between_snapshots(&stop).await {
                Ok(found) => Event::BaselineRan(found),
                Err(TestRunError::Cancelled) => Event::BaselineSkipped {
                    reason: "you stopped them".to_owned(),
                },
                Err(error @ (TestRunError::Git(_) | TestRunError::Copy(_))) => {
                    Event::BaselineSkipped {
                        reason: error.to_string(),
                    }
                }
            }
        });
    }

    /// Returns what stops the next tests; those before them have ended.
    fn next_stop(&mut self, run: &RunContext) -> CancellationToken {
        self.test_stop = run.cancel.child_token();
        self.test_stop.clone()
    }

    /// Stops the tests that run, and every process that they started.
    pub(in crate::engine) fn stop_tests(&self) {
        self.test_stop.cancel();
    }
}
