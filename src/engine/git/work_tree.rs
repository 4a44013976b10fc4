//! Reads the whole work tree as it is now.
//!
//! The index that was made for one reading is kept: where nothing differs from it, the next reading is one call of
//! git, and the tree is the same. Where anything differs, it is thrown away, because a file that it contains may be
//! ignored or belong to a nested repository by now.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{MutexGuard, PoisonError};

use super::TreeId;
use super::error::GitError;
use super::excluded_paths::ExcludedFolders;
use super::git_command::{path_from_bytes, split_nul};
use super::index_update::{FileVersion, file_version};
use super::repository::GitRepository;
use super::tree_snapshot::PrivateIndex;

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

impl GitRepository {
    /// Returns the whole work tree as it is now, including untracked files.
    ///
    /// # Errors
    /// Git fails, or a file cannot be read.
    pub async fn current_tree(&self) -> Result<TreeId, GitError> {
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

    fn last_index(&self) -> MutexGuard<'_, Option<KeptIndex>> {
        let last = self.tree_cache.last_index.lock();
        last.unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the work tree into a copy of the user's index.
    async fn index_current_tree(&self, basis: IndexBasis) -> Result<KeptIndex, GitError> {
        let index = PrivateIndex::copy_of(&self.git.git_dir.join("index"))?;
        let path = &index.path();
        let changed = self.changed_paths(path).await?;
        if !changed.is_empty() {
            self.update_index(path, &changed).await?;
        }
        self.excluded_folders
            .remove_from_index(&self.git, path)
            .await?;
        // Held: it writes the index, too, and so reads files again, through their filters, whose time says too little.
        let tree = self.git.command(&["write-tree"]).index_file(path);
        let tree = TreeId(tree.stdout_text().await?);
        Ok(KeptIndex { index, tree, basis })
    }

    fn index_basis(&self) -> IndexBasis {
        let common = &self.git.common_dir;
        let files = [
            self.git.git_dir.join("index"),
            common.join("config"),
            common.join("info/exclude"),
            common.join("info/attributes"),
        ];
        IndexBasis {
            files: files.map(|file| file_version(&file)),
            excluded_folders: self.excluded_folders.clone(),
        }
    }

    /// Lists the paths whose content differs from an index, or that it does not contain.
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
            .git
            .command(&args)
            .index_file(index)
            .stdout_bytes()
            .await?;
        // A trailing slash marks a repository inside this one: it manages its own files.
        let paths: BTreeSet<PathBuf> = split_nul(&output)
            .filter_map(|entry| entry.get(2..))
            .filter(|path| !path.ends_with(b"/"))
            .map(path_from_bytes)
            .filter(|path| !self.is_excluded(path))
            .collect();
        Ok(paths.into_iter().collect())
    }
}
