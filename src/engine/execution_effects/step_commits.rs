//! Commits a step to the approved branch, and finds a commit that a crash left unrecorded.

use std::future::ready;
use std::path::PathBuf;

use crate::domain::event::Event;
use crate::domain::plan_execution::CommitSize;
use crate::domain::question::CommitTarget;
use crate::engine::warnings::warning_event;

use super::git_error_with_hint;
use super::tree_audit::{changes_since_tree, path_from_event_text, path_to_event_text};
use crate::engine::agent_activity;
use crate::engine::git::{
    CommitFailureKind, CommitId, GitError, GitHead, GitRepository, ReceiptTrailer, TreeId,
    UnversionedCode,
};
use crate::engine::run_context::RunContext;
use crate::engine::run_log_entries::join_paths;
use crate::engine::warnings::{AUDIT_AFTER_HOOKS, REFRESH_INDEX};

/// Commits the tested version of a step's paths.
pub(in crate::engine) fn commit_step(
    run: &mut RunContext,
    step: u32,
    paths: Vec<String>,
    message: String,
) {
    let execution = run.state().execution.as_ref();
    let (Some(git), Some(execution)) = (run.commit_repository().cloned(), execution) else {
        let reason = "no repository".to_owned();
        return run.spawn_event_task(ready(Event::CommitSkipped { step, reason }));
    };
    let message = match commit_trailers(run, step) {
        Some(trailers) => format!("{}\n\n{trailers}\n", message.trim_end()),
        None => message,
    };
    let (terms, base) = (execution.commits.clone(), execution.base.clone());
    let base = base.map(CommitId);
    let current = execution.current.as_ref();
    let tested = current.and_then(|current| current.commit_tree.clone().map(TreeId));
    let receipts = run
        .state()
        .receipt_head
        .is_some()
        .then(|| run.receipts.clone());
    run.spawn_events_task(async move {
        if let Some(receipts) = receipts
            && let Ok(earlier) = git.history().commits_since(base.as_ref()).await
        {
            // The last one may be the step's own, which a kill left unrecorded.
            let is_own = earlier
                .last()
                .is_some_and(|(_, subject)| Some(subject.as_str()) == message.lines().next());
            let n_others = earlier.len() - usize::from(is_own);
            let others = earlier.into_iter().take(n_others);
            let earlier = others.map(|(commit, _)| commit.0);
            // The chain is checked when the step is recorded; a failure is told then.
            let _told_later = receipts.append_users_commits(earlier.collect());
        }
        let code_before = scan_before_hooks(&git).await;
        let result = commit_step_paths(
            &git,
            &terms,
            base.as_ref(),
            tested.as_ref(),
            paths,
            &message,
        )
        .await;
        let hook_changes = describe_hook_changes(&git, code_before).await;
        let hook_warning = hook_changes.map(|why| warning_event(AUDIT_AFTER_HOOKS, why));
        let title = message.lines().next().unwrap_or_default();
        let events = describe_commit_result(step, title, result);
        hook_warning.into_iter().chain(events).collect()
    });
}

/// Returns the trailers that name a step's plan and its last receipt; `None` where it has none, or they are off.
fn commit_trailers(run: &RunContext, step: u32) -> Option<String> {
    let state = run.state();
    let receipt = state.receipt_head.as_ref();
    let receipt = receipt.filter(|_| run.setup.config.commit.trailers)?;
    let plan = state.approved_sha256.as_ref()?;
    let lines = [
        ReceiptTrailer::Step.line(step),
        ReceiptTrailer::Receipt.line(receipt),
        ReceiptTrailer::Plan.line(plan),
    ];
    Some(lines.join("\n"))
}

/// Returns the events for the result of a commit: its warnings first.
fn describe_commit_result(
    step: u32,
    title: &str,
    result: Result<StepCommit, StepCommitError>,
) -> Vec<Event> {
    match result {
        Ok(StepCommit {
            commit,
            size,
            index_warning,
            later_changes,
        }) => {
            let (size, uncounted) = match size {
                Ok(size) => (Some(size), None),
                Err(why) => (
                    None,
                    Some(warning_event("count the lines of the commit", why)),
                ),
            };
            let index_warning = index_warning.map(|why| warning_event(REFRESH_INDEX, why));
            let later_changes =
                later_changes.map(|why| warning_event("commit the current files", why));
            let made = Event::CommitMade {
                step,
                commit: commit.0,
                message: title.to_owned(),
                size,
            };
            index_warning
                .into_iter()
                .chain(uncounted)
                .chain(later_changes)
                .chain([made])
                .collect()
        }
        Err(StepCommitError::NothingToCommit) => vec![Event::CommitSkipped {
            step,
            reason: "nothing differs from the last commit".to_owned(),
        }],
        Err(StepCommitError::Failed(output)) => vec![Event::CommitFailed {
            step,
            message: agent_activity::clean_block(&output),
        }],
    }
}

/// Explains why there is no commit.
enum StepCommitError {
    NothingToCommit,
    /// The commit failed, with the output.
    Failed(String),
}

/// A commit with its warnings.
struct StepCommit {
    commit: CommitId,
    /// How much it changes, or why that is unknown.
    size: Result<CommitSize, String>,
    /// What the user can do about the git index, if it could not be refreshed.
    index_warning: Option<String>,
    /// Which of the committed files have changed since they were tested, as text.
    later_changes: Option<String>,
}

/// Commits to the approved branch and to no other.
async fn commit_step_paths(
    git: &GitRepository,
    terms: &CommitTarget,
    base: Option<&CommitId>,
    tested: Option<&TreeId>,
    paths: Vec<String>,
    message: &str,
) -> Result<StepCommit, StepCommitError> {
    let Some(tested) = tested else {
        let why = "the tested working tree is unknown; try again, and the tests run first";
        return Err(StepCommitError::Failed(why.to_owned()));
    };
    check_branch(git, terms)
        .await
        .map_err(StepCommitError::Failed)?;
    let paths: Vec<PathBuf> = paths
        .iter()
        .map(|path| path_from_event_text(path))
        .collect();
    let (commit, index_warning) = match git
        .commits()
        .commit_paths(tested, &paths, &[], message)
        .await
    {
        Ok(commit) => (commit, None),
        Err(failure) => match &failure.kind {
            CommitFailureKind::IndexBehind(commit) => {
                let warning = failure.index_behind_message(commit);
                (commit.clone(), Some(warning))
            }
            // The program may have crashed between the commit and its record. Then the commit at HEAD is the
            // one of this step.
            CommitFailureKind::NothingToCommit => {
                let commit = find_existing_commit(git, base, message).await;
                let commit = CommitId(commit.ok_or(StepCommitError::NothingToCommit)?);
                // The crash may also have come before the user's index was refreshed; the commit is valid
                // either way.
                let refreshed = git.index().refresh(&commit).await;
                let warning = refreshed.err();
                let warning = warning.map(|failure| failure.index_behind_message(&commit));
                (commit, warning)
            }
            _ => return Err(StepCommitError::Failed(failure.output)),
        },
    };
    let (size, later_changes) = tokio::join!(
        git.history().commit_size(&commit),
        describe_later_changes(git, tested, &paths)
    );
    Ok(StepCommit {
        commit,
        size: size.map_err(|error| git_error_with_hint(&error)),
        index_warning,
        later_changes,
    })
}

/// Checks that the approved branch is checked out.
///
/// # Errors
/// Another branch is checked out, or git fails; as text.
async fn check_branch(git: &GitRepository, terms: &CommitTarget) -> Result<(), String> {
    let head = git
        .branches()
        .head()
        .await
        .map_err(|error| git_error_with_hint(&error))?;
    let is_approved = match (&head, terms) {
        (
            GitHead::Branch { name, .. },
            CommitTarget::Current { branch } | CommitTarget::New { branch, .. },
        ) => name == branch,
        (GitHead::Detached { .. }, _) | (_, CommitTarget::Off { .. }) => false,
    };
    if is_approved {
        Ok(())
    } else {
        Err("the approved branch is not checked out; switch back and try again".to_owned())
    }
}

/// Describes which of these paths changed since the tree was taken; later changes stay uncommitted.
async fn describe_later_changes(
    git: &GitRepository,
    tested: &TreeId,
    paths: &[PathBuf],
) -> Option<String> {
    let (_, changed) = changes_since_tree(git, tested).await.ok()?;
    let paths: Vec<String> = paths.iter().map(|path| path_to_event_text(path)).collect();
    let later: Vec<String> = changed
        .into_iter()
        .filter(|path| paths.contains(path))
        .collect();
    let list = join_paths(&later);
    (!later.is_empty()).then(|| {
        format!("{list} changed after the tests: the commit contains the tested version, later changes are uncommitted")
    })
}

/// Scans what git and the tests run, if the commit has hooks that could change it.
async fn scan_before_hooks(git: &GitRepository) -> Result<Option<UnversionedCode>, GitError> {
    if git.unversioned_code().has_hooks().await? {
        git.unversioned_code().scan().await.map(Some)
    } else {
        Ok(None)
    }
}

/// Describes what the hooks of a commit changed in it; the user is not asked about it per step.
async fn describe_hook_changes(
    git: &GitRepository,
    before: Result<Option<UnversionedCode>, GitError>,
) -> Option<String> {
    let changes = match before {
        Ok(None) => return None,
        Ok(Some(before)) => git
            .unversioned_code()
            .scan()
            .await
            .map(|now| now.changes_since(&before)),
        Err(error) => Err(error),
    };
    match changes {
        Ok(changes) if changes.is_empty() => None,
        Ok(changes) => {
            let list: Vec<String> = changes
                .iter()
                .map(|change| format!("{} ({})", change.path.display(), change.why))
                .collect();
            Some(format!(
                "they changed {}: check it before you continue",
                list.join(", ")
            ))
        }
        Err(error) => Some(git_error_with_hint(&error)),
    }
}

/// The commit that the first attempt of a redone step may have left unrecorded because of a crash.
pub(super) struct LeftoverCommit {
    pub git: GitRepository,
    pub terms: CommitTarget,
    /// The commit after which commits belong to this execution.
    pub base: Option<CommitId>,
    /// The commits that are recorded for other steps.
    pub recorded: Vec<String>,
    pub step: u32,
}

impl LeftoverCommit {
    /// Reverts the commit with an undo commit if it exists and is the last one. Returns what the user can do
    /// about the index if it could not be refreshed.
    ///
    /// # Errors
    /// The commit was not reverted; says why.
    pub(super) async fn revert(&self) -> Result<Option<String>, String> {
        let git = &self.git;
        let commits = git.history().commits_since(self.base.as_ref()).await;
        let commits = commits.map_err(|error| git_error_with_hint(&error))?;
        let prefix = format!("[Step {}] ", self.step);
        let Some((commit, subject)) = commits.last() else {
            return Ok(None);
        };
        let (Some(title), false) = (
            subject.strip_prefix(&prefix),
            self.recorded.contains(&commit.0),
        ) else {
            return Ok(None);
        };
        check_branch(git, &self.terms).await?;
        let trees = git.history().trees_around_commit(commit).await;
        let before = trees.map_err(|error| git_error_with_hint(&error))?.from;
        let message = format!("[Undo step {}] {title}\n\nThe step is redone.\n", self.step);
        match git.commits().commit_whole_tree(&before, &message).await {
            Ok(_) => Ok(None),
            Err(failure) => match &failure.kind {
                CommitFailureKind::IndexBehind(commit) => {
                    Ok(Some(failure.index_behind_message(commit)))
                }
                _ => Err(failure.output),
            },
        }
    }
}

/// Finds a commit with this message at HEAD that was made since the execution began.
pub(super) async fn find_existing_commit(
    git: &GitRepository,
    base: Option<&CommitId>,
    message: &str,
) -> Option<String> {
    let commits = git.history().commits_since(base).await.ok()?;
    let (commit, subject) = commits.last()?;
    (Some(subject.as_str()) == message.lines().next()).then(|| commit.0.clone())
}
