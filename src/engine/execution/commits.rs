//! Commits a step to the branch that was approved, and finds a commit that a crash left unrecorded.

use std::path::PathBuf;

use crate::domain::question::CommitTarget;

use super::entry::list;
use super::in_words;
use super::looks::{changed_since, to_path, to_text};
use crate::engine::git::{
    CommitFailureKind, CommitId, GitError, Head, Repository, Runnable, TreeId,
};

/// Why there is no commit.
pub(super) enum NoCommit {
    /// There is nothing to commit.
    Nothing,
    /// It failed; this is what was said.
    Failed(String),
}

/// A commit, and what is still to be told of it.
pub(super) struct Made {
    /// The commit.
    pub commit: String,
    /// What the user is to do about the index, where it could not be told.
    pub behind: Option<String>,
    /// Which of its files are others by now than those that were tested and committed, in words.
    pub later: Option<String>,
}

/// Commits to the branch that was approved and to no other.
pub(super) async fn commit(
    git: &Repository,
    (terms, base): (&CommitTarget, Option<&CommitId>),
    (tested, paths): (Option<&TreeId>, Vec<String>),
    message: &str,
) -> Result<Made, NoCommit> {
    let Some(tested) = tested else {
        let said = "the tree that was tested is not known; try again, and the tests run first";
        return Err(NoCommit::Failed(said.to_owned()));
    };
    check_branch(git, terms).await.map_err(NoCommit::Failed)?;
    let paths: Vec<PathBuf> = paths.iter().map(|path| to_path(path)).collect();
    match git.commit(tested, &paths, &[], message).await {
        Ok(commit) => Ok(Made {
            commit: commit.0,
            behind: None,
            later: changed_later(git, tested, &paths).await,
        }),
        Err(failure) => match &failure.kind {
            CommitFailureKind::IndexBehind(commit) => Ok(Made {
                commit: commit.0.clone(),
                behind: Some(failure.behind(commit)),
                later: changed_later(git, tested, &paths).await,
            }),
            // A crash may have come between the commit and its record: the commit at HEAD is this step's.
            CommitFailureKind::Nothing => match made_before(git, base, message).await {
                Some(commit) => {
                    // The crash may have come before the user's index was told, too; the commit stands either way.
                    let id = CommitId(commit.clone());
                    let told = git.tell_index(&id).await;
                    let behind = told.err().map(|failure| failure.behind(&id));
                    let later = changed_later(git, tested, &paths).await;
                    Ok(Made {
                        commit,
                        behind,
                        later,
                    })
                }
                None => Err(NoCommit::Nothing),
            },
            _ => Err(NoCommit::Failed(failure.output)),
        },
    }
}

/// Makes sure that the branch that was approved is checked out.
///
/// # Errors
/// Another one is, or git fails; in words.
async fn check_branch(git: &Repository, terms: &CommitTarget) -> Result<(), String> {
    let head = git.head().await.map_err(|error| in_words(&error))?;
    let on = match (&head, terms) {
        (
            Head::Branch { name, .. },
            CommitTarget::Current { branch } | CommitTarget::New { branch },
        ) => name == branch,
        (Head::Detached { .. }, _) | (_, CommitTarget::Off { .. }) => false,
    };
    match on {
        true => Ok(()),
        false => Err(
            "another branch is checked out than the one that was approved; switch back and try again".to_owned(),
        ),
    }
}

/// Says which of these paths changed since the tree was taken: what was written later stays uncommitted.
async fn changed_later(git: &Repository, tested: &TreeId, paths: &[PathBuf]) -> Option<String> {
    let (_, changed) = changed_since(git, tested).await.ok()?;
    let paths: Vec<String> = paths.iter().map(|path| to_text(path)).collect();
    let later: Vec<String> = changed
        .into_iter()
        .filter(|path| paths.contains(path))
        .collect();
    let list = list(&later);
    (!later.is_empty()).then(|| {
        format!("{list} changed after the tests: the commit has what was tested, what came later is uncommitted")
    })
}

/// Looks at what git and the tests run, where a commit has hooks that could change it.
pub(super) async fn look_before_hooks(git: &Repository) -> Result<Option<Runnable>, GitError> {
    match git.has_hooks().await? {
        true => git.runnable().await.map(Some),
        false => Ok(None),
    }
}

/// Says what a commit's hooks changed of that; no step is asked about it.
pub(super) async fn changed_by_hooks(
    git: &Repository,
    before: Result<Option<Runnable>, GitError>,
) -> Option<String> {
    let changes = match before {
        Ok(None) => return None,
        Ok(Some(before)) => git.runnable().await.map(|now| now.changes_since(&before)),
        Err(error) => Err(error),
    };
    match changes {
        Ok(changes) if changes.is_empty() => None,
        Ok(changes) => {
            let told = changes
                .iter()
                .map(|change| format!("{} ({})", change.path.display(), change.why));
            let told: Vec<String> = told.collect();
            Some(format!(
                "they changed {}: look at it before you go on",
                told.join(", ")
            ))
        }
        Err(error) => Some(in_words(&error)),
    }
}

/// The commit that the first try of a redone step may have left: a crash came before it was on record.
pub(super) struct LeftCommit {
    pub git: Repository,
    pub terms: CommitTarget,
    /// From where commits are this execution's.
    pub base: Option<CommitId>,
    /// Those that are on record as other steps'.
    pub recorded: Vec<String>,
    pub step: u32,
}

impl LeftCommit {
    /// Takes it back by an undo commit, where it is there and the last one; gives what the user is to do about the
    /// index, where that could not be told.
    ///
    /// # Errors
    /// It stands as it was; says why.
    pub(super) async fn take_back(&self) -> Result<Option<String>, String> {
        let git = &self.git;
        let commits = git.commits_since(self.base.as_ref()).await;
        let commits = commits.map_err(|error| in_words(&error))?;
        let mark = format!("[Step {}] ", self.step);
        let Some((commit, subject)) = commits.last() else {
            return Ok(None);
        };
        let (Some(what), false) = (
            subject.strip_prefix(&mark),
            self.recorded.contains(&commit.0),
        ) else {
            return Ok(None);
        };
        check_branch(git, &self.terms).await?;
        let trees = git.trees_of(commit).await;
        let before = trees.map_err(|error| in_words(&error))?.from;
        let message = format!("[Undo step {}] {what}\n\nThe step is redone.\n", self.step);
        match git.commit_whole(&before, &message).await {
            Ok(_) => Ok(None),
            Err(failure) => match &failure.kind {
                CommitFailureKind::IndexBehind(commit) => Ok(Some(failure.behind(commit))),
                _ => Err(failure.output),
            },
        }
    }
}

/// Finds the commit of this message at HEAD, where it was made since the execution began.
pub(super) async fn made_before(
    git: &Repository,
    base: Option<&CommitId>,
    message: &str,
) -> Option<String> {
    let commits = git.commits_since(base).await.ok()?;
    let (commit, subject) = commits.last()?;
    (Some(subject.as_str()) == message.lines().next()).then(|| commit.0.clone())
}
