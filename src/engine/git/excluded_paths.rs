//! Excludes the program's own folders in the work tree from every tree, restore, commit and list of changes.

use std::path::{Component, Path, PathBuf};

use super::error::GitError;
use super::git_command::{path_from_bytes, split_nul};
use super::repository::GitRepository;

/// The folder that belongs to the program in every repository.
pub(super) const OWN_FOLDER: &str = ".agent-collab";

impl GitRepository {
    /// Adds one more folder that belongs to the program: absolute below the real root, or relative to it. The
    /// root itself and a folder outside of it change nothing.
    #[must_use]
    pub fn with_excluded_folder(mut self, folder: &Path) -> Self {
        let below = folder.strip_prefix(&self.root).unwrap_or(folder);
        let folder: PathBuf = without_current_dir(below).collect();
        let is_inside = below
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if is_inside
            && folder.components().next().is_some()
            && !self.excluded_folders.contains(&folder)
        {
            self.excluded_folders.push(folder);
        }
        self
    }

    /// Returns true if a path, relative to the root, belongs to the program.
    pub fn is_excluded(&self, path: &Path) -> bool {
        let path: PathBuf = without_current_dir(path).collect();
        self.excluded_folders
            .iter()
            .any(|folder| path.starts_with(folder))
    }

    /// Removes the program's own folders from an index.
    pub(super) async fn remove_excluded_from_index(&self, index: &Path) -> Result<(), GitError> {
        let mut list = self
            .git_object_command(&["ls-files", "-z", "--"])
            .index_file(index);
        for folder in &self.excluded_folders {
            list = list.arg(folder.to_string_lossy());
        }
        let own = list.literal_paths().stdout_bytes().await?;
        if own.is_empty() {
            return Ok(());
        }
        let own: Vec<PathBuf> = split_nul(&own).map(path_from_bytes).collect();
        let call = self
            .git_command(&["update-index", "-z", "--force-remove", "--stdin"])
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
