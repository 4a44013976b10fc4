//! Whether the folders that a run writes into can be written: tried, not guessed from owners and modes.
//!
//! Leaves nothing behind. Refuses to know what is written there.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::unistd::getuid;
use serde_json::{Value, json};

use super::super::runtime_dir;

/// What the trial's own name begins with.
const TRIAL_FILE_PREFIX: &str = ".agent-collab-trial-";

/// A folder that a run writes into.
#[derive(Debug, Clone)]
pub struct FolderCheck {
    /// What is written there, for people.
    pub what: &'static str,
    /// The folder; it is made when the first run begins.
    pub path: PathBuf,
    /// What to do where it cannot be written.
    pub hint: &'static str,
    /// How it is tried.
    pub trial: WriteTrial,
}

/// How a folder is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteTrial {
    /// A folder is made in it or, where it is not there, in the first above it that is.
    OwnFolder,
    /// As the folders of runs are made in it: private, in one of the user's.
    Scratch,
}

/// Tries a folder.
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
            "problem": format!("nothing can be written to {path}: {error}"),
            "hint": foreign_owner_hint(place, &error).unwrap_or_else(|| folder.hint.to_owned()),
        }),
    }
}

/// The folder itself, else the first above it that is there.
fn nearest_existing_folder(path: &Path) -> &Path {
    let is_there = |path: &&Path| path.symlink_metadata().is_ok();
    path.ancestors().find(is_there).unwrap_or(path)
}

fn try_write_in(place: &Path) -> io::Result<()> {
    let trial = tempfile::Builder::new()
        .prefix(TRIAL_FILE_PREFIX)
        .tempdir_in(place);
    // The path is told beside it.
    trial?.close()
}

/// What to do about a folder that is somebody else's.
fn foreign_owner_hint(place: &Path, error: &io::Error) -> Option<String> {
    let is_refused = error.kind() == io::ErrorKind::PermissionDenied;
    let owner = fs::metadata(place).ok().filter(|_| is_refused)?.uid();
    let is_anothers = owner != getuid().as_raw();
    is_anothers.then(|| {
        let name = nix::unistd::User::from_uid(owner.into()).ok().flatten();
        let name = name.map_or_else(|| format!("the user {owner}"), |user| user.name);
        let place = place.display();
        format!(
            "{place} belongs to {name}: `sudo chown -R \"$USER\" '{place}'` makes it yours, or work as {name}"
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
        // Nobody makes a folder in a file, whatever they may.
        let file = place.path().join("file");
        fs::write(&file, "").unwrap();
        let told = tried_at(file.join("a"));
        assert_eq!(told["ok"], false);
        assert_eq!(told["hint"], "set XDG_STATE_HOME");
        let problem = told["problem"].as_str().unwrap();
        assert!(problem.contains("file/a: "), "{problem}");
    }
}
