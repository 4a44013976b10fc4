//! A private index, for what git does with an index and must not do with the user's.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::error::GitError;
use super::git_command::{GitCommand, GitProgram};

/// A private index that no other program sees; it is removed when this value is dropped.
#[derive(Debug)]
pub(super) struct PrivateIndex {
    folder: TempDir,
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

    /// Builds a call that sees neither files nor an index, so that no `.gitattributes` in them can hide a
    /// change.
    pub(super) fn isolated_command<'a>(
        &'a self,
        git: &'a GitProgram,
        args: &[&str],
    ) -> GitCommand<'a> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let folder = self.folder.path();
        GitCommand::new(&git.settings, folder, args)
            .index_file(&self.path())
            .env("GIT_DIR", text(&git.git_dir))
            .env("GIT_WORK_TREE", text(folder))
    }
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
