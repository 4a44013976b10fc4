//! Folders for temporary files that a contained child has for itself, on the disk where the user keeps such files.
//!
//! They lie among the run's scratch folders, so that what a killed program left of them is found.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::canonical_path;
use super::user_environment::UserEnvironment;
use crate::engine::runtime_dir;
use crate::process::{SandboxMount, ScratchFolder};

/// Where everybody's temporary files are.
const SHARED_TEMP_FOLDERS: &[&str] = &["/tmp", "/var/tmp"];

/// What a contained child writes that nobody needs afterwards.
#[derive(Debug)]
pub(super) struct SandboxScratch {
    folder: Option<TempDir>,
    n: usize,
}

impl SandboxScratch {
    /// Makes the run's folder for it. Where none can be made such places lie in memory.
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

    /// An empty folder in it.
    pub(super) fn create_empty_folder(&mut self, mode: u32) -> Option<PathBuf> {
        let folder = self.folder.as_ref()?.path().join(self.n.to_string());
        self.n += 1;
        let made = DirBuilder::new().mode(mode).create(&folder);
        made.inspect_err(|error| tracing::warn!(%error, "a scratch folder cannot be made"))
            .ok()?;
        Some(folder)
    }

    /// What removes it with the last child that uses it.
    pub(super) fn into_folder(self) -> Option<ScratchFolder> {
        self.folder.map(ScratchFolder::new)
    }
}

/// The real folders of temporary files; not one that is part of the repository.
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

/// Puts a folder of the child's own in place of each of these.
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

/// What the child needs of the user's that lies among temporary files: whatever its variables and arguments name. It is
/// there to be read; what `places` say of it comes first.
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
