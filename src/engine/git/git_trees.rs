//! The trees that git stores: compares them, reads and writes their files. `revert` and `tree_merge` make new ones of them.
//!
//! The work tree is not read here.

pub(super) mod revert;
pub(super) mod tree_merge;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::TreeId;
use super::error::GitError;
use super::git_command::{GitProgram, last_output, path_from_bytes, split_nul};
use super::private_index::PrivateIndex;
use super::tree_cache::TreeCache;

/// The maximum size of a diff that is kept, in bytes.
const MAX_DIFF_BYTES: usize = 4 * 1024 * 1024;

/// The trees that git stores, and what is known of them.
#[derive(Debug, Clone, Copy)]
pub struct GitTrees<'a> {
    pub(super) git: &'a GitProgram,
    pub(super) cache: &'a TreeCache,
}

/// A path that differs between two trees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeChange {
    /// The path, relative to the root; a moved file is two changes.
    pub path: PathBuf,
    pub kind: TreeChangeKind,
    /// The content in the later tree, as git's mode and object id (`100755 3b18e5…`); `None` where it has
    /// none.
    pub content: Option<String>,
    /// The content in the earlier tree.
    #[serde(default)]
    pub content_before: Option<String>,
}

/// How a path differs between two trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TreeChangeKind {
    /// Only the later tree has it.
    Added,
    /// Changed in content or mode.
    Modified,
    /// Only the earlier tree has it.
    Deleted,
    /// A file became a link, or the other way round.
    Retyped,
    /// A submodule was added, removed or moved to another commit.
    Submodule,
}

impl GitTrees<'_> {
    /// Lists the paths that differ between two trees.
    ///
    /// # Errors
    /// Git fails.
    pub async fn changes_between(
        self,
        before: &TreeId,
        after: &TreeId,
    ) -> Result<Vec<TreeChange>, GitError> {
        let pair = (before.clone(), after.clone());
        if let Some(known) = self.cache.changes.find(&pair) {
            return Ok(known.to_vec());
        }
        let changes = self.read_changes_between(before, after).await?;
        self.cache.changes.keep(pair, Arc::new(changes.clone()));
        Ok(changes)
    }

    async fn read_changes_between(
        self,
        before: &TreeId,
        after: &TreeId,
    ) -> Result<Vec<TreeChange>, GitError> {
        let call = self
            .git
            .object_command(&[
                "diff-tree",
                "-r",
                "-z",
                "--raw",
                "--no-renames",
                "--ignore-submodules=none",
            ])
            .arg(&before.0)
            .arg(&after.0);
        let output = call.stdout_bytes().await?;
        let mut parts = split_nul(&output);
        let mut changes = Vec::new();
        while let (Some(about), Some(path)) = (parts.next(), parts.next()) {
            let change = parse_raw_change(about, path_from_bytes(path));
            changes.push(change.ok_or_else(|| GitError::Unreadable {
                command: "diff-tree".to_owned(),
                what: String::from_utf8_lossy(about).into_owned(),
            })?);
        }
        Ok(changes)
    }

    /// Returns the old path of each file that was renamed between two trees, with its new one. Paths that are not valid
    /// text are left out.
    ///
    /// # Errors
    /// Git fails.
    pub async fn renamed_paths(
        self,
        before: &TreeId,
        after: &TreeId,
    ) -> Result<BTreeMap<String, String>, GitError> {
        let args = [
            "diff-tree",
            "-r",
            "-z",
            "-M",
            "--name-status",
            "--diff-filter=R",
        ];
        let apart = PrivateIndex::empty()?;
        let call = apart.isolated_command(self.git, &args);
        let output = call.arg(&before.0).arg(&after.0).stdout_bytes().await?;
        let words: Vec<&[u8]> = split_nul(&output).collect();
        let text = |word: &[u8]| String::from_utf8(word.to_vec()).ok();
        let rename = |three: &[&[u8]]| match three {
            [_, old, new] => Some((text(old)?, text(new)?)),
            _ => None,
        };
        Ok(words.chunks(3).filter_map(rename).collect())
    }

    /// Returns the diff of two trees as a patch for people, with renames detected, at most 4 MiB.
    ///
    /// # Errors
    /// Git fails.
    pub async fn diff(self, before: &TreeId, after: &TreeId) -> Result<String, GitError> {
        let args = [
            "diff-tree",
            "-r",
            "-p",
            "-M",
            "--no-ext-diff",
            "--no-textconv",
        ];
        let apart = PrivateIndex::empty()?;
        let finished = apart
            .isolated_command(self.git, &args)
            .arg(&before.0)
            .arg(&after.0)
            .max_output(MAX_DIFF_BYTES)
            .output()
            .await?;
        if finished.is_success() {
            return Ok(finished.stdout.to_text());
        }
        Err(GitError::Failed {
            command: "diff-tree".to_owned(),
            output: last_output(&finished),
        })
    }

    /// Returns the complete diff of two trees, for `git apply`.
    ///
    /// # Errors
    /// Git fails.
    pub async fn binary_patch(self, before: &TreeId, after: &TreeId) -> Result<Vec<u8>, GitError> {
        let args = [
            "diff-tree",
            "-r",
            "-p",
            "-M",
            "--binary",
            "--full-index",
            "--no-ext-diff",
            "--no-textconv",
        ];
        let apart = PrivateIndex::empty()?;
        let call = apart.isolated_command(self.git, &args);
        call.arg(&before.0).arg(&after.0).stdout_bytes().await
    }

    /// Reads one file from a tree; `None` where the tree does not contain it.
    ///
    /// # Errors
    /// Git fails.
    pub async fn read_file_in_tree(
        self,
        tree: &TreeId,
        path: &Path,
    ) -> Result<Option<Vec<u8>>, GitError> {
        let git = self.git;
        let entry = git
            .object_command(&["ls-tree", "-z", "--format=%(objecttype) %(objectname)"])
            .arg(&tree.0)
            .arg("--");
        let Some(path) = path.to_str() else {
            return Ok(None);
        };
        let entry = entry.arg(path).literal_paths().stdout_text().await?;
        match entry.trim_end_matches('\0').strip_prefix("blob ") {
            Some(blob) => git
                .object_command(&["cat-file", "blob"])
                .arg(blob)
                .stdout_bytes()
                .await
                .map(Some),
            None => Ok(None),
        }
    }
}

/// Parses `:<mode> <mode> <id> <id> <letter>`.
fn parse_raw_change(about: &[u8], path: PathBuf) -> Option<TreeChange> {
    let about = std::str::from_utf8(about).ok()?;
    let fields: Vec<&str> = about.strip_prefix(':')?.split(' ').collect();
    let [mode_before, mode, id_before, id, letter] = fields[..] else {
        return None;
    };
    let content = |mode: &str, id: &str| (mode != "000000").then(|| format!("{mode} {id}"));
    let kind = match letter.chars().next()? {
        _ if mode_before == "160000" || mode == "160000" => TreeChangeKind::Submodule,
        'A' => TreeChangeKind::Added,
        'D' => TreeChangeKind::Deleted,
        'M' => TreeChangeKind::Modified,
        'T' => TreeChangeKind::Retyped,
        _ => return None,
    };
    Some(TreeChange {
        path,
        kind,
        content: content(mode, id),
        content_before: content(mode_before, id_before),
    })
}
