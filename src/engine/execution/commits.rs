//! Commits a step to the branch that was approved, and finds a commit that a crash left unrecorded.

use std::path::PathBuf;

use crate::domain::question::CommitTerms;

use super::in_words;
use crate::engine::git::{CommitFailureKind, CommitId, Head, Repository};

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
}

/// Commits to the branch that was approved and to no other.
pub(super) async fn commit(
    git: &Repository,
    (terms, base): (&CommitTerms, Option<&CommitId>),
    paths: Vec<String>,
    message: &str,
) -> Result<Made, NoCommit> {
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
        Ok(commit) => Ok(Made {
            commit: commit.0,
            behind: None,
        }),
        Err(failure) => match &failure.kind {
            CommitFailureKind::IndexBehind(commit) => Ok(Made {
                commit: commit.0.clone(),
                behind: Some(failure.behind(commit)),
            }),
            // A crash may have come between the commit and its record: the commit at HEAD is this step's.
            CommitFailureKind::Nothing => match made_before(git, base, message).await {
                Some(commit) => {
                    // The crash may have come before the user's index was told, too; the commit stands either way.
                    let id = CommitId(commit.clone());
                    let told = git.tell_index(&id).await;
                    let behind = told.err().map(|failure| failure.behind(&id));
                    Ok(Made { commit, behind })
                }
                None => Err(NoCommit::Nothing),
            },
            _ => Err(NoCommit::Failed(failure.output)),
        },
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
