//! The execution's effects: survey, branch, snapshots, audits, tests, commits, and what is written down.
//!
//! What git and the tests do takes time, so it runs off the loop and comes back as events. Refuses to
//! decide anything: the run does.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use tokio_util::sync::CancellationToken;

use crate::config::types::TestCommand as Configured;
use crate::domain::event::{Audit, Event};
use crate::domain::execution::{StepOutcome, StepRecord};
use crate::domain::question::{CommitTerms, EntryPoint, Terms, TestCommand, TestSource};
use crate::domain::receipt::Receipt;
use crate::domain::run::Busy;
use crate::permission::{Action, Rule, last_match};
use crate::store::instant;
use crate::text::clean;
use crate::text::slug::slug;

use super::git::{BranchChoice, CommitFailureKind, Entered, GitError, Head, Repository, TreeId};
use super::setup::{BranchPolicy, rules};
use super::test_run::{
    self, Source, TestRun, TestRunError, TestSettings, choose, sensitive_changes,
};
use super::{Engine, documents, failed, news};

/// How much of a test run's output is read for counts, in bytes.
const OUTPUT_CAP: usize = 4 * 1024 * 1024;

impl Engine {
    /// Looks at what the user would approve with an execution.
    pub(super) fn survey(&mut self) -> Vec<Event> {
        let events = self.notice_edits();
        let Some(survey) = self.surveyor() else {
            return vec![failed("look at the repository", "there is no plan")];
        };
        self.spawn(async move {
            match survey.look().await {
                Ok(terms) => Event::Surveyed { terms },
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
            slug: slug(&goal),
            plan: plan.plan.approval_sha256.clone(),
            test: self.test_command(),
            commits_off: self.setup.commits_off.clone().unwrap_or_default(),
        })
    }

    /// The repository that commits go to; without one they are off.
    fn commit_repository(&self) -> Option<&Repository> {
        self.repository
            .as_ref()
            .filter(|_| self.setup.commits_off.is_none())
    }

    /// The test command: configured, else detected, else proposed by the plan.
    fn test_command(&self) -> Option<TestCommand> {
        let plan = self.state().plan.as_ref().map(|plan| &plan.plan);
        let proposed = plan.and_then(|plan| plan.test_command.as_deref());
        self.choose_test(proposed.filter(|_| self.setup.config.test.fallback_to_agent))
    }

    /// The test command as far as configuration and repository tell it.
    pub(super) fn test_command_without_plan(&self) -> Option<TestCommand> {
        self.choose_test(None)
    }

    fn choose_test(&self, proposed: Option<&str>) -> Option<TestCommand> {
        let configured = match &self.setup.config.test.command {
            Configured::Line(line) => Some(line.as_str()),
            Configured::Detect => None,
        };
        choose(configured, proposed, &self.setup.root).map(|chosen| TestCommand {
            command: chosen.command.to_string(),
            source: match chosen.source {
                Source::Configured => TestSource::Configured,
                Source::Detected(_) => TestSource::Detected,
                Source::Proposed => TestSource::Proposed,
            },
        })
    }

    /// Makes the branch stand, if what the user approved still holds.
    pub(super) fn enter_execution(&mut self, approved: Terms) -> Vec<Event> {
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
            Some(Busy::Storing { order }) => order.turn.as_str().to_owned(),
            _ => "turn".to_owned(),
        };
        // The turn's id keeps an earlier tree of the same step from being replaced.
        let name = match (step, attempt) {
            (0, _) => format!("{turn}-summary"),
            (step, 0) => format!("{turn}-step-{step}"),
            (step, attempt) => format!("{turn}-step-{step}-fix-{attempt}"),
        };
        self.spawn(async move {
            match git.snapshot(&name).await {
                Ok(snapshot) => Event::SnapshotTaken {
                    step,
                    tree: Some(snapshot.tree.0),
                },
                Err(error) => failed("store the tree before the turn", in_words(&error)),
            }
        });
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
            command: command.and_then(|test| test_run::TestCommand::parse(&test.command)),
            rules: self.edit_rules(),
        };
        self.spawn(async move {
            match audit(&git, step, &before, &held).await {
                Ok(audit) => Event::StepAudited(audit),
                Err(error) => failed("look at what the step changed", in_words(&error)),
            }
        });
    }

    /// The rules about edits, in order; those that take away only come last.
    fn edit_rules(&self) -> Vec<Rule> {
        let permission = &self.setup.config.permission;
        rules(permission.rules.iter().chain(&permission.restrictions))
    }

    pub(super) fn run_tests(&mut self, step: u32, test: Option<TestCommand>) {
        let (Some(git), Some((before, _))) = (self.repository.clone(), self.step_base()) else {
            return self.spawn(async move {
                failed("run the tests", "the tree before the step is not known")
            });
        };
        let settings = TestSettings {
            timeout: self.setup.config.test.timeout,
            cap: OUTPUT_CAP,
            env: BTreeMap::new(),
            run: self.state().run.as_str().to_owned(),
        };
        let (root, cancel) = (self.setup.root.clone(), self.cancel.clone());
        let command = test.and_then(|test| test_run::TestCommand::parse(&test.command));
        self.spawn(async move {
            let command = command.as_ref();
            let run = command.map(|command| TestRun {
                command,
                root: &root,
                repository: Some(&git),
                settings: &settings,
                clean: &clean,
            });
            match test_between_looks(&git, step, &before, (run, &cancel)).await {
                Ok(event) => event,
                Err(error) => failed("run the tests", error),
            }
        });
    }

    pub(super) fn commit_step(&mut self, step: u32, paths: Vec<String>, message: String) {
        let terms = self
            .state()
            .execution
            .as_ref()
            .map(|execution| execution.commits.clone());
        let (Some(git), Some(terms)) = (self.commit_repository().cloned(), terms) else {
            let reason = "there is no repository".to_owned();
            return self.spawn(async move { Event::CommitSkipped { step, reason } });
        };
        self.spawn(async move {
            match commit(&git, &terms, paths, &message).await {
                Ok(commit) => {
                    let message = message.lines().next().unwrap_or_default().to_owned();
                    Event::CommitMade {
                        step,
                        commit,
                        message,
                    }
                }
                Err(NoCommit::Nothing) => Event::CommitSkipped {
                    step,
                    reason: "nothing differs from the last commit".to_owned(),
                },
                Err(NoCommit::Failed(said)) => Event::CommitFailed {
                    step,
                    message: news::block(&said),
                },
            }
        });
    }

    /// Writes the step into log.md and ticks its box.
    pub(super) fn record_step(&mut self, step: u32) -> Vec<Event> {
        let record = self
            .state()
            .execution
            .as_ref()
            .and_then(|execution| execution.done.iter().rfind(|record| record.n == step));
        let Some(record) = record else {
            return vec![failed("write the step down", "its record is not known")];
        };
        let entry = step_entry(record, &instant::to_text(self.journal.now()));
        if let Err(error) = self.journal.log_entry(&entry) {
            return vec![failed("write log.md", error)];
        }
        let mut events = self.notice_edits();
        match documents::tick(self.journal.guard(), step, self.journal.now()) {
            Ok(plan_file_sha256) => events.push(Event::StepRecorded {
                step,
                plan_file_sha256,
            }),
            Err(error) => events.push(failed("tick the step", error)),
        }
        events
    }
}

/// Why there is no commit.
enum NoCommit {
    /// There is nothing to commit.
    Nothing,
    /// It failed; this is what was said.
    Failed(String),
}

/// Commits to the branch that was approved and to no other.
async fn commit(
    git: &Repository,
    terms: &CommitTerms,
    paths: Vec<String>,
    message: &str,
) -> Result<String, NoCommit> {
    let head = git
        .head()
        .await
        .map_err(|error| NoCommit::Failed(in_words(&error)))?;
    let on = match (&head, terms) {
        (
            Head::Branch { name, .. },
            CommitTerms::Current { branch } | CommitTerms::New { branch },
        ) => name == branch,
        (Head::Detached { .. }, _) | (_, CommitTerms::Off { .. }) => false,
    };
    if !on {
        let said = "another branch is checked out than the one that was approved; switch back and try again";
        return Err(NoCommit::Failed(said.to_owned()));
    }
    let paths: Vec<PathBuf> = paths.into_iter().map(PathBuf::from).collect();
    match git.commit(&paths, &[], message).await {
        Ok(commit) => Ok(commit.0),
        Err(failure) => match failure.kind {
            // The commit stands; only the user's index could not be told.
            CommitFailureKind::IndexBehind(commit) => Ok(commit.0),
            CommitFailureKind::Nothing => Err(NoCommit::Nothing),
            _ => Err(NoCommit::Failed(failure.output)),
        },
    }
}

fn branch_choice(policy: BranchPolicy) -> BranchChoice {
    match policy {
        BranchPolicy::Unless => BranchChoice::Unsaid,
        BranchPolicy::Current => BranchChoice::Current,
        BranchPolicy::New => BranchChoice::New,
    }
}

fn in_words(error: &GitError) -> String {
    format!("{error}\nhint: {}", error.hint())
}

/// Everything that a look at the repository needs.
struct Surveyor {
    git: Option<Repository>,
    choice: BranchChoice,
    slug: String,
    plan: crate::domain::ids::Sha256,
    test: Option<TestCommand>,
    commits_off: String,
}

impl Surveyor {
    async fn look(&self) -> Result<Terms, GitError> {
        let Some(git) = &self.git else {
            let commits = CommitTerms::Off {
                reason: self.commits_off.clone(),
            };
            return Ok(self.terms(commits, Vec::new()));
        };
        let dirty = git
            .dirty()
            .await?
            .into_iter()
            .map(|change| to_text(&change.path))
            .collect();
        Ok(self.terms(self.commit_terms(git).await?, dirty))
    }

    fn terms(&self, commits: CommitTerms, dirty: Vec<String>) -> Terms {
        Terms {
            plan: self.plan.clone(),
            test: self.test.clone(),
            commits,
            dirty,
        }
    }

    async fn commit_terms(&self, git: &Repository) -> Result<CommitTerms, GitError> {
        let head = git.head().await?;
        let default = git.default_branch().await?;
        let stays = match (head, self.choice) {
            (Head::Branch { name, commit: None }, _)
            | (Head::Branch { name, .. }, BranchChoice::Current) => Some(name),
            (Head::Detached { .. }, _) | (Head::Branch { .. }, BranchChoice::New) => None,
            (Head::Branch { name, .. }, BranchChoice::Unsaid) => {
                Some(name).filter(|name| default.as_ref() != Some(name))
            }
        };
        Ok(match stays {
            Some(branch) => CommitTerms::Current { branch },
            None => CommitTerms::New {
                branch: git.free_branch_name(&self.slug).await?,
            },
        })
    }

    /// Enters the execution only on the terms that were approved.
    async fn enter(&self, approved: Terms) -> Result<Event, GitError> {
        let now = self.look().await?;
        if now.test != approved.test {
            let reason =
                "the test command changed since it was approved; look at it and approve again";
            return Ok(Event::ExecutionRefused {
                reason: reason.to_owned(),
            });
        }
        if now.commits != approved.commits {
            let reason = "the branch changed since it was approved; look at it and approve again";
            return Ok(Event::ExecutionRefused {
                reason: reason.to_owned(),
            });
        }
        let Some(git) = &self.git else {
            return Ok(Event::ExecutionEntered {
                base: None,
                terms: now,
            });
        };
        let base = git.head().await?.commit().map(|commit| commit.0.clone());
        let commits = match git.enter_branch(self.choice, &self.slug).await? {
            Entered::Stayed(branch) => CommitTerms::Current { branch },
            Entered::Created(branch) => CommitTerms::New { branch },
        };
        Ok(Event::ExecutionEntered {
            base,
            terms: Terms { commits, ..now },
        })
    }
}

fn to_text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

async fn changed_since(
    git: &Repository,
    before: &TreeId,
) -> Result<(TreeId, Vec<String>), GitError> {
    let now = git.tree_now().await?;
    let changes = git.changes_between(before, &now).await?;
    Ok((
        now,
        changes.iter().map(|change| to_text(&change.path)).collect(),
    ))
}

/// What an audit holds a step's changes against.
struct Held {
    dirty: Vec<String>,
    command: Option<test_run::TestCommand>,
    rules: Vec<Rule>,
}

async fn audit(
    git: &Repository,
    step: u32,
    before: &TreeId,
    held: &Held,
) -> Result<Audit, GitError> {
    let (now, changed) = changed_since(git, before).await?;
    let dirty = changed
        .iter()
        .filter(|path| held.dirty.contains(path))
        .cloned()
        .collect();
    let mut entry_points = entry_points(git, held.command.as_ref(), before, &now).await?;
    let denied = |path: &&String| last_match(&held.rules, "edit", path) == Some(Action::Deny);
    entry_points.extend(changed.iter().filter(denied).map(|path| EntryPoint {
        path: path.clone(),
        why: "a rule of the configuration denies editing it".to_owned(),
        content: None,
    }));
    Ok(Audit {
        step,
        changed,
        dirty,
        entry_points,
    })
}

/// What changed that the program would run.
async fn entry_points(
    git: &Repository,
    command: Option<&test_run::TestCommand>,
    before: &TreeId,
    now: &TreeId,
) -> Result<Vec<EntryPoint>, GitError> {
    let found = sensitive_changes(git, command, before, now).await?;
    let point = |change: test_run::SensitiveChange| EntryPoint {
        path: to_text(&change.path),
        why: news::line(&change.why),
        content: None,
    };
    Ok(found.into_iter().map(point).collect())
}

/// Runs the tests between two looks at the tree.
async fn test_between_looks(
    git: &Repository,
    step: u32,
    before: &TreeId,
    (run, cancel): (Option<TestRun<'_>>, &CancellationToken),
) -> Result<Event, TestRunError> {
    let (_, changed_before) = changed_since(git, before).await?;
    let untracked_before = untracked(git).await?;
    let receipt = match run {
        Some(run) => test_run::run(run, cancel).await?,
        None => Receipt::without_command(),
    };
    let (now, changed) = changed_since(git, before).await?;
    let entry_points = entry_points(git, run.map(|run| run.command), before, &now).await?;
    let made_by_tests = untracked(git)
        .await?
        .into_iter()
        .filter(|path| !untracked_before.contains(path) && !changed_before.contains(path))
        .collect();
    Ok(Event::TestsRan {
        step,
        receipt,
        changed,
        made_by_tests,
        entry_points,
    })
}

async fn untracked(git: &Repository) -> Result<BTreeSet<String>, GitError> {
    use super::git::Status;
    let dirty = git.dirty().await?;
    Ok(dirty
        .iter()
        .filter(|c| c.status == Status::Untracked)
        .map(|c| to_text(&c.path))
        .collect())
}

/// Paths on one line of log.md, cleaned, so that no name can forge an entry.
fn list(paths: &[String]) -> String {
    paths
        .iter()
        .map(|path| news::line(path))
        .collect::<Vec<_>>()
        .join(", ")
}

/// What log.md says of a step.
fn step_entry(record: &StepRecord, at: &str) -> String {
    let mut lines = vec![format!(
        "\n## Step {}: {}\n",
        record.n,
        news::line(&record.text)
    )];
    lines.push(format!("- time: {at}"));
    if !record.summary.is_empty() {
        lines.push(format!("- summary: {}", record.summary));
    }
    if !record.changed.is_empty() {
        lines.push(format!("- changed: {}", list(&record.changed)));
    }
    lines.push(format!("- tests: {}", record.tested_in_words()));
    lines.extend(record.receipt.as_ref().and_then(command_line));
    if record.fix_turns > 0 {
        lines.push(format!("- fix turns: {}", record.fix_turns));
    }
    if !record.made_by_tests.is_empty() {
        lines.push(format!(
            "- made by the tests, not committed: {}",
            list(&record.made_by_tests)
        ));
    }
    if !record.left_out.is_empty() {
        lines.push(format!(
            "- left uncommitted, yours: {}",
            list(&record.left_out)
        ));
    }
    lines.push(match &record.outcome {
        StepOutcome::Committed { commit, message } => format!("- commit: {commit} {message}"),
        StepOutcome::Uncommitted { reason } => format!("- commit: none, {reason}"),
        StepOutcome::NoChange => "- commit: none, no change".to_owned(),
    });
    lines.push(String::new());
    lines.join("\n")
}

/// The command of a receipt with what it took.
fn command_line(receipt: &Receipt) -> Option<String> {
    let status = receipt
        .exit_code
        .map_or("no exit status".to_owned(), |code| {
            format!("exit status {code}")
        });
    let line = format!(
        "- test command: `{}`, {status}, {} ms",
        receipt.command, receipt.duration_ms
    );
    (!receipt.command.is_empty()).then_some(line)
}
