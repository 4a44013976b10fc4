//! Decides what a sandboxed CLI sees and writes of its own folder in the user's home directory.
//!
//! An empty folder in memory is mounted over it. Settings in it are read-only, and what must outlive the process
//! is writable. Anything else that is written there is discarded when the process ends, however it ends.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::canonical_path;
use crate::adapter::{CliStateFolder, StateEntry, StateEntryKind};
use crate::process::SandboxMount;

/// Returns the mounts of a CLI's own folder; `cwd` is where the CLI starts and `root` the repository it works in.
/// Empty if the folder is unknown or cannot be created; then it is read-only like everything else.
pub(super) fn state_folder_mounts(
    own: &CliStateFolder,
    cwd: &Path,
    root: &Path,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Vec<(PathBuf, SandboxMount)> {
    let named = variable(own.env_variable).filter(|value| !value.is_empty());
    let home = variable("HOME").map(PathBuf::from);
    let Some(folder) = named
        .as_ref()
        .map(|folder| cwd.join(folder))
        .or_else(|| Some(home.as_ref()?.join(own.default_path_in_home)))
    else {
        return Vec::new();
    };
    let made = ensure_folder(&folder);
    let Some(folder) = made.and_then(canonical_path) else {
        return Vec::new();
    };
    let beside = home.iter().filter(|_| named.is_none());
    let beside = beside.flat_map(|home| {
        own.settings_files_in_home
            .iter()
            .map(|name| home.join(name))
    });
    let mut places: Vec<_> = beside
        .filter_map(|path| Some((canonical_path(&path)?, SandboxMount::ReadOnly)))
        .collect();
    // If the repository itself is that folder, the agent works on its files, so they must stay visible.
    if folder != root {
        places.push((folder.clone(), SandboxMount::EmptyFolder));
        places.extend(read_only_mounts(own, &folder));
    }
    places.extend(
        own.entries
            .iter()
            .filter_map(|place| state_entry_mount(place, &folder)),
    );
    places
}

/// Mounts read-only everything in the folder that has no entry of its own in the CLI's description.
fn read_only_mounts(own: &CliStateFolder, folder: &Path) -> Vec<(PathBuf, SandboxMount)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_setting = |path: &PathBuf| {
        let mut places = own.entries.iter();
        !places.any(|place| folder.join(&place.relative_path) == *path)
    };
    entries
        .map(|entry| entry.path())
        .filter(is_setting)
        .map(|path| (path, SandboxMount::ReadOnly))
        .collect()
}

/// Returns the mount of one entry of the folder; `None` for a transient entry that the empty folder covers anyway.
fn state_entry_mount(place: &StateEntry, folder: &Path) -> Option<(PathBuf, SandboxMount)> {
    let path = folder.join(&place.relative_path);
    match place.kind {
        StateEntryKind::Conversations => {
            Some((ensure_folder(&path)?.to_owned(), SandboxMount::Writable))
        }
        StateEntryKind::Credentials => path.is_file().then_some((path, SandboxMount::Writable)),
        StateEntryKind::AgentMemory => {
            if path.exists() {
                Some((path, SandboxMount::ReadOnly))
            } else {
                Some((path, SandboxMount::EmptyFolder))
            }
        }
        // Inside a read-only settings folder, an empty folder can be mounted only over an existing one.
        StateEntryKind::Transient if place.relative_path.contains('/') => {
            let is_setting = path.parent().is_some_and(Path::is_dir);
            is_setting.then_some(())?;
            Some((ensure_folder(&path)?.to_owned(), SandboxMount::EmptyFolder))
        }
        StateEntryKind::Transient => None,
    }
}

/// Creates a folder, because a missing one cannot be mounted.
fn ensure_folder(path: &Path) -> Option<&Path> {
    match fs::create_dir_all(path) {
        Ok(()) => Some(path),
        Err(error) => {
            tracing::warn!(path = %path.display(), %error, "cannot create a folder of the CLI");
            None
        }
    }
}
