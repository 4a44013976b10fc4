//! Creates and removes the run's private temporary folders for sockets and tokens.
//!
//! They are named after the run, so that a program that resumes the run finds what a killed program left. All are
//! in one folder of the user's, so that those of other runs can be hidden with them.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use nix::unistd::getuid;
use tempfile::TempDir;

/// The place for folders whose paths would be too long elsewhere.
const SHORT_TEMP_PATH: &str = "/tmp";
/// The longest path that fits into a socket's address on every system, in bytes.
pub const MAX_SOCKET_PATH_BYTES: usize = 100;
/// How many bytes of a run's name are in a folder's name: the random part.
const RUN_NAME_BYTES: usize = 12;
/// Only the user may enter a folder.
const PRIVATE_DIR_MODE: u32 = 0o700;
/// A folder that was removed this often while it was being created is removed on purpose.
const MAX_CREATE_TRIES: u32 = 64;

static USED_RUNTIME_DIRS: UsedRuntimeDirs = UsedRuntimeDirs::new();

/// The user's folders in use, each open and locked with a lock that all their users share. The last user removes
/// the folder, and never another folder that has taken its place.
#[derive(Debug)]
struct UsedRuntimeDirs(Mutex<Vec<(PathBuf, File)>>);

/// Returns the prefix of the names of a run's folders.
fn run_dir_prefix(run: &str) -> String {
    let from = run.len().saturating_sub(RUN_NAME_BYTES);
    format!("{}-", run.get(from..).unwrap_or("run"))
}

/// Creates a folder that only the user can enter. It is in the user's place for temporary files or, if the address
/// of a socket at `socket` in it would be too long, in the system's place. Dropping the value removes it.
///
/// # Errors
/// The folder cannot be created, or its place is taken by something that is not the user's.
pub fn create_run_dir(run: &str, socket: &Path) -> io::Result<TempDir> {
    create_run_dir_in(&std::env::temp_dir(), run, socket)
}

/// Returns the real folders that contain the temporary folders of all the user's runs, and creates missing ones.
/// Only this program uses them.
pub fn user_runtime_dirs() -> Vec<PathBuf> {
    let made = temp_locations().into_iter().filter_map(|place| {
        user_dir_in(&place)
            .and_then(|folder| folder.canonicalize())
            .inspect_err(|error| tracing::warn!(%error, "cannot create the runtime folder"))
            .ok()
    });
    let mut made: Vec<_> = made.collect();
    made.dedup();
    made
}

fn temp_locations() -> [PathBuf; 2] {
    [std::env::temp_dir(), PathBuf::from(SHORT_TEMP_PATH)]
}

fn user_dir_path(place: &Path) -> PathBuf {
    place.join(format!("agent-collab-{}", getuid()))
}

/// Removes the user's folders that this process used, if they are empty and not used by another process.
pub fn release_user_dirs() {
    USED_RUNTIME_DIRS.release();
}

impl UsedRuntimeDirs {
    const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Creates a private folder if it is missing, and marks it as used by this process.
    fn create_and_lock(&self, folder: &Path) -> io::Result<()> {
        let mut gone = io::Error::other("it keeps being removed");
        for _ in 0..MAX_CREATE_TRIES {
            // The last user may just have removed it, or the parent folder may be missing.
            match create_private_dir(folder) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    gone = error;
                    continue;
                }
                made => made?,
            }
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if all
                .iter()
                .any(|(known, file)| known == folder && is_file_at(file, folder))
            {
                return Ok(());
            }
            let file = match File::open(folder) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            // Without support for locks, no process gets the exclusive lock that removal needs.
            let is_locked = file.lock_shared().is_ok();
            if is_file_at(&file, folder) {
                if is_locked {
                    all.push((folder.to_owned(), file));
                }
                return Ok(());
            }
        }
        Err(gone)
    }

    fn release(&self) {
        let all = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for (folder, file) in all {
            // A shared lock becomes exclusive only if no other process shares it.
            if file.try_lock().is_ok() && is_file_at(&file, &folder) {
                // A folder that is not empty stays.
                let _stays = fs::remove_dir(&folder);
            }
        }
    }
}

/// Returns whether an open folder is the one at a path now.
fn is_file_at(file: &File, path: &Path) -> bool {
    let found = (file.metadata(), path.symlink_metadata());
    matches!(found, (Ok(open), Ok(there)) if (open.dev(), open.ino()) == (there.dev(), there.ino()))
}

/// Returns the user's own folder in a place that other users may share.
fn user_dir_in(place: &Path) -> io::Result<PathBuf> {
    let folder = user_dir_path(place);
    let made = USED_RUNTIME_DIRS.create_and_lock(&folder);
    made.map_err(|error| {
        let folder = folder.display();
        let text =
            format!("{folder}: {error} (hint: set TMPDIR to a folder that you can write to)");
        io::Error::new(error.kind(), text)
    })?;
    Ok(folder)
}

fn create_private_dir(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(PRIVATE_DIR_MODE).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let found = folder.symlink_metadata()?;
    if !found.is_dir() || found.uid() != getuid().as_raw() {
        return Err(io::Error::other("it is not your folder"));
    }
    match found.mode() & 0o777 {
        PRIVATE_DIR_MODE => Ok(()),
        _ => fs::set_permissions(folder, Permissions::from_mode(PRIVATE_DIR_MODE)),
    }
}

fn create_run_dir_in(place: &Path, run: &str, socket: &Path) -> io::Result<TempDir> {
    let prefix = run_dir_prefix(run);
    let mut named = tempfile::Builder::new();
    let named = named
        .prefix(&prefix)
        .permissions(Permissions::from_mode(PRIVATE_DIR_MODE));
    let folder = named.tempdir_in(user_dir_in(place)?)?;
    if folder.path().join(socket).as_os_str().len() <= MAX_SOCKET_PATH_BYTES {
        Ok(folder)
    } else {
        named.tempdir_in(user_dir_in(Path::new(SHORT_TEMP_PATH))?)
    }
}

/// Removes what a program left of a run that is not active now; returns how many folders there were.
pub fn remove_run_dirs(run: &str) -> usize {
    let mut left: Vec<_> = temp_locations()
        .iter()
        .flat_map(|place| run_dirs_in(place, run))
        .collect();
    left.dedup();
    let swept = left
        .iter()
        .filter(|folder| match fs::remove_dir_all(folder) {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(%error, "the folder of an ended program was left behind");
                false
            }
        });
    swept.count()
}

/// Lists the folders of a run, in the user's folder in a place for temporary files.
pub fn run_dirs_in(place: &Path, run: &str) -> Vec<PathBuf> {
    let prefix = run_dir_prefix(run);
    let entries = fs::read_dir(user_dir_path(place));
    let entries = entries.into_iter().flatten().flatten();
    let is_its = |entry: &fs::DirEntry| {
        let found = entry.metadata();
        let found = found.is_ok_and(|found| found.is_dir() && found.uid() == getuid().as_raw());
        found && entry.file_name().to_string_lossy().starts_with(&prefix)
    };
    entries.filter(is_its).map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_of_the_run_are_its() {
        let place = tempfile::tempdir().unwrap();
        let of_user = user_dir_in(place.path()).unwrap();
        let [one, other, notes] = ["bbbbccccdddd-1", "0123456789ab-1", "notes"].map(|name| {
            let folder = of_user.join(name);
            fs::create_dir(&folder).unwrap();
            folder
        });
        std::os::unix::fs::symlink(&notes, of_user.join("bbbbccccdddd-2")).unwrap();
        fs::write(of_user.join("bbbbccccdddd-3"), "").unwrap();
        assert_eq!(run_dirs_in(place.path(), "run_0190aaaabbbbccccdddd"), [one]);
        assert_eq!(run_dirs_in(place.path(), "run_0123456789ab"), [other]);
        assert!(run_dirs_in(place.path(), "run_x").is_empty());
    }

    #[test]
    fn the_last_who_uses_a_folder_removes_it_and_whoever_begins_meanwhile_has_one() {
        let place = tempfile::tempdir().unwrap();
        let folder = user_dir_path(place.path());
        let (one, other) = (UsedRuntimeDirs::new(), UsedRuntimeDirs::new());
        one.create_and_lock(&folder).unwrap();
        other.create_and_lock(&folder).unwrap();
        one.release();
        assert!(folder.is_dir(), "another uses it");
        fs::write(folder.join("left"), "").unwrap();
        other.release();
        assert!(folder.is_dir(), "it is not empty");
        fs::remove_file(folder.join("left")).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let used = UsedRuntimeDirs::new();
                        used.create_and_lock(&folder).unwrap();
                        drop(tempfile::tempdir_in(&folder).unwrap());
                        used.release();
                    }
                });
            }
        });
        let last = UsedRuntimeDirs::new();
        last.create_and_lock(&folder).unwrap();
        last.release();
        assert!(!folder.exists());
    }

    #[test]
    fn a_folder_is_private_and_lies_where_the_addresses_of_its_sockets_fit() {
        let place = tempfile::tempdir_in(SHORT_TEMP_PATH).unwrap();
        let deep = place.path().join("d".repeat(MAX_SOCKET_PATH_BYTES));
        fs::create_dir(&deep).unwrap();
        for (place, expected) in [
            (place.path(), place.path()),
            (&deep, Path::new(SHORT_TEMP_PATH)),
        ] {
            let folder = create_run_dir_in(place, "run_x", Path::new("ask")).unwrap();
            let of_user = folder.path().parent().unwrap();
            assert_eq!(of_user.parent(), Some(expected));
            for private in [of_user, folder.path()] {
                assert_eq!(private.metadata().unwrap().mode() & 0o777, PRIVATE_DIR_MODE);
            }
        }
    }

    #[test]
    fn a_folder_of_the_users_that_others_may_enter_is_closed_and_a_link_is_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let folder = user_dir_in(place.path()).unwrap();
        fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
        assert_eq!(user_dir_in(place.path()).unwrap(), folder);
        assert_eq!(folder.metadata().unwrap().mode() & 0o777, PRIVATE_DIR_MODE);
        fs::remove_dir(&folder).unwrap();
        let elsewhere = place.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &folder).unwrap();
        let error = user_dir_in(place.path()).unwrap_err().to_string();
        assert!(error.contains("it is not your folder"), "{error}");
        let error = user_dir_in(&place.path().join("none"))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("none/agent-collab-") && error.contains("set TMPDIR"),
            "{error}"
        );
    }
}
