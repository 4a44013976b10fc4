//! Stores the whole work tree as a git tree, and compares such trees.
//!
//! Works on a copy of the index, so that the user's own index stays unchanged. Ignored files, the program's
//! own folders and the content of nested repositories are not part of a tree.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::branch::to_ref_component;
use super::error::{GitError, is_encoding_error};
use super::git_command::{GitCommand, path_from_bytes, split_nul};
use super::repository::GitRepository;
use super::{CommitId, TreeId};

/// The maximum size of a diff that is kept, in bytes.
const MAX_DIFF_BYTES: usize = 4 * 1024 * 1024;

/// The total size from which files are stored without compression, in bytes: git packs binary data at about
/// 25 MB a second, and a run would start half a minute late. The objects are packed when git next cleans up.
const BULK_BYTES: u64 = 32 * 1024 * 1024;

/// The empty tree, which every repository knows.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// The whole work tree at a moment, stored under a reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeSnapshot {
    /// The full name of the reference.
    pub reference: String,
    /// The commit with the tree, on no branch. Its parents are HEAD at that moment and, if the user had
    /// staged content that neither HEAD nor the work tree contains, a commit of the index at that moment.
    pub commit: CommitId,
    pub tree: TreeId,
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

/// A private index that no other program sees; it is removed when this value is dropped.
#[derive(Debug)]
pub(super) struct PrivateIndex {
    folder: TempDir,
}

/// Copies an index with its modification time: git uses this time to detect a file that was changed in the
/// same clock tick as the index, to other content of the same length.
fn copy_with_time(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::copy(from, to)?;
    let changed_at = std::fs::metadata(from)?.modified()?;
    std::fs::File::options()
        .write(true)
        .open(to)?
        .set_modified(changed_at)
}

impl PrivateIndex {
    pub(super) fn empty() -> Result<Self, GitError> {
        let folder = tempfile::Builder::new()
            .prefix("agent-collab-index")
            .tempdir();
        let path = std::env::temp_dir();
        folder
            .map(|folder| Self { folder })
            .map_err(|source| GitError::File {
                verb: "write",
                path,
                source,
            })
    }

    /// Copies the user's index: git need not read again the files that have not changed since.
    pub(super) fn copy_of(user: &Path) -> Result<Self, GitError> {
        let index = Self::empty()?;
        match copy_with_time(user, &index.path()) {
            Ok(()) => Ok(index),
            Err(source) if source.kind() == std::io::ErrorKind::NotFound => Ok(index),
            Err(source) => Err(GitError::File {
                verb: "read",
                path: user.to_path_buf(),
                source,
            }),
        }
    }

    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().join("index")
    }

    /// Returns the folder that contains the index.
    pub(super) fn folder(&self) -> PathBuf {
        let folder = self.folder.path();
        folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
    }

    /// Returns a path beside the index for other temporary files.
    pub(super) fn sibling_path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

impl GitRepository {
    /// Stores the whole work tree under `refs/agent-collab/<run>/<name>` and replaces an earlier snapshot
    /// with that name. Index, work tree and branches stay unchanged.
    ///
    /// # Errors
    /// Git fails, or a file cannot be read.
    pub async fn snapshot(&self, name: &str) -> Result<TreeSnapshot, GitError> {
        let tree = self.current_tree().await?;
        self.store_snapshot(name, tree).await
    }

    /// Stores a tree of the whole work tree as a snapshot, with what is staged now.
    ///
    /// # Errors
    /// Git fails.
    pub async fn store_snapshot(&self, name: &str, tree: TreeId) -> Result<TreeSnapshot, GitError> {
        let reference = format!(
            "refs/agent-collab/{}/{}",
            to_ref_component(&self.git.settings.run),
            to_ref_component(name)
        );
        let mut parents: Vec<CommitId> = self
            .branches()
            .head()
            .await?
            .commit()
            .cloned()
            .into_iter()
            .collect();
        if let Some(staged) = self.staged_tree().await?
            && staged != tree
            && Some(&staged) != self.branches().head_tree().await?.as_ref()
        {
            let message = format!("agent-collab: {name}: what was staged");
            parents.push(self.commit_tree(&staged, &parents, &message).await?);
        }
        let message = format!("agent-collab: {name}");
        let commit = self.commit_tree(&tree, &parents, &message).await?;
        self.git
            .object_command(&["update-ref"])
            .arg(&reference)
            .arg(&commit.0)
            .stdout_text()
            .await?;
        Ok(TreeSnapshot {
            reference,
            commit,
            tree,
        })
    }

    /// Creates a commit in the program's own name, on no branch.
    async fn commit_tree(
        &self,
        tree: &TreeId,
        parents: &[CommitId],
        message: &str,
    ) -> Result<CommitId, GitError> {
        let mut call = self.git.object_command(&["commit-tree", "-m"]).arg(message);
        for parent in parents {
            call = call.arg("-p").arg(&parent.0);
        }
        for variable in ["GIT_AUTHOR", "GIT_COMMITTER"] {
            call = call
                .env(&format!("{variable}_NAME"), "agent-collab")
                .env(&format!("{variable}_EMAIL"), "agent-collab@localhost");
        }
        call.arg(&tree.0).stdout_text().await.map(CommitId)
    }

    /// Returns the user's index as a tree, without the program's own folders; `None` during a merge with
    /// conflicts, which no tree can represent.
    async fn staged_tree(&self) -> Result<Option<TreeId>, GitError> {
        let args = ["diff-index", "--cached", "--quiet", "--no-ext-diff", "HEAD"];
        if self.git.object_command(&args).output().await?.is_success() {
            // The staged content equals HEAD.
            return Ok(None);
        }
        let index = PrivateIndex::copy_of(&self.git.git_dir.join("index"))?;
        let index = &index.path();
        self.excluded_folders
            .remove_from_index(&self.git, index)
            .await?;
        let unmerged = self
            .git
            .object_command(&["ls-files", "-z", "--unmerged"])
            .index_file(index)
            .stdout_bytes()
            .await?;
        if !unmerged.is_empty() {
            return Ok(None);
        }
        let tree = self
            .git
            .command(&["write-tree"])
            .index_file(index)
            .stdout_text()
            .await?;
        Ok(Some(TreeId(tree)))
    }

    /// Updates an index to the current state of these paths in the work tree; a missing path is removed from
    /// it.
    pub(super) async fn update_index(
        &self,
        index: &Path,
        paths: &[PathBuf],
    ) -> Result<(), GitError> {
        let sizes = paths.iter().filter_map(|path| {
            let found = self.git.root.join(path).symlink_metadata();
            // A missing file has no size.
            found.ok().map(|found| found.len())
        });
        let is_bulk = sizes.sum::<u64>() >= BULK_BYTES;
        let call = || {
            let args = [
                "update-index",
                "-z",
                "--add",
                "--remove",
                "--replace",
                "--stdin",
            ];
            let mut call = self.git.command(&args).index_file(index);
            if is_bulk {
                call = call.config("core.looseCompression=0");
            }
            call.stdin_paths(paths.iter().map(PathBuf::as_path))
        };
        match call().stdout_text().await {
            Err(GitError::Failed { output, .. }) if is_encoding_error(&output) => {
                // A .gitattributes file names an unknown encoding: use the attributes of the last commit
                // instead.
                let head = self.branches().head_tree().await?;
                let source = head.map_or_else(|| EMPTY_TREE.to_owned(), |tree| tree.0);
                call()
                    .env("GIT_ATTR_SOURCE", source)
                    .stdout_text()
                    .await
                    .map(drop)
            }
            told => told.map(drop),
        }
    }

    /// Lists the paths that differ between two trees.
    ///
    /// # Errors
    /// Git fails.
    pub async fn changes_between(
        &self,
        before: &TreeId,
        after: &TreeId,
    ) -> Result<Vec<TreeChange>, GitError> {
        let pair = (before.clone(), after.clone());
        if let Some(known) = self.tree_cache.changes.find(&pair) {
            return Ok(known.to_vec());
        }
        let changes = self.read_changes_between(before, after).await?;
        self.tree_cache
            .changes
            .keep(pair, Arc::new(changes.clone()));
        Ok(changes)
    }

    async fn read_changes_between(
        &self,
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
        &self,
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
        let call = self.isolated_command(&args, &apart);
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
    pub async fn diff(&self, before: &TreeId, after: &TreeId) -> Result<String, GitError> {
        let args = [
            "diff-tree",
            "-r",
            "-p",
            "-M",
            "--no-ext-diff",
            "--no-textconv",
        ];
        let apart = PrivateIndex::empty()?;
        let finished = self
            .isolated_command(&args, &apart)
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
            output: super::git_command::last_output(&finished),
        })
    }

    /// Returns the complete diff of two trees, for `git apply`.
    ///
    /// # Errors
    /// Git fails.
    pub async fn binary_patch(&self, before: &TreeId, after: &TreeId) -> Result<Vec<u8>, GitError> {
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
        let call = self.isolated_command(&args, &apart);
        call.arg(&before.0).arg(&after.0).stdout_bytes().await
    }

    /// Builds a call that sees neither files nor an index, so that no `.gitattributes` in them can hide a
    /// change.
    fn isolated_command<'a>(&'a self, args: &[&str], apart: &'a PrivateIndex) -> GitCommand<'a> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let (git, folder) = (&self.git, apart.folder.path());
        GitCommand::new(&git.settings, folder, args)
            .index_file(&apart.path())
            .env("GIT_DIR", text(&git.git_dir))
            .env("GIT_WORK_TREE", text(folder))
    }

    /// Reads one file from a tree; `None` where the tree does not contain it.
    ///
    /// # Errors
    /// Git fails.
    pub async fn read_file_in_tree(
        &self,
        tree: &TreeId,
        path: &Path,
    ) -> Result<Option<Vec<u8>>, GitError> {
        let entry = self
            .git
            .object_command(&["ls-tree", "-z", "--format=%(objecttype) %(objectname)"])
            .arg(&tree.0)
            .arg("--");
        let Some(path) = path.to_str() else {
            return Ok(None);
        };
        let entry = entry.arg(path).literal_paths().stdout_text().await?;
        match entry.trim_end_matches('\0').strip_prefix("blob ") {
            Some(blob) => self
                .git
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
