//! What going back takes: which content each path gets, and who else changed it since; and a commit of
//! a tree that lies nowhere on the disk.
//!
//! Refuses to touch the work tree.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::commit::CommitFailure;
use super::discover::Repository;
use super::error::GitError;
use super::snapshot::PrivateIndex;
use super::{CommitId, TreeId};
use crate::process::StdinSource;

/// Two trees: the files go back from the later one to the earlier one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Back {
    /// The earlier one.
    pub from: TreeId,
    /// The later one.
    pub to: TreeId,
    /// Paths that stay as they are.
    pub keeps: BTreeSet<PathBuf>,
}

/// What becomes of paths.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Contents {
    /// What each path gets, as git's mode and object id; `None` takes it away.
    pub paths: BTreeMap<PathBuf, Option<String>>,
    /// Those of them that somebody else changed in between or since.
    pub others: BTreeSet<PathBuf>,
}

impl Repository {
    /// Finds what each path gets that changed in one of the spans, the oldest first, and which of them
    /// differ between two spans, or between the last one and `now`.
    ///
    /// # Errors
    /// Git fails, for example because a tree is gone.
    pub async fn contents_before(
        &self,
        spans: &[Back],
        now: &TreeId,
    ) -> Result<Contents, GitError> {
        let mut found = Contents::default();
        for (n, span) in spans.iter().enumerate() {
            for change in self.changes_between(&span.to, &span.from).await? {
                if !span.keeps.contains(&change.path) {
                    found.paths.entry(change.path).or_insert(change.content);
                }
            }
            let next = spans.get(n + 1).map_or(now, |next| &next.from);
            let between = self.changes_between(&span.to, next).await?;
            let paths = between.into_iter().map(|change| change.path);
            found
                .others
                .extend(paths.filter(|path| found.paths.contains_key(path)));
        }
        Ok(found)
    }

    /// Makes the tree in which paths have other contents than in `base`.
    ///
    /// # Errors
    /// Git fails.
    pub async fn tree_with(
        &self,
        base: &TreeId,
        contents: &BTreeMap<PathBuf, Option<String>>,
    ) -> Result<TreeId, GitError> {
        let index = PrivateIndex::empty()?;
        let read = self.git_on_objects(&["read-tree"]).arg(&base.0);
        read.index(&index.path()).text().await?;
        let nowhere = format!("0 {}", "0".repeat(base.0.len()));
        let mut lines = Vec::new();
        // What goes away goes first: a folder may come where a file was.
        for goes in [true, false] {
            for (path, content) in contents.iter().filter(|(_, c)| c.is_none() == goes) {
                let content = content.as_ref().unwrap_or(&nowhere);
                lines.extend_from_slice(content.as_bytes());
                lines.push(b'\t');
                lines.extend_from_slice(path.as_os_str().as_bytes());
                lines.push(0);
            }
        }
        self.git_on_objects(&["update-index", "-z", "--index-info"])
            .index(&index.path())
            .stdin(StdinSource::Bytes(lines))
            .text()
            .await?;
        let tree = self
            .git_on_objects(&["write-tree"])
            .index(&index.path())
            .text()
            .await?;
        Ok(TreeId(tree))
    }

    /// The trees before and after a commit; before the first one, the empty tree.
    ///
    /// # Errors
    /// Git fails, or does not know the commit.
    pub async fn trees_of(&self, commit: &CommitId) -> Result<Back, GitError> {
        let to = self.git_on_objects(&["rev-parse", "--verify"]);
        let to = to.arg(format!("{}^{{tree}}", commit.0)).text().await?;
        let from = self
            .git_on_objects(&["rev-parse", "--verify", "--quiet"])
            .arg(format!("{}^1^{{tree}}", commit.0))
            .text_if_any()
            .await?;
        let from = match from {
            Some(from) => from,
            None => self.git_on_objects(&["mktree"]).text().await?,
        };
        Ok(Back {
            keeps: BTreeSet::new(),
            from: TreeId(from),
            to: TreeId(to),
        })
    }

    /// Tells whether a commit is part of what is checked out.
    ///
    /// # Errors
    /// Git cannot be run.
    pub async fn is_part_of_head(&self, commit: &CommitId) -> Result<bool, GitError> {
        let call = self
            .git_on_objects(&["merge-base", "--is-ancestor"])
            .arg(&commit.0);
        Ok(call.arg("HEAD").finish().await?.is_success())
    }

    /// A commit's first line.
    ///
    /// # Errors
    /// Git fails, or does not know the commit.
    pub async fn subject_of(&self, commit: &CommitId) -> Result<String, GitError> {
        let call = self
            .git_on_objects(&["log", "-1", "--format=%s"])
            .arg(&commit.0);
        call.text().await
    }

    /// Commits a tree as it is, whatever lies in the work tree. Hooks run as for any commit.
    ///
    /// # Errors
    /// As [`Repository::commit`].
    pub async fn commit_whole(
        &self,
        tree: &TreeId,
        message: &str,
    ) -> Result<CommitId, CommitFailure> {
        self.check_nothing_under_way()?;
        let index = PrivateIndex::empty()?;
        let read = self.git_on_objects(&["read-tree"]).arg(&tree.0);
        read.index(&index.path()).text().await?;
        self.commit_index(&index, message).await
    }
}
