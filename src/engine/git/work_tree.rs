//! Reads the whole work tree as it is now, in a copy of the index, so that the user's own index stays unchanged.
//!
//! The index that was made for one reading is kept: where nothing differs from it, the next reading is one call of
//! git, and the tree is the same. Where anything differs, it is thrown away, because a file that it contains may be
//! ignored or belong to a nested repository by now.

pub(super) mod tree_restore;
pub(super) mod tree_snapshot;
pub(super) mod tree_writer;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::TreeId;
use super::branch::GitBranches;
use super::error::{GitError, is_encoding_error};
use super::excluded_paths::ExcludedFolders;
use super::git_command::{GitProgram, path_from_bytes, split_nul};
use super::git_trees::GitTrees;
use super::index_update::{FileVersion, file_version};
use super::private_index::PrivateIndex;

/// The total size from which files are stored without compression, in bytes: git packs binary data at about
/// 25 MB a second, and a run would start half a minute late. The objects are packed when git next cleans up.
const BULK_BYTES: u64 = 32 * 1024 * 1024;

/// The empty tree, which every repository knows.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// The user's files, as one tree that is read, stored, restored and written as a whole. Ignored files, the program's own
/// folders and the content of nested repositories are not part of it.
#[derive(Debug, Clone, Copy)]
pub struct GitWorkTree<'a> {
    pub(super) git: &'a GitProgram,
    pub(super) trees: GitTrees<'a>,
    pub(super) excluded: &'a ExcludedFolders,
    pub(super) last_index: &'a SharedIndex,
}

/// The index of the last reading, if there is one; clones of a repository share it.
pub(super) type SharedIndex = Arc<Mutex<Option<KeptIndex>>>;

/// The index of the last reading.
#[derive(Debug)]
pub(super) struct KeptIndex {
    index: PrivateIndex,
    tree: TreeId,
    basis: IndexBasis,
}

/// What an index of the work tree depends on besides the work tree.
#[derive(Debug, PartialEq)]
struct IndexBasis {
    /// The versions of the user's index, the configuration, and git's own lists of ignored files and attributes.
    files: [Option<FileVersion>; 4],
    excluded_folders: ExcludedFolders,
}

impl<'a> GitWorkTree<'a> {
    /// Returns the whole work tree as it is now, including untracked files.
    ///
    /// # Errors
    /// Git fails, or a file cannot be read.
    pub async fn current_tree(self) -> Result<TreeId, GitError> {
        let basis = self.index_basis();
        let kept = self.last_index().take();
        let kept = match kept.filter(|kept| kept.basis == basis) {
            Some(kept) if self.changed_paths(&kept.index.path()).await?.is_empty() => kept,
            _ => self.index_current_tree(basis).await?,
        };
        let tree = kept.tree.clone();
        *self.last_index() = Some(kept);
        Ok(tree)
    }

    fn last_index(self) -> MutexGuard<'a, Option<KeptIndex>> {
        let last = self.last_index.lock();
        last.unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the work tree into a copy of the user's index.
    async fn index_current_tree(self, basis: IndexBasis) -> Result<KeptIndex, GitError> {
        let index = PrivateIndex::copy_of(&self.git.git_dir.join("index"))?;
        let path = &index.path();
        let changed = self.changed_paths(path).await?;
        if !changed.is_empty() {
            self.update_index(path, &changed).await?;
        }
        self.excluded.remove_from_index(self.git, path).await?;
        // Held: it writes the index, too, and so reads files again, through their filters, whose time says too little.
        let tree = self.git.command(&["write-tree"]).index_file(path);
        let tree = TreeId(tree.stdout_text().await?);
        Ok(KeptIndex { index, tree, basis })
    }

    /// Updates an index to the current state of these paths in the work tree; a missing path is removed from
    /// it.
    async fn update_index(self, index: &Path, paths: &[PathBuf]) -> Result<(), GitError> {
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
                let head = GitBranches { git: self.git }.head_tree().await?;
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

    fn index_basis(self) -> IndexBasis {
        let common = &self.git.common_dir;
        let files = [
            self.git.git_dir.join("index"),
            common.join("config"),
            common.join("info/exclude"),
            common.join("info/attributes"),
        ];
        IndexBasis {
            files: files.map(|file| file_version(&file)),
            excluded_folders: self.excluded.clone(),
        }
    }

    /// Lists the paths whose content differs from an index, or that it does not contain.
    async fn changed_paths(self, index: &Path) -> Result<Vec<PathBuf>, GitError> {
        let git = self.git;
        let args = [
            "ls-files",
            "-z",
            "-t",
            "--modified",
            "--deleted",
            "--others",
            "--exclude-standard",
        ];
        let output = git.command(&args).index_file(index).stdout_bytes().await?;
        // A trailing slash marks a repository inside this one: it manages its own files.
        let paths: BTreeSet<PathBuf> = split_nul(&output)
            .filter_map(|entry| entry.get(2..))
            .filter(|path| !path.ends_with(b"/"))
            .map(path_from_bytes)
            .filter(|path| !self.excluded.contains(path))
            .collect();
        Ok(paths.into_iter().collect())
    }
}
