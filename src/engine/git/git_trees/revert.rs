//! Computes what a revert needs: the content for each path, who else changed it since, and the tree with these contents.
//!
//! Does not touch the work tree.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::GitTrees;
use crate::engine::git::TreeId;
use crate::engine::git::error::GitError;
use crate::engine::git::private_index::PrivateIndex;
use crate::process::StdinSource;

/// Two trees: the files go back from the later one to the earlier one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevertSpan {
    pub from: TreeId,
    pub to: TreeId,
    /// Paths that stay as they are.
    pub unchanged_paths: BTreeSet<PathBuf>,
}

/// The result of a revert for each path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RevertContents {
    /// The new content of each path, as git's mode and object id; `None` removes the path.
    pub paths: BTreeMap<PathBuf, Option<String>>,
    /// Those of the paths that someone else changed in between or since.
    pub changed_by_others: BTreeSet<PathBuf>,
}

impl GitTrees<'_> {
    /// Finds the new content of each path that changed in one of the spans, oldest first, and which of them
    /// differ between two spans, or between the last one and `now`.
    ///
    /// # Errors
    /// Git fails, for example because a tree no longer exists.
    pub async fn contents_before(
        self,
        spans: &[RevertSpan],
        now: &TreeId,
    ) -> Result<RevertContents, GitError> {
        let mut found = RevertContents::default();
        for (n, span) in spans.iter().enumerate() {
            for change in self.changes_between(&span.to, &span.from).await? {
                if !span.unchanged_paths.contains(&change.path) {
                    found.paths.entry(change.path).or_insert(change.content);
                }
            }
            let next = spans.get(n + 1).map_or(now, |next| &next.from);
            let between = self.changes_between(&span.to, next).await?;
            let paths = between.into_iter().map(|change| change.path);
            found
                .changed_by_others
                .extend(paths.filter(|path| found.paths.contains_key(path)));
        }
        Ok(found)
    }

    /// Creates a tree that has other contents than `base` at the given paths.
    ///
    /// # Errors
    /// Git fails.
    pub async fn tree_with_contents(
        self,
        base: &TreeId,
        contents: &BTreeMap<PathBuf, Option<String>>,
    ) -> Result<TreeId, GitError> {
        if contents.is_empty() {
            return Ok(base.clone());
        }
        let key = (base.clone(), contents.clone());
        if let Some(known) = self.cache.trees.find(&key) {
            return Ok(known);
        }
        let tree = self.write_tree_with_contents(base, contents).await?;
        self.cache.trees.keep(key, tree.clone());
        Ok(tree)
    }

    /// Returns whether the repository has a tree with everything in it.
    pub async fn has_whole_tree(self, tree: &TreeId) -> bool {
        // Git does not write a tree of which something is missing.
        let written = self.write_tree_with_contents(tree, &BTreeMap::new()).await;
        written.is_ok_and(|written| written == *tree)
    }

    async fn write_tree_with_contents(
        self,
        base: &TreeId,
        contents: &BTreeMap<PathBuf, Option<String>>,
    ) -> Result<TreeId, GitError> {
        let git = self.git;
        let index = PrivateIndex::empty()?;
        let read = git.object_command(&["read-tree"]).arg(&base.0);
        read.index_file(&index.path()).stdout_text().await?;
        let nowhere = format!("0 {}", "0".repeat(base.0.len()));
        let mut lines = Vec::new();
        // Removals come first: a folder may replace a file.
        for goes in [true, false] {
            for (path, content) in contents.iter().filter(|(_, c)| c.is_none() == goes) {
                let content = content.as_ref().unwrap_or(&nowhere);
                lines.extend_from_slice(content.as_bytes());
                lines.push(b'\t');
                lines.extend_from_slice(path.as_os_str().as_bytes());
                lines.push(0);
            }
        }
        git.object_command(&["update-index", "-z", "--index-info"])
            .index_file(&index.path())
            .stdin(StdinSource::Bytes(lines))
            .stdout_text()
            .await?;
        let tree = git
            .object_command(&["write-tree"])
            .index_file(&index.path())
            .stdout_text()
            .await?;
        Ok(TreeId(tree))
    }
}
