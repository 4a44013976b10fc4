//! The whole work tree as a git tree: now, at a named moment, and what changed in between.
//!
//! Works on a copy of the index, so that the user's own stays as it is. Ignored files,
//! the program's own folders and what is inside nested repositories are not part of a tree.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::branch::to_ref_component;
use super::error::{GitError, is_encoding_error};
use super::git_command::{GitCommand, path_from_bytes, split_nul};
use super::repository::GitRepository;
use super::{CommitId, TreeId};

/// How much of a diff is kept, in bytes.
const MAX_DIFF_BYTES: usize = 4 * 1024 * 1024;

/// From how many bytes on files are stored without compression: git packs at about 25 MB a second what is no text, and a
/// run would begin half a minute late. What is kept is packed when git next cleans up.
const BULK_BYTES: u64 = 32 * 1024 * 1024;

/// The tree that holds nothing, which every repository knows.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// The whole work tree at a moment, kept under a reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeSnapshot {
    /// The full name of the reference that keeps it.
    pub reference: String,
    /// The commit that holds it, on no branch. Its parents are HEAD at that moment and, where the user
    /// had staged what neither HEAD nor the work tree holds, a commit of the index as it was.
    pub commit: CommitId,
    /// The tree.
    pub tree: TreeId,
}

/// A path that differs between two trees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeChange {
    /// The path, relative to the root; a moved file is two changes.
    pub path: PathBuf,
    /// How it differs.
    pub kind: TreeChangeKind,
    /// What the later tree has there, as git's mode and object id (`100755 3b18e5…`); `None` where it has nothing.
    pub content: Option<String>,
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
    /// A submodule came, went or moved to another commit.
    Submodule,
}

/// An index of our own that nobody else sees; gone with this value.
pub(super) struct PrivateIndex {
    folder: TempDir,
}

/// Copies an index with its time of change: by it git tells a file that was changed in the same tick as
/// the index, to another content of the same length, from one that was not.
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

    /// A copy of the user's index: what has not changed since needs no reading again.
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

    /// The folder that it lies in.
    pub(super) fn folder(&self) -> PathBuf {
        let folder = self.folder.path();
        folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
    }

    /// A place beside the index for other passing files.
    pub(super) fn sibling_path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

impl GitRepository {
    /// Stores the whole work tree under `refs/agent-collab/<run>/<name>`, over an earlier one of that
    /// name. Index, work tree and branches stay as they are.
    ///
    /// # Errors
    /// Git fails, or a file cannot be read.
    pub async fn snapshot(&self, name: &str) -> Result<TreeSnapshot, GitError> {
        let tree = self.current_tree().await?;
        let reference = format!(
            "refs/agent-collab/{}/{}",
            to_ref_component(&self.settings.run),
            to_ref_component(name)
        );
        let mut parents: Vec<CommitId> = self.head().await?.commit().cloned().into_iter().collect();
        if let Some(staged) = self.staged_tree().await?
            && staged != tree
            && Some(&staged) != self.head_tree().await?.as_ref()
        {
            let message = format!("agent-collab: {name}: what was staged");
            parents.push(self.commit_tree(&staged, &parents, &message).await?);
        }
        let message = format!("agent-collab: {name}");
        let commit = self.commit_tree(&tree, &parents, &message).await?;
        self.git_object_command(&["update-ref"])
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

    /// Makes a commit in the program's own name, on no branch.
    async fn commit_tree(
        &self,
        tree: &TreeId,
        parents: &[CommitId],
        message: &str,
    ) -> Result<CommitId, GitError> {
        let mut call = self.git_object_command(&["commit-tree", "-m"]).arg(message);
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

    /// The user's index as it is, without the program's own folders; `None` in the middle of a merge's
    /// conflicts, which no tree can hold.
    async fn staged_tree(&self) -> Result<Option<TreeId>, GitError> {
        let args = ["diff-index", "--cached", "--quiet", "--no-ext-diff", "HEAD"];
        if self.git_object_command(&args).output().await?.is_success() {
            // What is staged is what HEAD holds.
            return Ok(None);
        }
        let index = PrivateIndex::copy_of(&self.git_dir.join("index"))?;
        let index = &index.path();
        self.remove_excluded_from_index(index).await?;
        let unmerged = self
            .git_object_command(&["ls-files", "-z", "--unmerged"])
            .index_file(index)
            .stdout_bytes()
            .await?;
        if !unmerged.is_empty() {
            return Ok(None);
        }
        let tree = self
            .git_command(&["write-tree"])
            .index_file(index)
            .stdout_text()
            .await?;
        Ok(Some(TreeId(tree)))
    }

    /// The whole work tree as it is now, untracked files included.
    ///
    /// # Errors
    /// Git fails, or a file cannot be read.
    pub async fn current_tree(&self) -> Result<TreeId, GitError> {
        let index = PrivateIndex::copy_of(&self.git_dir.join("index"))?;
        let index = &index.path();
        let changed = self.changed_paths(index).await?;
        if !changed.is_empty() {
            self.update_index(index, &changed).await?;
        }
        self.remove_excluded_from_index(index).await?;
        self.git_command(&["write-tree"])
            .index_file(index)
            .stdout_text()
            .await
            .map(TreeId)
    }

    /// The paths whose content differs from an index, or that it does not have.
    async fn changed_paths(&self, index: &Path) -> Result<Vec<PathBuf>, GitError> {
        let args = [
            "ls-files",
            "-z",
            "-t",
            "--modified",
            "--deleted",
            "--others",
            "--exclude-standard",
        ];
        let output = self
            .git_command(&args)
            .index_file(index)
            .stdout_bytes()
            .await?;
        // A slash at the end marks a repository inside this one: it keeps itself.
        let paths: BTreeSet<PathBuf> = split_nul(&output)
            .filter_map(|entry| entry.get(2..))
            .filter(|path| !path.ends_with(b"/"))
            .map(path_from_bytes)
            .filter(|path| !self.is_excluded(path))
            .collect();
        Ok(paths.into_iter().collect())
    }

    /// Takes paths as they are in the work tree into an index; a path that is gone goes out of it.
    pub(super) async fn update_index(
        &self,
        index: &Path,
        paths: &[PathBuf],
    ) -> Result<(), GitError> {
        let sizes = paths.iter().filter_map(|path| {
            let found = self.root.join(path).symlink_metadata();
            // One that is gone has none.
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
            let mut call = self.git_command(&args).index_file(index);
            if is_bulk {
                call = call.config("core.looseCompression=0");
            }
            call.stdin_paths(paths.iter().map(PathBuf::as_path))
        };
        match call().stdout_text().await {
            Err(GitError::Failed { output, .. }) if is_encoding_error(&output) => {
                // Somebody's .gitattributes names an encoding that is none: they are stored as those of the last
                // commit say.
                let head = self.head_tree().await?;
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
        let call = self
            .git_object_command(&[
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
            let (kind, content) = parse_raw_change(about).ok_or_else(|| GitError::Unreadable {
                command: "diff-tree".to_owned(),
                what: String::from_utf8_lossy(about).into_owned(),
            })?;
            changes.push(TreeChange {
                path: path_from_bytes(path),
                kind,
                content,
            });
        }
        Ok(changes)
    }

    /// The difference of two trees as a patch for people, moved files recognised, at most 4 MiB.
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

    /// The difference of two trees whole, for git to apply again.
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

    /// Begins a call that sees neither files nor an index: no `.gitattributes` in them hides a change from it.
    fn isolated_command<'a>(&'a self, args: &[&str], apart: &'a PrivateIndex) -> GitCommand<'a> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let folder = apart.folder.path();
        GitCommand::new(&self.settings, folder, args)
            .index_file(&apart.path())
            .env("GIT_DIR", text(&self.git_dir))
            .env("GIT_WORK_TREE", text(folder))
    }

    /// One file's bytes in a tree; `None` where the tree does not have it.
    ///
    /// # Errors
    /// Git fails.
    pub async fn read_file_in_tree(
        &self,
        tree: &TreeId,
        path: &Path,
    ) -> Result<Option<Vec<u8>>, GitError> {
        let entry = self
            .git_object_command(&["ls-tree", "-z", "--format=%(objecttype) %(objectname)"])
            .arg(&tree.0)
            .arg("--");
        let Some(path) = path.to_str() else {
            return Ok(None);
        };
        let entry = entry.arg(path).literal_paths().stdout_text().await?;
        match entry.trim_end_matches('\0').strip_prefix("blob ") {
            Some(blob) => self
                .git_object_command(&["cat-file", "blob"])
                .arg(blob)
                .stdout_bytes()
                .await
                .map(Some),
            None => Ok(None),
        }
    }
}

/// Reads `:<mode> <mode> <id> <id> <letter>`: how it differs, and what the later tree has.
fn parse_raw_change(about: &[u8]) -> Option<(TreeChangeKind, Option<String>)> {
    let about = std::str::from_utf8(about).ok()?;
    let fields: Vec<&str> = about.strip_prefix(':')?.split(' ').collect();
    let [mode_before, mode, _, id, letter] = fields[..] else {
        return None;
    };
    let content = (mode != "000000").then(|| format!("{mode} {id}"));
    if mode_before == "160000" || mode == "160000" {
        return Some((TreeChangeKind::Submodule, content));
    }
    let kind = match letter.chars().next()? {
        'A' => TreeChangeKind::Added,
        'D' => TreeChangeKind::Deleted,
        'M' => TreeChangeKind::Modified,
        'T' => TreeChangeKind::Retyped,
        _ => return None,
    };
    Some((kind, content))
}
