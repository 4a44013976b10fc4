//! Creates private temporary folders for a sandboxed child, on the disk of the user's temporary files.
//!
//! They are below the run's scratch folders, so that the leftovers of a killed program can be found.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::canonical_path;
use super::user_environment::UserEnvironment;
use crate::engine::runtime_dir;
use crate::process::{SandboxMount, ScratchFolder};

/// The shared temporary folders.
const SHARED_TEMP_FOLDERS: &[&str] = &["/tmp", "/var/tmp"];

/// The folder for everything temporary that a sandboxed child writes.
#[derive(Debug)]
pub(super) struct SandboxScratch {
    folder: Option<TempDir>,
    n: usize,
}

impl SandboxScratch {
    /// Creates the folder for a run. Where this fails, temporary folders are in memory.
    pub(super) fn new(run: &str) -> Self {
        let folder = runtime_dir::create_run_dir(run, Path::new(""));
        let folder = folder.inspect_err(
            |error| tracing::warn!(%error, "temporary files of sandboxed commands are in memory"),
        );
        Self {
            folder: folder.ok(),
            n: 0,
        }
    }

    /// Creates an empty folder in it.
    pub(super) fn create_empty_folder(&mut self, mode: u32) -> Option<PathBuf> {
        let folder = self.folder.as_ref()?.path().join(self.n.to_string());
        self.n += 1;
        let made = DirBuilder::new().mode(mode).create(&folder);
        made.inspect_err(|error| tracing::warn!(%error, "cannot create a scratch folder"))
            .ok()?;
        Some(folder)
    }

    /// Returns the value that removes the folder when the last child that uses it has ended.
    pub(super) fn into_folder(self) -> Option<ScratchFolder> {
        self.folder.map(ScratchFolder::new)
    }
}

/// Returns the real temporary folders, except one that is part of the repository.
pub(super) fn find_temp_folders(user: &UserEnvironment, root: &Path) -> Vec<PathBuf> {
    let named =
        std::iter::once(user.temp_folder()).chain(SHARED_TEMP_FOLDERS.iter().map(PathBuf::from));
    let mut folders: Vec<PathBuf> = named
        .filter_map(|path| canonical_path(&path))
        .filter(|path| path.is_dir() && !path.starts_with(root))
        .collect();
    folders.sort();
    folders.dedup();
    folders
}

/// Mounts a private folder over each of these.
pub(super) fn private_temp_mounts(
    folders: &[PathBuf],
    scratch: &mut SandboxScratch,
) -> Vec<(PathBuf, SandboxMount)> {
    let own = |folder: &PathBuf| match scratch.create_empty_folder(0o700) {
        Some(empty) => (folder.clone(), SandboxMount::BindFrom(empty)),
        None => (folder.clone(), SandboxMount::EmptyFolder),
    };
    folders.iter().map(own).collect()
}

/// Mounts what the child needs of the user's temporary files: the paths that its variables and arguments
/// name. They are read-only; `places` take precedence.
pub(super) fn mentioned_temp_mounts(
    folders: &[PathBuf],
    named: impl IntoIterator<Item = PathBuf>,
    places: &[(PathBuf, SandboxMount)],
) -> Vec<(PathBuf, SandboxMount)> {
    let is_below = |path: &PathBuf| {
        folders
            .iter()
            .any(|folder| path.starts_with(folder) && path != folder)
    };
    let is_said = |path: &PathBuf| {
        let mut others = places.iter().filter(|(place, _)| !folders.contains(place));
        others.any(|(place, _)| path.starts_with(place))
    };
    let mut kept: Vec<PathBuf> = named
        .into_iter()
        .filter_map(|path| canonical_path(&path))
        .filter(|path| is_below(path) && !folders.contains(path) && !is_said(path))
        .filter(|path| !folders.iter().any(|folder| folder.starts_with(path)))
        .filter(|path| path.is_dir() || path.is_file())
        .collect();
    kept.sort();
    kept.dedup();
    kept.into_iter()
        .map(|path| (path, SandboxMount::ReadOnly))
        .collect()
}
