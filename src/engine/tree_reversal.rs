//! Previews what undoing or redoing steps would do, so that the user can decide, and applies it.
//!
//! Only the paths that the steps changed are touched: the user's changes elsewhere stay. History is never
//! rewritten. When to undo is decided by the run.

use std::path::{Path, PathBuf};

use crate::domain::plan_execution::PlanExecution;
use crate::domain::question::CommitTarget;
use crate::domain::reversal_plan::{
    FileReversalKind, ReversalPlan, ReversalPreview, UndoRequest, steps_label,
};

use super::agent_activity;
use super::execution_effects::{git_error_with_hint, path_from_event_text};
use super::git::{
    CommitFailureKind, CommitId, GitError, GitHead, GitRepository, RevertContents, RevertSpan,
    TreeChangeKind, TreeId,
};
use super::warnings::REFRESH_INDEX;

/// The target of an execution's commits.
#[derive(Debug, Clone)]
pub struct CommitRepository {
    /// The repository; `None` if commits are off.
    pub git: Option<GitRepository>,
    pub terms: CommitTarget,
}

/// The result that a reversal would have.
struct ReversalOutlook {
    now: TreeId,
    contents: RevertContents,
    /// The content of the work tree afterwards.
    target: TreeId,
    /// The tree to commit; `None` if there is nothing to commit.
    commit: Option<TreeId>,
}

/// Previews what an undo request could mean, the likeliest reversal first; at least one. Changes nothing.
///
/// # Errors
/// It is not possible; says why, and what to do.
pub async fn preview_reversals(
    git: Option<&GitRepository>,
    commits: &CommitRepository,
    execution: &PlanExecution,
    wish: UndoRequest,
) -> Result<Vec<ReversalPreview>, String> {
    let git = git.ok_or("there is no repository with the saved working trees of the steps")?;
    let now = git
        .work_tree()
        .current_tree()
        .await
        .map_err(|error| git_error_with_hint(&error))?;
    let mut offers = Vec::new();
    let mut why_not = "no step to undo".to_owned();
    for way in execution.candidate_directions(wish) {
        let offered = match execution.plan_reversal(way, &now.0) {
            Ok(reversal) => preview_reversal(git, commits, &reversal, &now.0).await,
            Err(why) => Err(why),
        };
        match offered {
            // A step that was started and has changed nothing is not what the user means.
            Ok(offer) if wish == UndoRequest::Last && offer.files.is_empty() => {}
            Ok(offer) => offers.push(offer),
            Err(why) => why_not = why,
        }
    }
    if offers.is_empty() {
        Err(why_not)
    } else {
        Ok(offers)
    }
}

/// Previews what a reversal would do. Changes nothing.
///
/// # Errors
/// It is not possible; says why, and what to do.
async fn preview_reversal(
    git: &GitRepository,
    commits: &CommitRepository,
    reversal: &ReversalPlan,
    seen: &str,
) -> Result<ReversalPreview, String> {
    let outlook = compute_outlook(git, commits, reversal, TreeId(seen.to_owned())).await?;
    let changes = git
        .trees()
        .changes_between(&outlook.now, &outlook.target)
        .await;
    let changes = changes.map_err(|error| git_error_with_hint(&error))?;
    let fate = |kind| match kind {
        TreeChangeKind::Added => Some(FileReversalKind::Restore),
        TreeChangeKind::Deleted => Some(FileReversalKind::Delete),
        TreeChangeKind::Modified | TreeChangeKind::Retyped => Some(FileReversalKind::Modify),
        // A repository inside this one is not touched.
        TreeChangeKind::Submodule => None,
    };
    let files = changes
        .iter()
        .filter_map(|change| Some((fate(change.kind)?, display_path(&change.path))));
    let mut taken_back = Vec::new();
    if let Some(git) = &commits.git {
        for commit in &reversal.commits {
            let subject = git
                .history()
                .commit_subject(&CommitId(commit.clone()))
                .await;
            let subject = subject.map_err(|error| git_error_with_hint(&error))?;
            taken_back.push((commit.clone(), agent_activity::clean_line(&subject)));
        }
    }
    let subject = reversal.commit_message().lines().next().map(str::to_owned);
    Ok(ReversalPreview {
        way: reversal.way,
        steps: reversal.steps.clone(),
        unfinished: reversal.unfinished,
        inspected_tree: seen.to_owned(),
        files: files.collect(),
        user_edited: outlook
            .contents
            .changed_by_others
            .iter()
            .map(|path| display_path(path))
            .collect(),
        commits: taken_back,
        commit_subject: outlook.commit.and(subject),
    })
}

fn display_path(path: &Path) -> String {
    agent_activity::clean_line(&path.to_string_lossy())
}

async fn compute_outlook(
    git: &GitRepository,
    commits: &CommitRepository,
    reversal: &ReversalPlan,
    now: TreeId,
) -> Result<ReversalOutlook, String> {
    let trees = git.trees();
    let spans: Vec<RevertSpan> = reversal
        .spans
        .iter()
        .map(|span| RevertSpan {
            from: TreeId(span.from.clone()),
            to: TreeId(span.to.clone()),
            unchanged_paths: span
                .keeps
                .iter()
                .map(|path| path_from_event_text(path))
                .collect(),
        })
        .collect();
    let to_text = |error: GitError| git_error_with_hint(&error);
    let contents = trees.contents_before(&spans, &now).await.map_err(to_text)?;
    let target = trees.tree_with_contents(&now, &contents.paths).await;
    Ok(ReversalOutlook {
        commit: reverted_commit_tree(commits, reversal).await?,
        target: target.map_err(to_text)?,
        contents,
        now,
    })
}

/// Returns the tree for the commit that reverts the steps' commits: HEAD's tree, with the paths of these commits as
/// they were before them, so that none of the user's changes get in.
async fn reverted_commit_tree(
    commits: &CommitRepository,
    reversal: &ReversalPlan,
) -> Result<Option<TreeId>, String> {
    let (Some(git), false) = (&commits.git, reversal.commits.is_empty()) else {
        return Ok(None);
    };
    check_commit_branch(git, &commits.terms).await?;
    let mut spans = Vec::new();
    for commit in &reversal.commits {
        let commit = CommitId(commit.clone());
        let is_there = git.history().is_ancestor_of_head(&commit).await;
        if !is_there.map_err(|error| git_error_with_hint(&error))? {
            return Err(format!(
                "commit {} is no longer on this branch because its history changed: undo \
                 the steps back by hand",
                commit.0
            ));
        }
        spans.push(
            git.history()
                .trees_around_commit(&commit)
                .await
                .map_err(|error| git_error_with_hint(&error))?,
        );
    }
    let head = git
        .branches()
        .head_tree()
        .await
        .map_err(|error| git_error_with_hint(&error))?;
    let head = head.ok_or("there is no commit on this branch")?;
    let contents = git.trees().contents_before(&spans, &head).await;
    let contents = contents.map_err(|error| git_error_with_hint(&error))?;
    if !contents.changed_by_others.is_empty() {
        let others: Vec<String> = contents
            .changed_by_others
            .iter()
            .map(|path| display_path(path))
            .collect();
        return Err(format!(
            "{} changed in another commit since {}: undo it by hand, `git revert {}`",
            others.join(", "),
            steps_label(&reversal.steps),
            reversal
                .commits
                .iter()
                .rev()
                .cloned()
                .collect::<Vec<_>>()
                .join(" ")
        ));
    }
    let tree = git.trees().tree_with_contents(&head, &contents.paths).await;
    let tree = tree.map_err(|error| git_error_with_hint(&error))?;
    Ok(Some(tree).filter(|tree| *tree != head))
}

async fn check_commit_branch(git: &GitRepository, terms: &CommitTarget) -> Result<(), String> {
    let branch = match terms {
        CommitTarget::Current { branch } | CommitTarget::New { branch, .. } => branch,
        CommitTarget::Off { .. } => return Ok(()),
    };
    match git
        .branches()
        .head()
        .await
        .map_err(|error| git_error_with_hint(&error))?
    {
        GitHead::Branch { name, .. } if name == *branch => Ok(()),
        GitHead::Branch { .. } | GitHead::Detached { .. } => Err(format!(
            "the commits are on {branch}, which is not checked out: run `git switch {branch}`, then undo"
        )),
    }
}

/// The result of a reversal.
pub struct ReversalResult {
    /// The content of the work tree afterwards.
    pub tree: TreeId,
    /// The commit, if one was made.
    pub commit: Option<String>,
    /// What else failed: the operation, and what to do.
    pub warnings: Vec<(&'static str, String)>,
}

/// Whether an earlier process may have started the reversal and ended before finishing it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReversalAttempt {
    First,
    /// It may have; with the commit that was already made, if there is one.
    Repeated(Option<String>),
}

/// Restores the files and commits; if the commit fails, the files are as they were before.
///
/// # Errors
/// Nothing was done; says why, and what to do.
pub async fn apply_reversal(
    git: &GitRepository,
    commits: &CommitRepository,
    reversal: &ReversalPlan,
    kept: &TreeId,
    attempt: ReversalAttempt,
) -> Result<ReversalResult, String> {
    let now = git
        .work_tree()
        .current_tree()
        .await
        .map_err(|error| git_error_with_hint(&error))?;
    let made = match &attempt {
        ReversalAttempt::Repeated(made) => made.clone(),
        ReversalAttempt::First => None,
    };
    if attempt != ReversalAttempt::First {
        // Changes made to the files since the program ended are stored, too.
        let name = format!("undo-again-{}", uuid::Uuid::now_v7().simple());
        git.work_tree()
            .snapshot(&name)
            .await
            .map_err(|error| git_error_with_hint(&error))?;
    }
    let mut reversal = reversal.clone();
    if made.is_some() {
        reversal.commits.clear();
    }
    let outlook = compute_outlook(git, commits, &reversal, now).await?;
    let done = restore_and_commit(git, commits, &outlook, &reversal.commit_message()).await;
    match done {
        Ok((commit, index_behind)) => {
            let mut warnings: Vec<_> = index_behind
                .map(|why| (REFRESH_INDEX, why))
                .into_iter()
                .collect();
            let name = format!("undo-after-{}", uuid::Uuid::now_v7().simple());
            // From here on the reversal is done, even if storing the tree fails.
            let tree = match git.work_tree().snapshot(&name).await {
                Ok(after) => after.tree,
                Err(error) => {
                    warnings.push((
                        "save the working tree after an undo",
                        git_error_with_hint(&error),
                    ));
                    outlook.target
                }
            };
            Ok(ReversalResult {
                tree,
                commit: made.or(commit),
                warnings,
            })
        }
        Err(why) => match roll_back(git, &outlook, kept).await {
            Ok(()) => Err(why),
            Err(error) => Err(format!(
                "{why}\nsome files could not be restored: git restore --source={} -- . ({})",
                kept.0,
                git_error_with_hint(&error)
            )),
        },
    }
}

/// Restores the tree and commits it; returns the commit, if one is made, and a hint about the index for the user.
async fn restore_and_commit(
    git: &GitRepository,
    commits: &CommitRepository,
    outlook: &ReversalOutlook,
    message: &str,
) -> Result<(Option<String>, Option<String>), String> {
    let restored = git.work_tree().restore_tree(&outlook.target).await;
    restored.map_err(|error| git_error_with_hint(&error))?;
    let (Some(git), Some(tree)) = (&commits.git, &outlook.commit) else {
        return Ok((None, None));
    };
    match git.commits().commit_whole_tree(tree, message).await {
        Ok(commit) => Ok((Some(commit.0), None)),
        Err(failure) => match &failure.kind {
            CommitFailureKind::IndexBehind(commit) => Ok((
                Some(commit.0.clone()),
                Some(failure.index_behind_message(commit)),
            )),
            _ => Err(format!("the commit failed: {}", failure.output)),
        },
    }
}

/// Restores the earlier content of every path.
async fn roll_back(
    git: &GitRepository,
    outlook: &ReversalOutlook,
    kept: &TreeId,
) -> Result<(), GitError> {
    let now = git.work_tree().current_tree().await?;
    let before = git.trees().changes_between(&now, kept).await?;
    let is_ours = |path: &PathBuf| outlook.contents.paths.contains_key(path);
    let contents = before
        .into_iter()
        .filter(|change| is_ours(&change.path))
        .map(|change| (change.path, change.content))
        .collect();
    let target = git.trees().tree_with_contents(&now, &contents).await?;
    git.work_tree().restore_tree(&target).await.map(drop)
}
