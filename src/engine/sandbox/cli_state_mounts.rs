//! What a held CLI sees and writes of its own folder in the user's home.
//!
//! The folder is replaced by an empty one in memory, in which its settings lie read-only and what outlives the
//! process is let through: anything else that is written there goes with the process, however that ends.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::canonical_path;
use crate::adapter::{CliStateFolder, StateEntry, StateEntryKind};
use crate::process::SandboxMount;

/// Returns what holds a CLI's own folder; `cwd` is where the CLI starts and `root` what it works in. Nothing where
/// the folder cannot be told or made, which leaves it as read-only as everything else.
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
    // Where the repository itself is that folder, its files are what the agent works on.
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

/// All that lies in the folder and that the process does not keep itself.
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

/// What of the folder is open to the process. What lies below the empty folder alone is left out: it is not there.
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
        // Below a folder of settings an empty one needs a place to be put at.
        StateEntryKind::Transient if place.relative_path.contains('/') => {
            let is_setting = path.parent().is_some_and(Path::is_dir);
            is_setting.then_some(())?;
            Some((ensure_folder(&path)?.to_owned(), SandboxMount::EmptyFolder))
        }
        StateEntryKind::Transient => None,
    }
}

/// Makes a folder, which cannot be let through where it is missing.
fn ensure_folder(path: &Path) -> Option<&Path> {
    match fs::create_dir_all(path) {
        Ok(()) => Some(path),
        Err(error) => {
            tracing::warn!(path = %path.display(), %error, "a folder of the CLI's own cannot be made");
            None
        }
    }
}
