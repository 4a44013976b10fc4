//! Replaces a file so that a reader, at any moment and after any crash, sees either the old or the new whole
//! content.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use fs2::FileExt;

use super::{StoreError, failpoints, nofollow_fs};

const TEMPORARY_PREFIX: &str = ".agent-collab-";
const TEMPORARY_SUFFIX: &str = ".tmp";
const CHUNK_BYTES: usize = 8 * 1024;

/// A point between two steps of a replacement, where a crash may happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReplaceStage {
    /// The temporary file exists and is empty.
    Created,
    /// At least one chunk is written, and perhaps not all.
    Partial,
    /// Everything is written, nothing is synced.
    Written,
    /// The temporary file is durable.
    Synced,
    /// The file is renamed; the directory is not synced.
    Renamed,
}

impl ReplaceStage {
    fn label(self) -> &'static str {
        match self {
            Self::Created => "replace: created",
            Self::Partial => "replace: partial",
            Self::Written => "replace: written",
            Self::Synced => "replace: synced",
            Self::Renamed => "replace: renamed",
        }
    }
}

/// Replaces the file at `path`, or creates it.
///
/// The bytes go to a temporary file in the same directory (mode 0600, or the mode of the file that it
/// replaces), which is synced, renamed and made durable by a sync of the directory. A symbolic link at `path`
/// is replaced itself and not followed. After an error the old content remains, or the new one if only the
/// last sync failed.
pub fn replace_file(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    replace_file_from(path, &mut &*bytes)
}

/// Replaces a file like [`replace_file`], with the content from a reader.
pub(super) fn replace_file_from(path: &Path, source: &mut dyn Read) -> Result<(), StoreError> {
    replace_with_crash_points(path, source, &|_| Ok(ReplaceDecision::Continue)).map(|_| ())
}

/// Replaces a file like [`replace_file`], if `is_expected` still says so when the new content is durable and only the
/// rename is left; false if nothing was replaced.
pub(super) fn replace_file_if(
    path: &Path,
    bytes: &[u8],
    is_expected: &dyn Fn() -> Result<bool, StoreError>,
) -> Result<bool, StoreError> {
    replace_with_crash_points(path, &mut &*bytes, &|stage| match stage {
        ReplaceStage::Synced if !is_expected()? => Ok(ReplaceDecision::GiveUp),
        _ => Ok(ReplaceDecision::Continue),
    })
}

/// What the writer does at a stage; only tests let it die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReplaceDecision {
    Continue,
    GiveUp,
    Crash,
}

fn replace_with_crash_points(
    path: &Path,
    source: &mut dyn Read,
    decide: &dyn Fn(ReplaceStage) -> Result<ReplaceDecision, StoreError>,
) -> Result<bool, StoreError> {
    let dir = path.parent().unwrap_or(Path::new("."));
    let mut temporary = tempfile::Builder::new()
        .prefix(TEMPORARY_PREFIX)
        .suffix(TEMPORARY_SUFFIX)
        .tempfile_in(dir)
        .map_err(|e| StoreError::from_io("create a file beside", path, e))?;
    let writing = |e| StoreError::from_io("write", path, e);
    // The lock shows a cleanup by another process that this file is in use.
    temporary.as_file().lock_shared().map_err(writing)?;
    let dies = |point: ReplaceStage| {
        failpoints::trace_file_change(point.label(), path);
        decide(point).map(|decision| decision == ReplaceDecision::Crash)
    };
    if dies(ReplaceStage::Created)? {
        return leave_temporary_file(temporary);
    }
    let mut chunk = [0; CHUNK_BYTES];
    loop {
        let n = source.read(&mut chunk).map_err(writing)?;
        if n == 0 {
            break;
        }
        temporary.write_all(&chunk[..n]).map_err(writing)?;
        if dies(ReplaceStage::Partial)? {
            return leave_temporary_file(temporary);
        }
    }
    if dies(ReplaceStage::Written)? {
        return leave_temporary_file(temporary);
    }
    if let Ok(old) = fs::symlink_metadata(path)
        && old.is_file()
    {
        let mode = fs::Permissions::from_mode(old.permissions().mode() & 0o777);
        temporary.as_file().set_permissions(mode).map_err(writing)?;
    }
    temporary.as_file().sync_all().map_err(writing)?;
    failpoints::trace_file_change(ReplaceStage::Synced.label(), path);
    match decide(ReplaceStage::Synced)? {
        ReplaceDecision::Continue => {}
        ReplaceDecision::GiveUp => return Ok(false),
        ReplaceDecision::Crash => return leave_temporary_file(temporary),
    }
    temporary.persist(path).map_err(|e| writing(e.error))?;
    if dies(ReplaceStage::Renamed)? {
        return Ok(true);
    }
    nofollow_fs::sync_dir(dir)?;
    Ok(true)
}

/// Leaves the temporary file behind, as a process that dies does.
fn leave_temporary_file(temporary: tempfile::NamedTempFile) -> Result<bool, StoreError> {
    let path = temporary.path().to_path_buf();
    // Closing alone would leave the lock with a child that was forked and has not started its program yet.
    let unlocked = FileExt::unlock(temporary.as_file());
    unlocked.map_err(|e| StoreError::from_io("unlock", &path, e))?;
    temporary
        .keep()
        .map(|_| false)
        .map_err(|e| StoreError::from_io("leave", &path, e.error))
}

/// Returns true for the name of a temporary file of an interrupted replacement.
pub(super) fn is_temporary_name(name: &str) -> bool {
    name.starts_with(TEMPORARY_PREFIX) && name.ends_with(TEMPORARY_SUFFIX)
}

/// Removes the temporary files that interrupted replacements left in one directory.
///
/// Returns their number. They are never read, and a file that a living process is still writing stays. A
/// directory that does not exist has none.
pub(super) fn remove_temporary_files(dir: &Path) -> Result<usize, StoreError> {
    if nofollow_fs::path_kind(dir)? != nofollow_fs::PathKind::Directory {
        return Ok(0);
    }
    let mut n_swept = 0;
    let entries = fs::read_dir(dir).map_err(|e| StoreError::from_io("list", dir, e))?;
    for entry in entries {
        let entry = entry.map_err(|e| StoreError::from_io("list", dir, e))?;
        if !is_temporary_name(&entry.file_name().to_string_lossy()) {
            continue;
        }
        let path = entry.path();
        if nofollow_fs::path_kind(&path)? != nofollow_fs::PathKind::File {
            continue;
        }
        let Some(file) = nofollow_fs::open_read(&path)? else {
            continue;
        };
        if file.try_lock_exclusive().is_err() {
            continue;
        }
        fs::remove_file(&path).map_err(|e| StoreError::from_io("remove", &path, e))?;
        n_swept += 1;
    }
    Ok(n_swept)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const POINTS: [ReplaceStage; 5] = [
        ReplaceStage::Created,
        ReplaceStage::Partial,
        ReplaceStage::Written,
        ReplaceStage::Synced,
        ReplaceStage::Renamed,
    ];

    /// Lets the writer die at one stage; returns what a reader finds and how many files a cleanup removes.
    fn check(point: ReplaceStage, old: Option<&[u8]>, new: &[u8]) -> (Option<Vec<u8>>, usize) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.json");
        if let Some(old) = old {
            replace_file(&path, old).unwrap();
        }
        let fate = |at| {
            Ok(if at == point {
                ReplaceDecision::Crash
            } else {
                ReplaceDecision::Continue
            })
        };
        replace_with_crash_points(&path, &mut &*new, &fate).unwrap();
        let found = nofollow_fs::read_limited(&path, u64::MAX - 1).unwrap();
        let n_swept = remove_temporary_files(dir.path()).unwrap();
        assert_eq!(
            nofollow_fs::read_limited(&path, u64::MAX - 1).unwrap(),
            found
        );
        assert_eq!(remove_temporary_files(dir.path()).unwrap(), 0);
        (found, n_swept)
    }

    #[test]
    fn a_crash_at_every_point_leaves_the_old_or_the_new_whole() {
        let (old, new) = (vec![b'o'; 20_000], vec![b'n'; 30_000]);
        for point in POINTS {
            let (found, n_swept) = check(point, Some(&old), &new);
            let expected = if point == ReplaceStage::Renamed {
                (&new, 0)
            } else {
                (&old, 1)
            };
            assert_eq!(
                (found.as_ref(), n_swept),
                (Some(expected.0), expected.1),
                "{point:?}"
            );
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_crash_on_any_content_is_all_or_nothing(
            point in proptest::sample::select(&POINTS[..]),
            old in proptest::option::of(proptest::collection::vec(any::<u8>(), 0..20_000)),
            new in proptest::collection::vec(any::<u8>(), 0..20_000),
        ) {
            let (found, _) = check(point, old.as_deref(), &new);
            prop_assert!(found == old || found.as_deref() == Some(&new[..]));
        }
    }

    #[test]
    fn the_mode_of_the_old_file_is_kept_and_a_new_one_is_private() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("plan.md");
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        replace_file(&path, b"1").unwrap();
        assert_eq!(mode(), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        replace_file(&path, b"2").unwrap();
        assert_eq!(mode(), 0o644);
    }

    #[test]
    fn a_link_is_replaced_and_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (path, target) = (dir.path().join("a"), dir.path().join("target"));
        fs::write(&target, "theirs").unwrap();
        std::os::unix::fs::symlink(&target, &path).unwrap();
        replace_file(&path, b"ours").unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "theirs");
        assert!(fs::symlink_metadata(&path).unwrap().is_file());
    }

    #[test]
    fn a_temporary_file_in_use_is_not_swept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(".agent-collab-x.tmp");
        let file = fs::File::create(&path).unwrap();
        file.lock_shared().unwrap();
        assert_eq!(remove_temporary_files(dir.path()).unwrap(), 0);
        FileExt::unlock(&file).unwrap();
        assert_eq!(remove_temporary_files(dir.path()).unwrap(), 1);
    }
}
