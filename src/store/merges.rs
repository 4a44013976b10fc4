//! Files in which the user puts a merge right: written once, read by whoever made them, never lost.
//!
//! Refuses to know what is merged.

use std::fs;
use std::io;
use std::path::PathBuf;

use crate::domain::ids::At;

use super::{Layout, StoreError, atomic, documents, plain};

/// Writes a merge under `merges/` and returns where.
///
/// # Errors
/// The disk refuses.
pub fn write(layout: &Layout, name: &str, text: &str) -> Result<PathBuf, StoreError> {
    let dir = layout.merges();
    plain::ensure_dirs(layout.workdir(), &dir)?;
    let path = dir.join(name);
    atomic::replace(&path, text.as_bytes())?;
    Ok(path)
}

/// Moves all merges to the texts that lost a conflict: the user may have typed in them.
///
/// # Errors
/// One cannot be read, kept or removed.
pub fn put_aside(layout: &Layout, at: At) -> Result<(), StoreError> {
    let dir = layout.merges();
    let failed = |error| StoreError::io("clear", &dir, error);
    let entries = match fs::read_dir(&dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(failed)?,
    };
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        // What an editor left beside a merge, such as a folder of its own, is not ours to move.
        if plain::look(&path)? != plain::Found::File {
            continue;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if let Some(document) = documents::read(&path)? {
            let name = format!("merged-{name}");
            documents::keep_conflict(layout, &name, &document.bytes, at)?;
        }
        fs::remove_file(&path).map_err(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::place::Place;
    use super::*;

    #[test]
    fn a_merge_is_kept_when_it_goes() {
        let place = Place::new();
        put_aside(&place.layout, At(0)).unwrap();
        let path = write(&place.layout, "plan.md", "merged").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "merged");
        put_aside(&place.layout, At(0)).unwrap();
        assert!(!path.exists());
        let kept: Vec<_> = fs::read_dir(place.layout.conflicts()).unwrap().collect();
        assert_eq!(kept.len(), 1);
    }
}
