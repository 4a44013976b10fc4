//! Moves a finished or abandoned run to `history/<date>-<title>/`, and moves an archived run back.
//!
//! Does not delete or merge anything. An interrupted move never goes unnoticed: a note in the work directory
//! names the destination until the last file is moved.

use std::path::{Path, PathBuf};

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::nofollow_fs::{self, PathKind};
use super::{InstanceLock, StoreError, WorkdirLayout, atomic_file, failpoints};

/// The maximum length of a title in a directory name, in bytes.
const MAX_TITLE_BYTES: usize = 60;

/// The move in progress; written before the first file is moved, removed after the last.
#[derive(Serialize, Deserialize)]
struct ArchiveMoveNote {
    schema: u64,
    /// The name of the destination in `history/`; `None` if nothing is moved there, or everything has been.
    #[serde(default)]
    to: Option<String>,
    /// The name in `history/` of the run that comes back afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    back: Option<String>,
}

/// Moves the run's files to a new directory under `history/` and returns it; `None` if there are none.
///
/// Settings, prompts, earlier history, the lock and the diagnostic log stay. After a crash at any point
/// [`finish_move`] completes the move. The lock proves that no other instance writes in the meantime. No guard
/// may be open.
pub fn archive_run(
    layout: &WorkdirLayout,
    lock: &InstanceLock,
    title: &str,
    date: Date,
) -> Result<Option<PathBuf>, StoreError> {
    if let Some(finished) = finish_move(layout, lock)? {
        return Ok(Some(finished));
    }
    if !has_run_files(layout)? {
        return Ok(None);
    }
    let to = Some(reserve_archive_folder(layout, title, date)?);
    write_move_note(
        layout,
        &ArchiveMoveNote {
            schema: 1,
            to,
            back: None,
        },
    )?;
    finish_move(layout, lock)
}

/// Makes an archived run the current one; the current run is moved to a new directory under `history/`, which
/// is returned.
///
/// All of it or nothing: after a crash at any point [`finish_move`] completes both moves. No guard may be
/// open.
///
/// # Errors
/// There is no directory with this name in `history/`, or the disk fails.
pub fn unarchive_run(
    layout: &WorkdirLayout,
    lock: &InstanceLock,
    name: &str,
    title: &str,
    date: Date,
) -> Result<Option<PathBuf>, StoreError> {
    finish_move(layout, lock)?;
    let path = layout.archived_layout(name).workdir().to_path_buf();
    match nofollow_fs::path_kind(&path)? {
        PathKind::Directory => {}
        found => {
            return Err(StoreError::UnexpectedFileType {
                path,
                found: found.label(),
                expected: "a directory",
            });
        }
    }
    let to = if has_run_files(layout)? {
        Some(reserve_archive_folder(layout, title, date)?)
    } else {
        None
    };
    let back = Some(name.to_owned());
    write_move_note(
        layout,
        &ArchiveMoveNote {
            schema: 1,
            to,
            back,
        },
    )?;
    finish_move(layout, lock)
}

/// Returns true if a move was started and not completed: then only a part of the run is in the work
/// directory.
pub fn is_move_unfinished(layout: &WorkdirLayout) -> Result<bool, StoreError> {
    Ok(nofollow_fs::path_kind(&layout.archive_note())? != PathKind::Missing)
}

/// Returns the files of a run, the snapshot last: the run exists as long as its snapshot does.
fn run_files(layout: &WorkdirLayout) -> [PathBuf; 11] {
    [
        layout.iterations(),
        layout.sessions(),
        layout.discussions(),
        layout.receipts(),
        layout.turns(),
        layout.merges(),
        layout.comments(),
        layout.plan(),
        layout.log(),
        layout.events(),
        layout.state(),
    ]
}

fn has_run_files(layout: &WorkdirLayout) -> Result<bool, StoreError> {
    for path in run_files(layout) {
        if nofollow_fs::path_kind(&path)? != PathKind::Missing {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Creates a new directory for a run and returns its name.
fn reserve_archive_folder(
    layout: &WorkdirLayout,
    title: &str,
    date: Date,
) -> Result<String, StoreError> {
    let history = layout.history();
    nofollow_fs::ensure_dirs(layout.workdir(), &history)?;
    let place =
        nofollow_fs::find_free_path(&history.join(format!("{date}-{}", title_to_slug(title))))?;
    nofollow_fs::ensure_dir(&place)?;
    nofollow_fs::sync_dir(&history)?;
    let name = place.file_name().unwrap_or_default();
    Ok(name.to_string_lossy().into_owned())
}

fn write_move_note(layout: &WorkdirLayout, note: &ArchiveMoveNote) -> Result<(), StoreError> {
    let path = layout.archive_note();
    let text = serde_json::to_vec(note).map_err(|e| StoreError::Unserializable {
        path: path.clone(),
        reason: e.to_string(),
    })?;
    atomic_file::replace_file(&path, &text)
}

/// Completes an interrupted move; returns where the current run was archived, `None` if none was.
pub fn finish_move(
    layout: &WorkdirLayout,
    _lock: &InstanceLock,
) -> Result<Option<PathBuf>, StoreError> {
    let path = layout.archive_note();
    let Some(bytes) = nofollow_fs::read_limited(&path, 4096)? else {
        return Ok(None);
    };
    let damaged = |reason: String| StoreError::Damaged {
        path: path.clone(),
        line: 1,
        reason,
    };
    let ArchiveMoveNote { to, back, .. } =
        serde_json::from_slice(&bytes).map_err(|e| damaged(e.to_string()))?;
    for name in to.iter().chain(&back) {
        if name.is_empty() || name.starts_with('.') || name.contains('/') {
            return Err(damaged(format!("{name:?} is not a directory name")));
        }
    }
    let place = to.map(|to| layout.history().join(to));
    if let Some(place) = &place {
        nofollow_fs::ensure_dirs(layout.workdir(), place)?;
        for from in run_files(layout) {
            move_into(&from, place)?;
        }
    }
    if let Some(name) = back {
        // From here on the files in the work directory belong to the run that comes back.
        let back = Some(name.clone());
        write_move_note(
            layout,
            &ArchiveMoveNote {
                schema: 1,
                to: None,
                back,
            },
        )?;
        move_out_of_archive(layout, &layout.archived_layout(&name))?;
    }
    failpoints::trace_file_change("remove", &path);
    std::fs::remove_file(&path).map_err(|e| StoreError::from_io("remove", &path, e))?;
    nofollow_fs::sync_dir(layout.workdir())?;
    Ok(place)
}

/// Moves an archived run back to the work directory, the snapshot last, and removes its directory.
fn move_out_of_archive(layout: &WorkdirLayout, archived: &WorkdirLayout) -> Result<(), StoreError> {
    let folder = archived.workdir();
    if nofollow_fs::path_kind(folder)? != PathKind::Directory {
        return Ok(());
    }
    for from in run_files(archived) {
        if nofollow_fs::path_kind(&from)? == PathKind::Missing {
            continue;
        }
        let to = layout.workdir().join(from.file_name().unwrap_or_default());
        if nofollow_fs::path_kind(&to)? != PathKind::Missing {
            // This file was created after a crash: keep it.
            nofollow_fs::ensure_dirs(layout.workdir(), &layout.conflicts())?;
            move_into(&to, &layout.conflicts())?;
        }
        nofollow_fs::rename(&from, &to)?;
    }
    // Other files beside the record move with it.
    let failed = |e| StoreError::from_io("list", folder, e);
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        move_into(&entry.map_err(failed)?.path(), layout.workdir())?;
    }
    failpoints::trace_file_change("remove", folder);
    std::fs::remove_dir(folder).map_err(|e| StoreError::from_io("remove", folder, e))?;
    nofollow_fs::sync_dir(&layout.history())
}

fn move_into(from: &Path, place: &Path) -> Result<(), StoreError> {
    if nofollow_fs::path_kind(from)? == PathKind::Missing {
        return Ok(());
    }
    let name = from.file_name().unwrap_or_default();
    let to = nofollow_fs::find_free_path(&place.join(name))?;
    nofollow_fs::rename(from, &to)
}

/// Converts a title into a directory name: letters and digits of any script, joined by `-`.
pub fn title_to_slug(title: &str) -> String {
    let mut slug = String::new();
    for c in title.chars().flat_map(char::to_lowercase) {
        if slug.len() + c.len_utf8() > MAX_TITLE_BYTES {
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

    use super::super::test_repo::TestRepo;
    use super::*;

    fn date() -> Date {
        Date::constant(2026, 11, 21)
    }

    fn fill(layout: &WorkdirLayout) {
        fs::create_dir_all(layout.iteration_folder(1)).unwrap();
        fs::create_dir_all(layout.sessions()).unwrap();
        fs::create_dir_all(layout.receipts()).unwrap();
        for path in [
            layout.iteration_folder(1).join("plan.md"),
            layout.plan(),
            layout.events(),
            layout.state(),
        ] {
            fs::write(path, "x").unwrap();
        }
        fs::write(layout.workdir().join("config.toml"), "").unwrap();
        fs::write(layout.workdir().join("debug.log"), "").unwrap();
    }

    fn tree(dir: &Path) -> String {
        let mut names: Vec<String> = fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names.join(" ")
    }

    const MOVED: &str = "events.jsonl iterations plan.md receipts sessions state.json";
    const STAYED: &str = ".gitignore config.toml debug.log history lock";

    #[test]
    fn an_archived_run_takes_its_files_and_leaves_the_rest() {
        let place = TestRepo::new();
        let lock = InstanceLock::acquire(&place.layout).unwrap();
        assert_eq!(
            archive_run(&place.layout, &lock, "x", date()).unwrap(),
            None
        );
        for expected in ["2026-11-21-fix-it", "2026-11-21-fix-it-2"] {
            fill(&place.layout);
            let to = archive_run(&place.layout, &lock, "Fix: it!", date())
                .unwrap()
                .unwrap();
            assert_eq!(to, place.layout.history().join(expected));
            assert_eq!(tree(&to), MOVED);
            assert_eq!(tree(place.layout.workdir()), STAYED);
        }
    }

    #[test]
    fn a_move_that_stopped_anywhere_is_finished() {
        for n_moved in 0..=run_files(&TestRepo::new().layout).len() {
            let place = TestRepo::new();
            let lock = InstanceLock::acquire(&place.layout).unwrap();
            fill(&place.layout);
            reserve_archive_folder(&place.layout, "t", date()).unwrap();
            let to = Some("2026-11-21-t".to_owned());
            write_move_note(
                &place.layout,
                &ArchiveMoveNote {
                    schema: 1,
                    to,
                    back: None,
                },
            )
            .unwrap();
            let to = place.layout.history().join("2026-11-21-t");
            for from in run_files(&place.layout).iter().take(n_moved) {
                move_into(from, &to).unwrap();
            }
            assert_eq!(finish_move(&place.layout, &lock).unwrap(), Some(to.clone()));
            assert_eq!(tree(&to), MOVED);
            assert_eq!(tree(place.layout.workdir()), STAYED);
            assert_eq!(finish_move(&place.layout, &lock).unwrap(), None);
        }
    }

    /// Creates a finished current run and an unfinished archived one, each with a word of its own in its
    /// files.
    fn two_runs(place: &TestRepo, lock: &InstanceLock) -> PathBuf {
        fill(&place.layout);
        let old = archive_run(&place.layout, lock, "old", date())
            .unwrap()
            .unwrap();
        for name in [
            "events.jsonl",
            "state.json",
            "plan.md",
            "iterations/001/plan.md",
        ] {
            if old.join(name).exists() {
                fs::write(old.join(name), "old").unwrap();
            }
        }
        fs::write(old.join("dsc_1.md"), "minutes").unwrap();
        fill(&place.layout);
        old
    }

    fn is_brought_back(place: &TestRepo) {
        let history = place.layout.history();
        assert_eq!(tree(&history), "2026-11-21-new");
        assert_eq!(tree(&history.join("2026-11-21-new")), MOVED);
        assert_eq!(
            tree(place.layout.workdir()),
            ".gitignore config.toml debug.log dsc_1.md events.jsonl history iterations lock plan.md receipts sessions state.json"
        );
        let read = |path: PathBuf| fs::read_to_string(path).unwrap();
        assert_eq!(read(place.layout.state()), "old");
        assert_eq!(read(history.join("2026-11-21-new/state.json")), "x");
        assert!(!is_move_unfinished(&place.layout).unwrap());
    }

    #[test]
    fn an_archived_run_comes_back_and_what_lay_here_takes_its_place() {
        let place = TestRepo::new();
        let lock = InstanceLock::acquire(&place.layout).unwrap();
        two_runs(&place, &lock);
        let to = unarchive_run(&place.layout, &lock, "2026-11-21-old", "new", date()).unwrap();
        assert_eq!(to, Some(place.layout.history().join("2026-11-21-new")));
        is_brought_back(&place);
        assert!(unarchive_run(&place.layout, &lock, "2026-11-21-old", "new", date()).is_err());
        is_brought_back(&place);
    }

    #[test]
    fn a_way_back_that_stopped_anywhere_is_finished() {
        let n_files = run_files(&TestRepo::new().layout).len();
        for n_moved in 0..=2 * n_files {
            let place = TestRepo::new();
            let lock = InstanceLock::acquire(&place.layout).unwrap();
            let old = two_runs(&place, &lock);
            let to = reserve_archive_folder(&place.layout, "new", date()).unwrap();
            let new = place.layout.history().join(&to);
            let back = Some("2026-11-21-old".to_owned());
            let begun = |to| ArchiveMoveNote {
                schema: 1,
                to,
                back: back.clone(),
            };
            write_move_note(&place.layout, &begun(Some(to))).unwrap();
            for from in run_files(&place.layout).iter().take(n_moved) {
                move_into(from, &new).unwrap();
            }
            if n_moved > n_files {
                write_move_note(&place.layout, &begun(None)).unwrap();
                let archived = place.layout.archived_layout("2026-11-21-old");
                for from in run_files(&archived).iter().take(n_moved - n_files) {
                    move_into(from, place.layout.workdir()).unwrap();
                }
            }
            assert!(is_move_unfinished(&place.layout).unwrap());
            finish_move(&place.layout, &lock).unwrap();
            is_brought_back(&place);
            assert!(!old.exists());
            assert_eq!(finish_move(&place.layout, &lock).unwrap(), None);
        }
    }

    #[test]
    fn what_somebody_put_in_the_way_of_a_run_that_comes_back_is_kept() {
        let place = TestRepo::new();
        let lock = InstanceLock::acquire(&place.layout).unwrap();
        two_runs(&place, &lock);
        archive_run(&place.layout, &lock, "new", date()).unwrap();
        let back = Some("2026-11-21-old".to_owned());
        write_move_note(
            &place.layout,
            &ArchiveMoveNote {
                schema: 1,
                to: None,
                back,
            },
        )
        .unwrap();
        fs::write(place.layout.plan(), "mine").unwrap();
        finish_move(&place.layout, &lock).unwrap();
        let kept = fs::read_to_string(place.layout.conflicts().join("plan.md")).unwrap();
        assert_eq!(kept, "mine");
        assert_eq!(fs::read_to_string(place.layout.plan()).unwrap(), "old");
    }

    #[test]
    fn a_title_becomes_a_name() {
        assert_eq!(title_to_slug("Add /login & tests"), "add-login-tests");
        assert_eq!(title_to_slug("../..  "), "run");
        assert_eq!(title_to_slug("实现 登录"), "实现-登录");
        assert!(title_to_slug(&"long ".repeat(50)).len() <= MAX_TITLE_BYTES);
    }
}
