//! The run's folders in the place for temporary files, for sockets and tokens: private, and named after the run, so that
//! what a killed program left of them is found by whoever takes the run up.
//!
//! Refuses to know what lies in them.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::unistd::getuid;
use tempfile::TempDir;

/// Where folders are made whose names would be too long elsewhere.
const SHORT: &str = "/tmp";
/// Longer paths do not fit into a socket's address everywhere, in bytes.
pub const ADDRESS_BYTES: usize = 100;
/// How much of a run's name is in that of a folder, in bytes: the part that chance chose.
const OF_RUN: usize = 12;

/// What the names of a run's folders begin with.
fn prefix(run: &str) -> String {
    let from = run.len().saturating_sub(OF_RUN);
    format!("agent-collab-{}-", run.get(from..).unwrap_or("run"))
}

/// Makes a folder that only the user can enter, in the user's place for temporary files or, where the address of a
/// socket as deep in it as `socket` would be too long there, in the system's. It goes with the value.
///
/// # Errors
/// It cannot be made.
pub fn folder(run: &str, socket: &Path) -> io::Result<TempDir> {
    folder_in(&std::env::temp_dir(), run, socket)
}

fn folder_in(place: &Path, run: &str, socket: &Path) -> io::Result<TempDir> {
    let prefix = prefix(run);
    let mut named = tempfile::Builder::new();
    let named = named
        .prefix(&prefix)
        .permissions(Permissions::from_mode(0o700));
    let folder = named.tempdir_in(place)?;
    match folder.path().join(socket).as_os_str().len() <= ADDRESS_BYTES {
        true => Ok(folder),
        false => named.tempdir_in(SHORT),
    }
}

/// Removes what a program left of a run that nobody holds now; tells how many folders there were.
pub fn sweep(run: &str) -> usize {
    let places = [std::env::temp_dir(), PathBuf::from(SHORT)];
    places.iter().map(|place| sweep_in(place, run)).sum()
}

fn sweep_in(place: &Path, run: &str) -> usize {
    let prefix = prefix(run);
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    let is_ours = |entry: &fs::DirEntry| {
        let found = entry.metadata();
        let found = found.is_ok_and(|found| found.is_dir() && found.uid() == getuid().as_raw());
        found && entry.file_name().to_string_lossy().starts_with(&prefix)
    };
    let mut n_swept = 0;
    for entry in entries.filter(is_ours) {
        match fs::remove_dir_all(entry.path()) {
            Ok(()) => n_swept += 1,
            Err(error) => tracing::warn!(%error, "a folder of an ended program stays"),
        }
    }
    n_swept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_of_the_run_are_swept() {
        let place = tempfile::tempdir().unwrap();
        let run = "run_0190aaaabbbbccccdddd";
        let at = |name: &str| place.path().join(name);
        for name in [
            "agent-collab-bbbbccccdddd-1",
            "agent-collab-bbbbccccdddd-2",
            "agent-collab-0123456789ab-1",
            "notes",
        ] {
            fs::create_dir(at(name)).unwrap();
            fs::write(at(name).join("token"), "secret").unwrap();
        }
        std::os::unix::fs::symlink(at("notes"), at("agent-collab-bbbbccccdddd-3")).unwrap();
        assert_eq!(sweep_in(place.path(), run), 2);
        assert_eq!(sweep_in(place.path(), run), 0);
        assert!(at("notes/token").exists() && at("agent-collab-0123456789ab-1/token").exists());
    }

    #[test]
    fn a_folder_is_private_and_lies_where_the_addresses_of_its_sockets_fit() {
        let place = tempfile::tempdir().unwrap();
        let deep = place.path().join("d".repeat(ADDRESS_BYTES));
        fs::create_dir(&deep).unwrap();
        for (place, expected) in [(place.path(), place.path()), (&deep, Path::new(SHORT))] {
            let folder = folder_in(place, "run_x", Path::new("ask")).unwrap();
            assert_eq!(folder.path().parent(), Some(expected));
            let mode = folder.path().metadata().unwrap().mode() & 0o777;
            assert_eq!(mode, 0o700);
        }
    }
}
