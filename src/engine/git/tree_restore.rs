//! Puts the work tree back to what it was at a snapshot.
//!
//! Touches exactly the files that differ: never an ignored one, never one of the program's own
//! folders, never the user's index, never a submodule.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::TreeId;
use super::error::GitError;
use super::repository::GitRepository;
use super::tree_snapshot::{PrivateIndex, TreeChange, TreeChangeKind};

/// What a restoration did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TreeRestoreReport {
    /// Files that got the snapshot's content back.
    pub written: Vec<PathBuf>,
    /// Files that the snapshot did not have.
    pub removed: Vec<PathBuf>,
    /// Submodules that differ and were left alone.
    pub skipped_submodules: Vec<PathBuf>,
}

impl GitRepository {
    /// Puts the work tree back to a tree.
    ///
    /// What git ignores is decided by the ignore files of the snapshot, so these come back first: a
    /// file that was ignored then is not removed because somebody changed the rules since.
    ///
    /// # Errors
    /// Git fails, or a file cannot be written or removed; what was done until then stays.
    pub async fn restore_tree(&self, tree: &TreeId) -> Result<TreeRestoreReport, GitError> {
        let mut restored = TreeRestoreReport::default();
        let now = self.current_tree().await?;
        let mut changes = self.changes_between(&now, tree).await?;
        changes.retain(|change| is_rule_file(&change.path) && !self.is_excluded(&change.path));
        self.apply_changes(tree, &changes, &mut restored).await?;

        let now = self.current_tree().await?;
        let mut changes = self.changes_between(&now, tree).await?;
        changes.retain(|change| !self.is_excluded(&change.path));
        self.apply_changes(tree, &changes, &mut restored).await?;
        Ok(restored)
    }

    async fn apply_changes(
        &self,
        tree: &TreeId,
        changes: &[TreeChange],
        restored: &mut TreeRestoreReport,
    ) -> Result<(), GitError> {
        let mut written = Vec::new();
        for TreeChange { path, kind, .. } in changes {
            match kind {
                TreeChangeKind::Submodule => restored.skipped_submodules.push(path.clone()),
                TreeChangeKind::Deleted => {
                    self.remove_file_and_empty_folders(path)?;
                    restored.removed.push(path.clone());
                }
                TreeChangeKind::Added | TreeChangeKind::Modified | TreeChangeKind::Retyped => {
                    written.push(path.clone())
                }
            }
        }
        if written.is_empty() {
            return Ok(());
        }
        // A folder that still stands where a file is to come holds ignored files; git would remove them.
        for path in &written {
            let target = self.root.join(path);
            if target.symlink_metadata().is_ok_and(|found| found.is_dir()) {
                let source = std::io::Error::from(ErrorKind::DirectoryNotEmpty);
                return Err(GitError::File {
                    verb: "write",
                    path: target,
                    source,
                });
            }
        }
        let index = PrivateIndex::empty()?;
        self.git_object_command(&["read-tree"])
            .arg(&tree.0)
            .index_file(&index.path())
            .stdout_text()
            .await?;
        let call = self
            .git_command(&["checkout-index", "--force", "-z", "--stdin"])
            .index_file(&index.path())
            .writable_folder(&self.root);
        call.stdin_paths(written.iter().map(PathBuf::as_path))
            .stdout_text()
            .await?;
        restored.written.extend(written);
        Ok(())
    }

    /// Removes a file and the folders that it leaves empty.
    fn remove_file_and_empty_folders(&self, path: &Path) -> Result<(), GitError> {
        let target = self.root.join(path);
        match std::fs::remove_file(&target) {
            Ok(()) => {}
            Err(gone) if gone.kind() == ErrorKind::NotFound => {}
            Err(source) => {
                return Err(GitError::File {
                    verb: "remove",
                    path: target,
                    source,
                });
            }
        }
        for folder in target
            .ancestors()
            .skip(1)
            .take_while(|folder| *folder != self.root)
        {
            if std::fs::remove_dir(folder).is_err() {
                break;
            }
        }
        Ok(())
    }
}

/// Files that decide what git ignores and how it writes others.
fn is_rule_file(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name == ".gitignore" || name == ".gitattributes")
}
