//! The program's own folders in the work tree: no tree, restoration, commit or list of changes holds them.
//!
//! Refuses to know what lies in them.

use std::path::{Component, Path, PathBuf};

use super::discover::Repository;
use super::error::GitError;
use super::invoke::{nul_parts, path_of};

/// The folder that is the program's in every repository.
pub(super) const OWN_FOLDER: &str = ".agent-collab";

impl Repository {
    /// The same repository, in which one more folder is the program's own: absolute below the real
    /// root, or relative to it. The root itself and a folder outside of it change nothing.
    #[must_use]
    pub fn with_own(mut self, folder: &Path) -> Self {
        let below = folder.strip_prefix(&self.root).unwrap_or(folder);
        let folder: PathBuf = plain(below).collect();
        let is_inside = below
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if is_inside && folder.components().next().is_some() && !self.own.contains(&folder) {
            self.own.push(folder);
        }
        self
    }

    /// Tells whether a path, relative to the root, is the program's own.
    pub fn is_own(&self, path: &Path) -> bool {
        let path: PathBuf = plain(path).collect();
        self.own.iter().any(|folder| path.starts_with(folder))
    }

    /// Takes the program's own folders out of an index.
    pub(super) async fn forget_own(&self, index: &Path) -> Result<(), GitError> {
        let mut list = self.git_on_objects(&["ls-files", "-z", "--"]).index(index);
        for folder in &self.own {
            list = list.arg(folder.to_string_lossy());
        }
        let own = list.literal_paths().bytes().await?;
        if own.is_empty() {
            return Ok(());
        }
        let own: Vec<PathBuf> = nul_parts(&own).map(path_of).collect();
        let call = self
            .git(&["update-index", "-z", "--force-remove", "--stdin"])
            .index(index);
        call.paths(own.iter().map(PathBuf::as_path))
            .text()
            .await
            .map(drop)
    }
}

fn plain(path: &Path) -> impl Iterator<Item = Component<'_>> {
    path.components().filter(|part| *part != Component::CurDir)
}
