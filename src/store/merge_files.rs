//! Writes files in which the user resolves a merge; they are never lost.

use std::fs;
use std::io;
use std::path::PathBuf;

use crate::domain::ids::UnixMillis;

use super::{StoreError, WorkdirLayout, atomic_file, document_files, nofollow_fs};

/// Writes a merge under `merges/` and returns its path.
///
/// # Errors
/// The disk fails.
pub fn write_merge(layout: &WorkdirLayout, name: &str, text: &str) -> Result<PathBuf, StoreError> {
    let dir = layout.merges();
    nofollow_fs::ensure_dirs(layout.workdir(), &dir)?;
    let path = dir.join(name);
    atomic_file::replace_file(&path, text.as_bytes())?;
    Ok(path)
}

/// Moves all merges to `history/conflicts/`: the user may have typed in them.
///
/// # Errors
/// A merge cannot be read, stored or removed.
pub fn move_to_conflicts(layout: &WorkdirLayout, at: UnixMillis) -> Result<(), StoreError> {
    let dir = layout.merges();
    let failed = |error| StoreError::from_io("clear", &dir, error);
    let entries = match fs::read_dir(&dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(failed)?,
    };
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        // Other things that an editor left beside a merge, such as a folder, do not belong to the program.
        if nofollow_fs::path_kind(&path)? != nofollow_fs::PathKind::File {
            continue;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if let Some(document) = document_files::read_document(&path)? {
            let name = format!("merged-{name}");
            document_files::save_conflict_copy(layout, &name, &document.bytes, at)?;
        }
        fs::remove_file(&path).map_err(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::test_repo::TestRepo;
    use super::*;

    #[test]
    fn a_merge_is_kept_when_it_goes() {
        let place = TestRepo::new();
        move_to_conflicts(&place.layout, UnixMillis(0)).unwrap();
        let path = write_merge(&place.layout, "plan.md", "merged").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "merged");
        move_to_conflicts(&place.layout, UnixMillis(0)).unwrap();
        assert!(!path.exists());
        let kept: Vec<_> = fs::read_dir(place.layout.conflicts()).unwrap().collect();
        assert_eq!(kept.len(), 1);
    }
}
