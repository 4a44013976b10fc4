//! Restores the work tree to a snapshot.
//!
//! Touches exactly the files that differ: never an ignored file, the program's own folders, the user's index
//! or a submodule.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::GitWorkTree;
use crate::engine::git::TreeId;
use crate::engine::git::error::GitError;
use crate::engine::git::git_trees::{TreeChange, TreeChangeKind};
use crate::engine::git::private_index::PrivateIndex;

/// The result of a restore.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TreeRestoreReport {
    /// Files that got the snapshot's content back.
    pub written: Vec<PathBuf>,
    /// Files that the snapshot does not contain.
    pub removed: Vec<PathBuf>,
    /// Submodules that differ; they stay unchanged.
    pub skipped_submodules: Vec<PathBuf>,
}

impl GitWorkTree<'_> {
    /// Restores the work tree to a tree.
    ///
    /// The ignore files of the snapshot decide what git ignores, so they are restored first: a file that was
    /// ignored then is not removed because the rules have changed since.
    ///
    /// # Errors
    /// Git fails, or a file cannot be written or removed; what was done until then stays.
    pub async fn restore_tree(self, tree: &TreeId) -> Result<TreeRestoreReport, GitError> {
        let mut restored = TreeRestoreReport::default();
        let now = self.current_tree().await?;
        let mut changes = self.trees.changes_between(&now, tree).await?;
        changes
            .retain(|change| is_rule_file(&change.path) && !self.excluded.contains(&change.path));
        self.apply_changes(tree, &changes, &mut restored).await?;

        let now = self.current_tree().await?;
        let mut changes = self.trees.changes_between(&now, tree).await?;
        changes.retain(|change| !self.excluded.contains(&change.path));
        self.apply_changes(tree, &changes, &mut restored).await?;
        Ok(restored)
    }

    async fn apply_changes(
        self,
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
        // A folder that is still in the place of a file contains ignored files; git would remove them.
        for path in &written {
            let target = self.git.root.join(path);
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
        self.git
            .object_command(&["read-tree"])
            .arg(&tree.0)
            .index_file(&index.path())
            .stdout_text()
            .await?;
        let call = self
            .git
            .command(&["checkout-index", "--force", "-z", "--stdin"])
            .index_file(&index.path())
            .writable_folder(&self.git.root);
        call.stdin_paths(written.iter().map(PathBuf::as_path))
            .stdout_text()
            .await?;
        restored.written.extend(written);
        Ok(())
    }

    /// Removes a file and the folders that are empty afterwards.
    fn remove_file_and_empty_folders(self, path: &Path) -> Result<(), GitError> {
        let target = self.git.root.join(path);
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
            .take_while(|folder| *folder != self.git.root)
        {
            if std::fs::remove_dir(folder).is_err() {
                break;
            }
        }
        Ok(())
    }
}

/// Returns true for files that decide what git ignores and how it writes others.
fn is_rule_file(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name == ".gitignore" || name == ".gitattributes")
}
