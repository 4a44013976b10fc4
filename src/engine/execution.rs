//! The execution's effects: survey, branch, snapshots, audits, tests, commits, and what is written down.
//!
//! What git and the tests do takes time, so it runs off the loop and comes back as events. Refuses to
//! decide anything: the run does.

mod baseline;
mod claims;
mod commits;
mod edits;
mod entry;
mod looks;
mod survey;
mod test_commands;
mod undo;

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::domain::event::Event;
use crate::domain::plan_execution::StepOutcome;
use crate::domain::question::{ExecutionTerms, TestNetworkChoice};
use crate::domain::receipt::Receipt;
use crate::domain::run::ProgramOperation;
use crate::domain::test_command::TestCommand;
use crate::store::{StoreError, document_files as documents_on_disk, utc_time};
use crate::text::clean_text;
use crate::text::slug::slugify;

use super::containing::{self, CommandReach};
use super::documents::Pen;
use super::git::{BranchChoice, CommitId, GitError, Repository, TreeId};
use super::setup::BranchPolicy;
use super::test_run::{self, TestRun, TestSettings};
use super::trouble::{LOOK_AFTER_HOOKS, TELL_INDEX};
use super::{Engine, Inward, documents, failed, news, troubled};

use commits::{LeftCommit, Made, NoCommit, changed_by_hooks, commit, look_before_hooks};
pub(super) use entry::list;
use entry::{last_step_told, step_entry};
pub(super) use looks::to_path;
use looks::{Held, audit, store, test_between_looks};
use survey::Surveyor;

/// How much of a test run's output is read for counts, in bytes.
const OUTPUT_CAP: usize = 4 * 1024 * 1024;

/// What tests could lack, and nobody has said yet whether they get it.
#[derive(Debug, Default)]
struct Unsaid {
    /// Whether that is the machine's network.
    network: bool,
    /// Sockets of container engines.
    sockets: Vec<PathBuf>,
}

impl Unsaid {
    /// Notes what of it the tests failed for.
    fn look_at(&self, receipt: &mut Receipt) {
        if !receipt.allows_next_step() {
            let output = &receipt.output_tail;
            receipt.lacks_socket = test_run::missing_socket(output, &self.sockets);
            receipt.lacks_network = test_run::missing_network_line(output).filter(|_| self.network);
        }
    }
}

impl Engine {
    /// Looks at what the user would approve with an execution.
    pub(super) fn survey(&mut self) -> Vec<Event> {
        let events = self.notice_edits();
        let Some(survey) = self.surveyor() else {
            return vec![failed("look at the repository", "there is no plan")];
        };
        self.spawn(async move {
            match survey.look().await {
                Ok(terms) => Event::RepositorySurveyed { terms },
                Err(error) => Event::ExecutionRefused {
                    reason: in_words(&error),
                },
            }
        });
        events
    }

    fn surveyor(&self) -> Option<Surveyor> {
        let state = self.state();
        let plan = state.plan.as_ref()?;
        let goal = state
            .goal
            .as_ref()
            .map(|goal| goal.title.clone())
            .unwrap_or_default();
        Some(Surveyor {
            git: self.commit_repository().cloned(),
            choice: branch_choice(self.setup.branch),
            slug: slugify(&goal),
            plan: plan.plan.approval_sha256.clone(),
            tests: self.test_commands(),
            commits_off: self.setup.commits_off.clone().unwrap_or_default(),
            stopped: state.stopped_step.clone(),
        })
    }

    /// The repository that commits go to; without one they are off.
    pub(super) fn commit_repository(&self) -> Option<&Repository> {
        self.repository
            .as_ref()
            .filter(|_| self.setup.commits_off.is_none())
    }

    /// Makes the branch stand, if what the user approved still holds.
    pub(super) fn enter_execution(&mut self, approved: ExecutionTerms) -> Vec<Event> {
        let events = self.notice_edits();
        if !events.is_empty() {
            // An edited plan is no longer what was approved; the run asks before any branch is made.
            let reason =
                "the plan or the comments changed since the execution was approved".to_owned();
            return events
                .into_iter()
                .chain([Event::ExecutionRefused { reason }])
                .collect();
        }
        let Some(surveyor) = self.surveyor() else {
            return vec![failed("enter the execution", "there is no plan")];
        };
        self.spawn(async move {
            match surveyor.enter(approved).await {
                Ok(event) => event,
                Err(error) => Event::ExecutionRefused {
                    reason: in_words(&error),
                },
            }
        });
        events
    }

    pub(super) fn snapshot(&mut self, step: u32, attempt: u32) {
        let Some(git) = self.repository.clone() else {
            return self.spawn(async move { Event::SnapshotTaken { step, tree: None } });
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
        let (done, lock) = (self.done.0.clone(), self.tree_lock.clone());
        self.tasks.spawn(async move {
            let _held = lock.lock().await;
            let inward = match store(&git, &name).await {
                Ok((tree, runnable)) => Inward::Stored {
                    event: Box::new(Event::SnapshotTaken {
                        step,
                        tree: Some(tree.0),
                    }),
                    runnable,
                },
                Err(error) => {
                    let event = failed("store the tree before the turn", in_words(&error));
                    Inward::Event(Box::new(event))
                }
            };
            // Nobody listens any more only when the program is about to end.
            let _nobody = done.send(inward).await;
        });
    }

    /// Puts the tree back to before the step; what is there now is stored first, so that nothing is lost.
    pub(super) fn restore_tree(&mut self, step: u32) {
        // What log.md tells of the step is not what comes now.
        self.resumed = false;
        let (Some(git), Some((before, _))) = (self.repository.clone(), self.step_base()) else {
            return self.spawn(async move {
                failed("put the tree back", "the tree before the step is not known")
            });
        };
        let name = format!("redo-step-{step}-{}", uuid::Uuid::now_v7().simple());
        let lock = self.tree_lock.clone();
        let left = self.left_commit(step);
        self.spawn_all(async move {
            let _held = lock.lock().await;
            let stored = git.snapshot(&name).await;
            let restored = match stored {
                Ok(_) => git.restore(&before).await,
                Err(error) => Err(error),
            };
            if let Err(error) = restored {
                return vec![failed("put the tree back", in_words(&error))];
            }
            let taken_back = match left {
                Some(left) => left.take_back().await,
                None => Ok(None),
            };
            match taken_back {
                Ok(behind) => {
                    let told = behind.map(|why| troubled(TELL_INDEX, why));
                    told.into_iter()
                        .chain([Event::TreeRestored { step }])
                        .collect()
                }
                Err(why) => vec![failed("take back the commit of the first try", why)],
            }
        });
    }

    /// The commit that an earlier try of a step may have left; `None` where no commits are made.
    fn left_commit(&self, step: u32) -> Option<LeftCommit> {
        let execution = self.state().execution.as_ref()?;
        let recorded = execution
            .done
            .iter()
            .filter_map(|done| match &done.outcome {
                StepOutcome::Committed { commit, .. } => Some(commit.clone()),
                _ => None,
            });
        Some(LeftCommit {
            git: self.commit_repository()?.clone(),
            terms: execution.commits.clone(),
            base: execution.base.clone().map(CommitId),
            recorded: recorded.collect(),
            step,
        })
    }

    /// The tree before the step at hand and the user's dirty files.
    fn step_base(&self) -> Option<(TreeId, Vec<String>)> {
        let execution = self.state().execution.as_ref()?;
        let tree = execution.current.as_ref()?.tree_before.clone()?;
        Some((TreeId(tree), execution.pre_dirty.clone()))
    }

    pub(super) fn audit_step(&mut self, step: u32) {
        let (Some(git), Some((before, dirty))) = (self.repository.clone(), self.step_base()) else {
            return self.spawn(async move {
                failed(
                    "look at what the step changed",
                    "the tree before it is not known",
                )
            });
        };
        let execution = self.state().execution.as_ref();
        let command = execution.and_then(|execution| execution.test.clone());
        let held = Held {
            dirty,
            claims: self.claims(),
            command: command.and_then(|test| test_run::TestCommand::parse(&test.command)),
            edits: self.edit_rules(),
            runnable: self.runnable.clone(),
        };
        let lock = self.tree_lock.clone();
        self.spawn(async move {
            let _held = lock.lock().await;
            match audit(&git, step, &before, &held).await {
                Ok(audit) => Event::StepAudited(audit),
                Err(error) => failed("look at what the step changed", in_words(&error)),
            }
        });
    }

    pub(super) fn run_tests(&mut self, step: u32, test: Option<TestCommand>) {
        let (Some(git), Some((before, _))) = (self.repository.clone(), self.step_base()) else {
            return self.spawn(async move {
                failed("run the tests", "the tree before the step is not known")
            });
        };
        let settings = self.test_settings(test.as_ref());
        let (root, cancel) = (self.setup.root.clone(), self.cancel.clone());
        let origin = test.as_ref().map(|test| test.origin.clone());
        let command = test.and_then(|test| test_run::TestCommand::parse(&test.command));
        let held = Held {
            dirty: Vec::new(),
            claims: None,
            command,
            edits: self.edit_rules(),
            runnable: self.runnable.clone(),
        };
        let unsaid = self.unsaid(&settings);
        self.spawn(async move {
            let run = held.command.as_ref().map(|command| TestRun {
                command,
                root: &root,
                // The looks around the test are its trees.
                repository: None,
                settings: &settings,
                clean: &clean_text,
            });
            match test_between_looks(&git, step, &before, (run, &cancel), &held).await {
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
                    unsaid.look_at(&mut receipt);
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
                Err(error) => failed("run the tests", error),
            }
        });
    }

    /// How the tests are run, and what holds them.
    fn test_settings(&self, test: Option<&TestCommand>) -> TestSettings {
        let contained = self.setup.config.safety.contain_tests.then(|| {
            let places = (self.setup.root.as_path(), self.journal.layout().workdir());
            // Children's trees lie among the caches, which tests may write.
            let trees = Some(self.setup.worktrees.folder()).filter(|f| f.is_dir());
            let line = test.map_or("", |test| test.command.as_str());
            let reach = self.command_reach().of_command(line);
            containing::hold_tests(&self.setup.kernel, places, trees, &reach)
        });
        TestSettings {
            timeout: self.setup.config.test.timeout,
            cap: OUTPUT_CAP,
            env: BTreeMap::new(),
            run: self.state().run.as_str().to_owned(),
            children: self.setup.children.clone(),
            contained: contained.flatten(),
        }
    }

    fn unsaid(&self, settings: &TestSettings) -> Unsaid {
        let run = &self.state().run;
        match settings.contained {
            Some(_) => Unsaid {
                network: self.setup.said_network(run).is_none(),
                sockets: self.setup.unsaid_sockets(run),
            },
            None => Unsaid::default(),
        }
    }

    /// What tests and checks reach beside files.
    pub(super) fn command_reach(&self) -> CommandReach {
        self.setup.command_reach(&self.state().run)
    }

    /// Keeps what the user said of the network of tests. Where that fails the user is asked again, and told why.
    pub(super) fn keep_test_network(&mut self, network: TestNetworkChoice) -> Vec<Event> {
        match self.setup.keep_network(&self.state().run, network) {
            Ok(()) => Vec::new(),
            Err(error) => vec![troubled(
                "keep what you said of the network of tests",
                error,
            )],
        }
    }

    /// Keeps what the user said of a socket that tests want. Where that fails the user is asked again, and told why.
    pub(super) fn keep_test_socket(&mut self, path: &str, is_reached: bool) -> Vec<Event> {
        match self.setup.keep_socket(&self.state().run, path, is_reached) {
            Ok(()) => Vec::new(),
            Err(error) => vec![troubled("keep what you said of a socket", error)],
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
        let (Some(git), Some(terms)) = (self.commit_repository().cloned(), terms) else {
            let reason = "there is no repository".to_owned();
            return self.spawn(async move { Event::CommitSkipped { step, reason } });
        };
        self.spawn_all(async move {
            let before_hooks = look_before_hooks(&git).await;
            let content = (tested.as_ref(), paths);
            let made = commit(&git, (&terms, base.as_ref()), content, &message).await;
            let changed = changed_by_hooks(&git, before_hooks).await;
            let changed = changed.map(|why| troubled(LOOK_AFTER_HOOKS, why));
            let told: Vec<Event> = match made {
                Ok(Made {
                    commit,
                    behind,
                    later,
                }) => {
                    let message = message.lines().next().unwrap_or_default().to_owned();
                    let behind = behind.map(|why| troubled(TELL_INDEX, why));
                    let later = later.map(|why| troubled("commit what is there now", why));
                    let made = Event::CommitMade {
                        step,
                        commit,
                        message,
                    };
                    behind.into_iter().chain(later).chain([made]).collect()
                }
                Err(NoCommit::Nothing) => vec![Event::CommitSkipped {
                    step,
                    reason: "nothing differs from the last commit".to_owned(),
                }],
                Err(NoCommit::Failed(said)) => vec![Event::CommitFailed {
                    step,
                    message: news::block(&said),
                }],
            };
            changed.into_iter().chain(told).collect()
        });
    }

    /// Appends a step's entry to log.md, unless a crash came right after it.
    fn write_step(&self, step: u32, entry: &str) -> Result<(), StoreError> {
        let log = documents_on_disk::read_document(&self.journal.layout().log())?;
        let text = log.map(|log| String::from_utf8_lossy(&log.bytes).into_owned());
        match last_step_told(&text.unwrap_or_default()) == Some(step) && self.resumed {
            true => Ok(()),
            false => self.journal.log_entry(entry),
        }
    }

    /// Writes the step into log.md and ticks its box.
    pub(super) fn record_step(&mut self, step: u32, pen: Result<Pen, StoreError>) -> Vec<Event> {
        let record = self
            .state()
            .execution
            .as_ref()
            .and_then(|execution| execution.done.iter().rfind(|record| record.n == step));
        let Some(record) = record else {
            return vec![failed("write the step down", "its record is not known")];
        };
        let is_skipped = record.is_skipped();
        let entry = step_entry(record, &utc_time::to_rfc3339(self.journal.now()));
        if let Err(error) = self.write_step(step, &entry) {
            return vec![failed("write the log of the steps", error)];
        }
        self.resumed = false;
        let mut events = self.notice_edits();
        let now = self.journal.now();
        // The box of a step that was skipped stays open.
        let ticked: &[u32] = if is_skipped { &[] } else { &[step] };
        match pen.and_then(|pen| documents::mark(&pen, ticked, documents::Mark::Ticked, now)) {
            Ok(plan_file_sha256) => events.push(Event::StepRecorded {
                step,
                plan_file_sha256,
            }),
            Err(error) => events.push(failed("tick the step", error)),
        }
        events
    }
}

fn branch_choice(policy: BranchPolicy) -> BranchChoice {
    match policy {
        BranchPolicy::Unless => BranchChoice::Unsaid,
        BranchPolicy::Current => BranchChoice::Current,
        BranchPolicy::New => BranchChoice::New,
    }
}

pub(super) fn in_words(error: &GitError) -> String {
    format!("{error}\nhint: {}", error.hint())
}
