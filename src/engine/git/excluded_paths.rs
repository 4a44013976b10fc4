//! Excludes the program's own folders in the work tree from every tree, restore, commit and list of changes.

use std::path::{Component, Path, PathBuf};

use super::error::GitError;
use super::git_command::{GitProgram, path_from_bytes, split_nul};

/// The folder that belongs to the program in every repository.
const OWN_FOLDER: &str = ".agent-collab";

/// The program's own folders, relative to the root of the work tree.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ExcludedFolders(Vec<PathBuf>);

impl Default for ExcludedFolders {
    fn default() -> Self {
        Self(vec![PathBuf::from(OWN_FOLDER)])
    }
}

impl ExcludedFolders {
    /// Adds one more folder. An empty path, and one that leads out of the root, change nothing.
    pub(super) fn add(&mut self, below: &Path) {
        let folder: PathBuf = without_current_dir(below).collect();
        let is_inside = below
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if is_inside && folder.components().next().is_some() && !self.0.contains(&folder) {
            self.0.push(folder);
        }
    }

    /// Returns true if a path, relative to the root, belongs to the program.
    pub(super) fn contains(&self, path: &Path) -> bool {
        let path: PathBuf = without_current_dir(path).collect();
        self.0.iter().any(|folder| path.starts_with(folder))
    }

    /// Removes the program's own folders from an index.
    pub(super) async fn remove_from_index(
        &self,
        git: &GitProgram,
        index: &Path,
    ) -> Result<(), GitError> {
        let mut list = git
            .object_command(&["ls-files", "-z", "--"])
            .index_file(index);
        for folder in &self.0 {
            list = list.arg(folder.to_string_lossy());
        }
        let own = list.literal_paths().stdout_bytes().await?;
        if own.is_empty() {
            return Ok(());
        }
        let own: Vec<PathBuf> = split_nul(&own).map(path_from_bytes).collect();
        let call = git
            .command(&["update-index", "-z", "--force-remove", "--stdin"])
            .index_file(index);
        call.stdin_paths(own.iter().map(PathBuf::as_path))
            .stdout_text()
            .await
            .map(drop)
    }
}

fn without_current_dir(path: &Path) -> impl Iterator<Item = Component<'_>> {
    path.components().filter(|part| *part != Component::CurDir)
}
