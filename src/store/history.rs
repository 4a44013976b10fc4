//! Moves a finished or abandoned run to `history/<date>-<title>/`.
//!
//! Refuses to delete or merge anything, and to leave a run that is half here and half there
//! unnoticed: a note in the work directory names the destination until the last file is moved.

use std::path::{Path, PathBuf};

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::plain::{self, Found};
use super::{Guard, InstanceLock, Layout, StoreError, atomic, boundary};

/// The longest title in a directory name, in bytes.
const MAX_TITLE: usize = 60;

#[derive(Serialize, Deserialize)]
struct Note {
    schema: u64,
    /// The name of the destination in `history/`.
    to: String,
}

/// Moves the run's files to a new directory under `history/` and returns it; `None` if there are none.
///
/// Settings, prompts, earlier history, the lock and the diagnostic log stay. After a crash at any
/// point [`finish`] completes the move. The lock proves that no other instance writes meanwhile.
/// Where a guard is open, use [`Guard::archive`].
pub fn archive(
    layout: &Layout,
    lock: &InstanceLock,
    title: &str,
    date: Date,
) -> Result<Option<PathBuf>, StoreError> {
    if let Some(finished) = finish(layout, lock)? {
        return Ok(Some(finished));
    }
    if !has_files(layout)? {
        return Ok(None);
    }
    begin(layout, title, date)?;
    finish(layout, lock)
}

impl Guard {
    /// Stops guarding the run's files and moves them to `history/`, as [`archive`] does.
    pub fn archive(
        &self,
        lock: &InstanceLock,
        title: &str,
        date: Date,
    ) -> Result<Option<PathBuf>, StoreError> {
        self.forget_run();
        archive(self.layout(), lock, title, date)
    }
}

/// What belongs to one run, the snapshot last: while it is here, so is the run.
fn files(layout: &Layout) -> [PathBuf; 10] {
    [
        layout.iterations(),
        layout.sessions(),
        layout.discussions(),
        layout.turns(),
        layout.merges(),
        layout.comments(),
        layout.plan(),
        layout.log(),
        layout.events(),
        layout.state(),
    ]
}

fn has_files(layout: &Layout) -> Result<bool, StoreError> {
    for path in files(layout) {
        if plain::look(&path)? != Found::Nothing {
            return Ok(true);
        }
    }
    Ok(false)
}

fn begin(layout: &Layout, title: &str, date: Date) -> Result<(), StoreError> {
    let history = layout.history();
    plain::ensure_dirs(layout.workdir(), &history)?;
    let place = plain::free_place(&history.join(format!("{date}-{}", slug(title))))?;
    plain::ensure_dir(&place)?;
    plain::sync_dir(&history)?;
    let path = layout.archive_note();
    let to = place.file_name().unwrap_or_default().to_string_lossy();
    let note = Note {
        schema: 1,
        to: to.into_owned(),
    };
    let text = serde_json::to_vec(&note).map_err(|e| StoreError::Shape {
        path: path.clone(),
        reason: e.to_string(),
    })?;
    atomic::replace(&path, &text)
}

/// Completes a move that was interrupted; `None` when none was.
pub fn finish(layout: &Layout, _lock: &InstanceLock) -> Result<Option<PathBuf>, StoreError> {
    let path = layout.archive_note();
    let Some(bytes) = plain::read(&path, 4096)? else {
        return Ok(None);
    };
    let damaged = |reason: String| StoreError::Damaged {
        path: path.clone(),
        line: 1,
        reason,
    };
    let note: Note = serde_json::from_slice(&bytes).map_err(|e| damaged(e.to_string()))?;
    if note.to.is_empty() || note.to.starts_with('.') || note.to.contains('/') {
        return Err(damaged(format!("{:?} is no directory name", note.to)));
    }
    let place = layout.history().join(&note.to);
    plain::ensure_dirs(layout.workdir(), &place)?;
    for from in files(layout) {
        move_into(&from, &place)?;
    }
    boundary::at_file("remove", &path);
    std::fs::remove_file(&path).map_err(|e| StoreError::io("remove", &path, e))?;
    plain::sync_dir(layout.workdir())?;
    Ok(Some(place))
}

fn move_into(from: &Path, place: &Path) -> Result<(), StoreError> {
    if plain::look(from)? == Found::Nothing {
        return Ok(());
    }
    let name = from.file_name().unwrap_or_default();
    let to = plain::free_place(&place.join(name))?;
    plain::rename(from, &to)
}

/// Makes a directory name out of a title: letters and digits of any script, joined by `-`.
pub fn slug(title: &str) -> String {
    let mut slug = String::new();
    for c in title.chars().flat_map(char::to_lowercase) {
        if slug.len() + c.len_utf8() > MAX_TITLE {
            break;
        }
        if c.is_alphanumeric() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() {
        "run".into()
    } else {
        slug.into()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::place::Place;
    use super::*;

    fn date() -> Date {
        Date::constant(2026, 11, 21)
    }

    fn fill(layout: &Layout) {
        fs::create_dir_all(layout.iteration(1)).unwrap();
        fs::create_dir_all(layout.sessions()).unwrap();
        for path in [
            layout.iteration(1).join("plan.md"),
            layout.plan(),
            layout.events(),
            layout.state(),
        ] {
            fs::write(path, "x").unwrap();
        }
        fs::write(layout.config(), "").unwrap();
        fs::write(layout.debug_log(), "").unwrap();
    }

    fn tree(dir: &Path) -> String {
        let mut names: Vec<String> = fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names.join(" ")
    }

    const MOVED: &str = "events.jsonl iterations plan.md sessions state.json";
    const STAYED: &str = ".gitignore config.toml debug.log history lock";

    #[test]
    fn an_archived_run_takes_its_files_and_leaves_the_rest() {
        let place = Place::new();
        let lock = InstanceLock::take(&place.layout).unwrap();
        assert_eq!(archive(&place.layout, &lock, "x", date()).unwrap(), None);
        for expected in ["2026-11-21-fix-it", "2026-11-21-fix-it-2"] {
            fill(&place.layout);
            let guard = place.guard();
            let to = guard.archive(&lock, "Fix: it!", date()).unwrap().unwrap();
            assert_eq!(to, place.layout.history().join(expected));
            assert_eq!(tree(&to), MOVED);
            assert_eq!(tree(place.layout.workdir()), STAYED);
            assert_eq!(guard.check().unwrap(), []);
        }
    }

    #[test]
    fn a_move_that_stopped_anywhere_is_finished() {
        for n_moved in 0..=files(&Place::new().layout).len() {
            let place = Place::new();
            let lock = InstanceLock::take(&place.layout).unwrap();
            fill(&place.layout);
            begin(&place.layout, "t", date()).unwrap();
            let to = place.layout.history().join("2026-11-21-t");
            for from in files(&place.layout).iter().take(n_moved) {
                move_into(from, &to).unwrap();
            }
            assert_eq!(finish(&place.layout, &lock).unwrap(), Some(to.clone()));
            assert_eq!(tree(&to), MOVED);
            assert_eq!(tree(place.layout.workdir()), STAYED);
            assert_eq!(finish(&place.layout, &lock).unwrap(), None);
        }
    }

    #[test]
    fn a_title_becomes_a_name() {
        assert_eq!(slug("Add /login & tests"), "add-login-tests");
        assert_eq!(slug("../..  "), "run");
        assert_eq!(slug("实现 登录"), "实现-登录");
        assert!(slug(&"long ".repeat(50)).len() <= MAX_TITLE);
    }
}
