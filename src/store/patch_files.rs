//! Stores patches of children that were not applied: whole files for `git apply`, kept until the user removes
//! them.

use std::io;
use std::path::{Path, PathBuf};

use super::workdir_layout::id_to_file_name;
use super::{StoreError, WorkdirLayout, atomic_file, nofollow_fs};

/// Writes a patch under `patches/`, over an earlier one with that name, and returns its path.
///
/// # Errors
/// The disk fails.
pub fn write_patch(
    layout: &WorkdirLayout,
    name: &str,
    bytes: &[u8],
) -> Result<PathBuf, StoreError> {
    let dir = layout.patches();
    nofollow_fs::ensure_dirs(layout.workdir(), &dir)?;
    let path = dir.join(format!("{}.patch", id_to_file_name(name)));
    atomic_file::replace_file(&path, bytes)?;
    Ok(path)
}

/// Removes a patch that was applied.
///
/// # Errors
/// The disk fails.
pub fn remove_patch(layout: &WorkdirLayout, path: &Path) -> Result<(), StoreError> {
    let path = layout.root().join(path);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(StoreError::from_io("remove", &path, error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_repo::TestRepo;
    use super::*;

    #[test]
    fn a_patch_is_written_once_by_its_name_and_goes() {
        let place = TestRepo::new();
        let path = write_patch(&place.layout, "ses_1.1", b"diff\n").unwrap();
        assert_eq!(path, place.layout.patches().join("ses_1_1.patch"));
        assert_eq!(
            write_patch(&place.layout, "ses_1.1", b"more\n").unwrap(),
            path
        );
        assert_eq!(std::fs::read(&path).unwrap(), b"more\n");
        let named = path.strip_prefix(place.layout.root()).unwrap();
        for _ in 0..2 {
            remove_patch(&place.layout, named).unwrap();
            assert!(!path.exists());
        }
    }
}
