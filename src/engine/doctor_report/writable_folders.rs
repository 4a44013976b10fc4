//! Checks whether the folders of a run are writable: it tries instead of guessing from owners and modes.
//!
//! It leaves nothing behind.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::unistd::getuid;
use serde_json::{Value, json};

use super::super::runtime_dir;

/// The prefix of the name of the test folder.
const TRIAL_FILE_PREFIX: &str = ".agent-collab-trial-";

/// A folder that a run writes into.
#[derive(Debug, Clone)]
pub struct FolderCheck {
    /// What is written there, for display.
    pub what: &'static str,
    /// The folder; it is created when the first run starts.
    pub path: PathBuf,
    /// What the user should do if it cannot be written.
    pub hint: &'static str,
    /// How the check is done.
    pub trial: WriteTrial,
}

/// How a folder is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteTrial {
    /// A folder is created in it or, if it does not exist, in the nearest existing folder above it.
    OwnFolder,
    /// A private folder is created in the user's own, in the same way as the folders of runs.
    Scratch,
}

pub(super) fn check_folder(folder: &FolderCheck) -> Value {
    let place = nearest_existing_folder(&folder.path);
    let tried = match folder.trial {
        WriteTrial::OwnFolder => try_write_in(place),
        WriteTrial::Scratch => runtime_dir::create_run_dir("trial", Path::new("")).map(drop),
    };
    let (what, path) = (folder.what, folder.path.to_string_lossy());
    match tried {
        Ok(()) => json!({ "what": what, "path": path, "ok": true, "note": path }),
        Err(error) => json!({
            "what": what, "path": path, "ok": false,
            "problem": format!("cannot write to {path}: {error}"),
            "hint": foreign_owner_hint(place, &error).unwrap_or_else(|| folder.hint.to_owned()),
        }),
    }
}

/// Returns the folder itself, else the nearest existing folder above it.
fn nearest_existing_folder(path: &Path) -> &Path {
    let is_there = |path: &&Path| path.symlink_metadata().is_ok();
    path.ancestors().find(is_there).unwrap_or(path)
}

fn try_write_in(place: &Path) -> io::Result<()> {
    let trial = tempfile::Builder::new()
        .prefix(TRIAL_FILE_PREFIX)
        .tempdir_in(place);
    // The path is reported separately.
    trial?.close()
}

/// Returns what to do about a folder that belongs to another user.
fn foreign_owner_hint(place: &Path, error: &io::Error) -> Option<String> {
    let is_refused = error.kind() == io::ErrorKind::PermissionDenied;
    let owner = fs::metadata(place).ok().filter(|_| is_refused)?.uid();
    let is_anothers = owner != getuid().as_raw();
    is_anothers.then(|| {
        let name = nix::unistd::User::from_uid(owner.into()).ok().flatten();
        let name = name.map_or_else(|| format!("the user {owner}"), |user| user.name);
        let place = place.display();
        format!(
            "{place} belongs to {name}: run `sudo chown -R \"$USER\" '{place}'` to make it yours, or work as {name}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried_at(path: PathBuf) -> Value {
        check_folder(&FolderCheck {
            what: "state",
            path,
            hint: "set XDG_STATE_HOME",
            trial: WriteTrial::OwnFolder,
        })
    }

    #[test]
    fn a_folder_is_tried_where_it_will_lie_and_nothing_is_left() {
        let place = tempfile::tempdir().unwrap();
        assert_eq!(tried_at(place.path().to_owned())["ok"], true);
        assert_eq!(tried_at(place.path().join("a/b/c"))["ok"], true);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
        // No user, not even root, can create a folder in a file.
        let file = place.path().join("file");
        fs::write(&file, "").unwrap();
        let told = tried_at(file.join("a"));
        assert_eq!(told["ok"], false);
        assert_eq!(told["hint"], "set XDG_STATE_HOME");
        let problem = told["problem"].as_str().unwrap();
        assert!(problem.contains("file/a: "), "{problem}");
    }
}
