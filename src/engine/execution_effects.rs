//! Performs the execution's effects: survey, branch, snapshots, audits, tests, commits, and the step records.
//!
//! Git and the tests take time, so they run outside the main loop and their results come back as events. All
//! decisions are made by the run.

mod baseline;
mod change_attribution;
mod edit_rules;
mod repository_survey;
mod step_commits;
mod test_commands;
mod tree_audit;
mod undo_effects;

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::domain::event::Event;
use crate::domain::plan_execution::StepOutcome;
use crate::domain::question::{ExecutionTerms, TestNetworkChoice};
use crate::domain::receipt::Receipt;
use crate::domain::run::ProgramOperation;
use crate::domain::test_command::TestCommand;
use crate::text::clean_text;
use crate::text::slug::slugify;

use super::documents;
use super::git::{BranchChoice, CommitId, GitError, TreeId};
use super::run_setup::BranchPolicy;
use super::sandbox::{self, CommandReach};
use super::test_runner::{self, TestRun, TestSettings};
use super::warnings::{AUDIT_AFTER_HOOKS, REFRESH_INDEX};
use super::{Engine, EngineInput, agent_activity, failure_event, warning_event};

use repository_survey::RepositorySurveyor;
use step_commits::{
    LeftoverCommit, StepCommit, StepCommitError, commit_step_paths, describe_hook_changes,
    scan_before_hooks,
};
pub(super) use tree_audit::path_from_event_text;
use tree_audit::{StepAuditInputs, audit_changes, run_tests_between_snapshots, store_tree};

/// How much of a test run's output is parsed for counts, in bytes.
const MAX_OUTPUT_BYTES: usize = 4 * 1024 * 1024;

/// Access that tests may lack and that the user has not decided yet.
#[derive(Debug, Default)]
struct UndecidedTestAccess {
    /// Whether the access to the machine's network is undecided.
    network: bool,
    sockets: Vec<PathBuf>,
}

impl UndecidedTestAccess {
    /// Notes which undecided access the tests failed for.
    fn note_missing_access(&self, receipt: &mut Receipt) {
        if !receipt.allows_next_step() {
            let output = &receipt.output_tail;
            receipt.lacks_socket = test_runner::missing_socket(output, &self.sockets);
            receipt.lacks_network =
                test_runner::missing_network_line(output).filter(|_| self.network);
        }
    }
}

impl Engine {
    /// Collects what the user would approve with an execution.
    pub(super) fn survey_repository(&mut self) -> Vec<Event> {
        let events = documents::detect_user_edits(&self.run);
        let Some(survey) = self.build_surveyor() else {
            return vec![failure_event("inspect the repository", "there is no plan")];
        };
        self.run.spawn_event_task(async move {
            match survey.survey().await {
                Ok(terms) => Event::RepositorySurveyed { terms },
                Err(error) => Event::ExecutionRefused {
                    reason: git_error_with_hint(&error),
                },
            }
        });
        events
    }

    fn build_surveyor(&self) -> Option<RepositorySurveyor> {
        let state = self.state();
        let plan = state.plan.as_ref()?;
        let goal = state
            .goal
            .as_ref()
            .map(|goal| goal.title.clone())
            .unwrap_or_default();
        Some(RepositorySurveyor {
            git: self.run.commit_repository().cloned(),
            branch_choice: branch_choice(self.run.setup.branch_policy),
            slug: slugify(&goal),
            plan_digest: plan.plan.approval_sha256.clone(),
            test_commands: self.test_commands(),
            commits_off: self
                .run
                .setup
                .commits_off_reason
                .clone()
                .unwrap_or_default(),
            stopped_step: state.stopped_step.clone(),
        })
    }

    /// Creates or enters the branch, if what the user approved is unchanged.
    pub(super) fn enter_execution(&mut self, approved: ExecutionTerms) -> Vec<Event> {
        let events = documents::detect_user_edits(&self.run);
        if !events.is_empty() {
            // An edited plan is not what was approved; the run asks again before any branch is made.
            let reason =
                "the plan or the comments changed since the execution was approved".to_owned();
            return events
                .into_iter()
                .chain([Event::ExecutionRefused { reason }])
                .collect();
        }
        let Some(surveyor) = self.build_surveyor() else {
            return vec![failure_event("start the execution", "there is no plan")];
        };
        self.run.spawn_event_task(async move {
            match surveyor.enter_if_unchanged(approved).await {
                Ok(event) => event,
                Err(error) => Event::ExecutionRefused {
                    reason: git_error_with_hint(&error),
                },
            }
        });
        events
    }

    pub(super) fn snapshot_before_turn(&mut self, step: u32, attempt: u32) {
        let Some(git) = self.run.repository.clone() else {
            return self
                .run
                .spawn_event_task(async move { Event::SnapshotTaken { step, tree: None } });
        };
        let turn = match &self.state().busy {
            Some(ProgramOperation::Storing { order }) => order.turn.as_str().to_owned(),
            _ => "turn".to_owned(),
        };
        // The turn's id keeps an earlier tree of the same step from being replaced.
        let name = match (step, attempt) {
            (0, _) => format!("{turn}-summary"),
            (step, 0) => format!("{turn}-step-{step}"),
            (step, attempt) => format!("{turn}-step-{step}-fix-{attempt}"),
        };
        let (done, lock) = (self.run.inputs.clone(), self.run.tree_lock.clone());
        self.run.tasks.spawn(async move {
            let _held = lock.lock().await;
            let inward = match store_tree(&git, &name).await {
                Ok((tree, runnable)) => EngineInput::TreeStored {
                    event: Box::new(Event::SnapshotTaken {
                        step,
                        tree: Some(tree.0),
                    }),
                    runnable,
                },
                Err(error) => {
                    let event = failure_event(
                        "save the working tree before the turn",
                        git_error_with_hint(&error),
                    );
                    EngineInput::Event(Box::new(event))
                }
            };
            // The receiver is gone only if the program is about to end.
            let _nobody = done.send(inward).await;
        });
    }

    /// Restores the tree from before the step; the current tree is stored first, so that nothing is lost.
    pub(super) fn restore_step_tree(&mut self, step: u32) {
        self.documents.on_step_restarted();
        let (Some(git), Some((before, _))) = (self.run.repository.clone(), self.tree_before_step())
        else {
            return self.run.spawn_event_task(async move {
                failure_event(
                    "restore the working tree",
                    "the working tree before the step is unknown",
                )
            });
        };
        let name = format!("redo-step-{step}-{}", uuid::Uuid::now_v7().simple());
        let lock = self.run.tree_lock.clone();
        let left = self.unrecorded_commit(step);
        self.run.spawn_events_task(async move {
            let _held = lock.lock().await;
            let stored = git.snapshot(&name).await;
            let restored = match stored {
                Ok(_) => git.restore_tree(&before).await,
                Err(error) => Err(error),
            };
            if let Err(error) = restored {
                return vec![failure_event(
                    "restore the working tree",
                    git_error_with_hint(&error),
                )];
            }
            let taken_back = match left {
                Some(left) => left.revert().await,
                None => Ok(None),
            };
            match taken_back {
                Ok(behind) => {
                    let told = behind.map(|why| warning_event(REFRESH_INDEX, why));
                    told.into_iter()
                        .chain([Event::TreeRestored { step }])
                        .collect()
                }
                Err(why) => vec![failure_event("revert the commit of the first try", why)],
            }
        });
    }

    /// Returns the commit that an earlier try of a step may have left; `None` if commits are off.
    fn unrecorded_commit(&self, step: u32) -> Option<LeftoverCommit> {
        let execution = self.state().execution.as_ref()?;
        let recorded = execution
            .done
            .iter()
            .filter_map(|done| match &done.outcome {
                StepOutcome::Committed { commit, .. } => Some(commit.clone()),
                _ => None,
            });
        Some(LeftoverCommit {
            git: self.run.commit_repository()?.clone(),
            terms: execution.commits.clone(),
            base: execution.base.clone().map(CommitId),
            recorded: recorded.collect(),
            step,
        })
    }

    /// Returns the tree before the current step, and the files that had changes of the user before the execution.
    fn tree_before_step(&self) -> Option<(TreeId, Vec<String>)> {
        let execution = self.state().execution.as_ref()?;
        let tree = execution.current.as_ref()?.tree_before.clone()?;
        Some((TreeId(tree), execution.pre_dirty.clone()))
    }

    pub(super) fn audit_step(&mut self, step: u32) {
        let (Some(git), Some((before, dirty))) =
            (self.run.repository.clone(), self.tree_before_step())
        else {
            return self.run.spawn_event_task(async move {
                failure_event(
                    "inspect the changes of the step",
                    "the working tree before the step is unknown",
                )
            });
        };
        let execution = self.state().execution.as_ref();
        let command = execution.and_then(|execution| execution.test.clone());
        let held = StepAuditInputs {
            user_dirty_paths: dirty,
            attribution: self.change_attribution(),
            command: command.and_then(|test| test_runner::TestCommandLine::parse(&test.command)),
            edit_rules: self.edit_rules(),
            earlier_unversioned_code: self.runnable.clone(),
        };
        let lock = self.run.tree_lock.clone();
        self.run.spawn_event_task(async move {
            let _held = lock.lock().await;
            match audit_changes(&git, step, &before, &held).await {
                Ok(audit) => Event::StepAudited(audit),
                Err(error) => failure_event(
                    "inspect the changes of the step",
                    git_error_with_hint(&error),
                ),
            }
        });
    }

    pub(super) fn run_tests(&mut self, step: u32, test: Option<TestCommand>) {
        let (Some(git), Some((before, _))) = (self.run.repository.clone(), self.tree_before_step())
        else {
            return self.run.spawn_event_task(async move {
                failure_event(
                    "run the tests",
                    "the working tree before the step is unknown",
                )
            });
        };
        let settings = self.test_settings(test.as_ref());
        let (root, cancel) = (self.run.setup.root.clone(), self.run.cancel.clone());
        let origin = test.as_ref().map(|test| test.origin.clone());
        let command = test.and_then(|test| test_runner::TestCommandLine::parse(&test.command));
        let held = StepAuditInputs {
            user_dirty_paths: Vec::new(),
            attribution: None,
            command,
            edit_rules: self.edit_rules(),
            earlier_unversioned_code: self.runnable.clone(),
        };
        let unsaid = self.undecided_test_access(&settings);
        self.run.spawn_event_task(async move {
            let run = held.command.as_ref().map(|command| TestRun {
                command,
                root: &root,
                // The trees come from the snapshots around the test.
                repository: None,
                settings: &settings,
                clean: &clean_text,
            });
            match run_tests_between_snapshots(&git, step, &before, run, &cancel, &held).await {
                Ok(Event::TestsRan {
                    mut receipt,
                    step,
                    changed,
                    made_by_tests,
                    entry_points,
                    held,
                    rewritten,
                    tree,
                }) => {
                    receipt.origin = origin;
                    unsaid.note_missing_access(&mut receipt);
                    Event::TestsRan {
                        receipt,
                        step,
                        changed,
                        made_by_tests,
                        entry_points,
                        held,
                        rewritten,
                        tree,
                    }
                }
                Ok(event) => event,
                Err(error) => failure_event("run the tests", error),
            }
        });
    }

    /// Returns how the tests are run, with their sandbox.
    fn test_settings(&self, test: Option<&TestCommand>) -> TestSettings {
        let contained = self.run.setup.config.safety.contain_tests.then(|| {
            let places = (
                self.run.setup.root.as_path(),
                self.run.journal.layout().workdir(),
            );
            // The worktrees of children are below the cache folder, which tests may write.
            let trees = Some(self.run.setup.worktrees.folder()).filter(|f| f.is_dir());
            let line = test.map_or("", |test| test.command.as_str());
            let reach = self.command_reach().with_command_paths(line);
            sandbox::test_sandbox_spec(
                &self.run.setup.sandbox_support,
                places.0,
                places.1,
                trees,
                &reach,
            )
        });
        TestSettings {
            timeout: self.run.setup.config.test.timeout,
            max_output_bytes: MAX_OUTPUT_BYTES,
            env: BTreeMap::new(),
            run: self.state().run.as_str().to_owned(),
            spawner: self.run.setup.spawner.clone(),
            sandbox: contained.flatten(),
        }
    }

    fn undecided_test_access(&self, settings: &TestSettings) -> UndecidedTestAccess {
        let run = &self.state().run;
        match settings.sandbox {
            Some(_) => UndecidedTestAccess {
                network: self.run.setup.decided_test_network(run).is_none(),
                sockets: self.run.setup.undecided_sockets(run),
            },
            None => UndecidedTestAccess::default(),
        }
    }

    /// Returns what tests and checks can reach besides files.
    pub(super) fn command_reach(&self) -> CommandReach {
        self.run.setup.command_reach(&self.state().run)
    }

    /// Saves the user's decision on the network of tests. If that fails, the user gets a warning and is asked
    /// again.
    pub(super) fn save_test_network(&mut self, network: TestNetworkChoice) -> Vec<Event> {
        match self.run.setup.save_test_network(&self.state().run, network) {
            Ok(()) => Vec::new(),
            Err(error) => vec![warning_event(
                "save your choice of the network for tests",
                error,
            )],
        }
    }

    /// Saves the user's decision on a socket that tests need. If that fails, the user gets a warning and is asked
    /// again.
    pub(super) fn save_test_socket(&mut self, path: &str, is_reached: bool) -> Vec<Event> {
        match self
            .run
            .setup
            .save_socket_decision(&self.state().run, path, is_reached)
        {
            Ok(()) => Vec::new(),
            Err(error) => vec![warning_event("save your choice for a socket", error)],
        }
    }

    pub(super) fn commit_step(&mut self, step: u32, paths: Vec<String>, message: String) {
        let execution = self.state().execution.as_ref();
        let base = execution
            .and_then(|execution| execution.base.clone())
            .map(CommitId);
        let terms = execution.map(|execution| execution.commits.clone());
        let current = execution.and_then(|execution| execution.current.as_ref());
        let tested = current.and_then(|current| current.commit_tree.clone().map(TreeId));
        let (Some(git), Some(terms)) = (self.run.commit_repository().cloned(), terms) else {
            let reason = "no repository".to_owned();
            return self
                .run
                .spawn_event_task(async move { Event::CommitSkipped { step, reason } });
        };
        self.run.spawn_events_task(async move {
            let before_hooks = scan_before_hooks(&git).await;
            let content = (tested.as_ref(), paths);
            let made =
                commit_step_paths(&git, &terms, base.as_ref(), content.0, content.1, &message)
                    .await;
            let changed = describe_hook_changes(&git, before_hooks).await;
            let changed = changed.map(|why| warning_event(AUDIT_AFTER_HOOKS, why));
            let told: Vec<Event> = match made {
                Ok(StepCommit {
                    commit,
                    index_warning: behind,
                    later_changes: later,
                }) => {
                    let message = message.lines().next().unwrap_or_default().to_owned();
                    let behind = behind.map(|why| warning_event(REFRESH_INDEX, why));
                    let later = later.map(|why| warning_event("commit the current files", why));
                    let made = Event::CommitMade {
                        step,
                        commit,
                        message,
                    };
                    behind.into_iter().chain(later).chain([made]).collect()
                }
                Err(StepCommitError::NothingToCommit) => vec![Event::CommitSkipped {
                    step,
                    reason: "nothing differs from the last commit".to_owned(),
                }],
                Err(StepCommitError::Failed(said)) => vec![Event::CommitFailed {
                    step,
                    message: agent_activity::clean_block(&said),
                }],
            };
            changed.into_iter().chain(told).collect()
        });
    }
}

fn branch_choice(policy: BranchPolicy) -> BranchChoice {
    match policy {
        BranchPolicy::NewIfDefault => BranchChoice::Unsaid,
        BranchPolicy::Current => BranchChoice::Current,
        BranchPolicy::New => BranchChoice::New,
    }
}

pub(super) fn git_error_with_hint(error: &GitError) -> String {
    format!("{error}\nhint: {}", error.hint())
}
