//! Reads and replaces the documents that the user may edit at any time: plan and comments.
//!
//! Never overwrites a version that the caller has not seen.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::Digest;
use thiserror::Error;

use crate::domain::ids::{Sha256, UnixMillis};

use super::nofollow_fs::{self, PathKind};
use super::{DocumentLock, StoreError, WorkdirLayout, atomic_file, utc_time};

/// The maximum size of a document that is read, in bytes.
pub const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// A document as it is on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentContent {
    /// Its bytes, unchanged.
    pub bytes: Vec<u8>,
    pub sha256: Sha256,
}

/// Explains why a document was not replaced.
#[derive(Debug, Error)]
pub enum DocumentReplaceError {
    /// The document has changed since the caller read it; it stays unchanged.
    #[error("the document changed in the meantime")]
    Conflict {
        /// The current version; `None` if it was removed.
        current: Option<Sha256>,
    },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Hashes bytes in the same way as documents.
pub fn hash_document(bytes: &[u8]) -> Sha256 {
    let digest = sha2::Sha256::digest(bytes);
    Sha256::new(
        digest
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>(),
    )
}

/// Reads a document of at most [`MAX_BYTES`]; `None` if there is none. Follows no link.
pub fn read_document(path: &Path) -> Result<Option<DocumentContent>, StoreError> {
    Ok(
        nofollow_fs::read_limited(path, MAX_BYTES)?.map(|bytes| DocumentContent {
            sha256: hash_document(&bytes),
            bytes,
        }),
    )
}

/// Replaces the locked document atomically if it still equals `expected_base` (`None`: absent).
///
/// Of two writers with the same base one gets a conflict. The comparison is made again when the new content is on
/// disk, so an editor that takes no lock can only save unseen in the few microseconds before the rename; the
/// returned hash lets the caller notice it at the next read.
pub fn replace_document(
    lock: &DocumentLock,
    expected_base: Option<&Sha256>,
    bytes: &[u8],
) -> Result<Sha256, DocumentReplaceError> {
    let path = lock.document();
    let current = || Ok(read_document(path)?.map(|document| document.sha256));
    let is_expected = || Ok(current()?.as_ref() == expected_base);
    if is_expected()? && atomic_file::replace_file_if(path, bytes, &is_expected)? {
        return Ok(hash_document(bytes));
    }
    Err(DocumentReplaceError::Conflict {
        current: current()?,
    })
}

/// Stores a version that lost a conflict under `history/conflicts/` and returns its path; the same version is
/// stored only once.
///
/// # Errors
/// The directory cannot be read or written.
pub fn save_conflict_copy(
    layout: &WorkdirLayout,
    name: &str,
    bytes: &[u8],
    at: UnixMillis,
) -> Result<PathBuf, StoreError> {
    let dir = layout.conflicts();
    nofollow_fs::ensure_dirs(layout.workdir(), &dir)?;
    let entries = fs::read_dir(&dir).map_err(|e| StoreError::from_io("list", &dir, e))?;
    for entry in entries {
        let path = entry
            .map_err(|e| StoreError::from_io("list", &dir, e))?
            .path();
        if nofollow_fs::path_kind(&path)? == PathKind::File
            && nofollow_fs::read_limited(&path, MAX_BYTES)?.as_deref() == Some(bytes)
        {
            return Ok(path);
        }
    }
    let place =
        nofollow_fs::find_free_path(&dir.join(format!("{}-{name}", utc_time::to_file_name(at))))?;
    atomic_file::replace_file(&place, bytes)?;
    Ok(place)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::super::test_repo::TestRepo;
    use super::*;

    #[test]
    fn the_hash_is_lower_case_sha_256() {
        assert_eq!(
            hash_document(b"abc").as_str(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn a_link_is_not_read() {
        let place = TestRepo::new();
        std::os::unix::fs::symlink("/etc/hostname", place.layout.plan()).unwrap();
        let told = read_document(&place.layout.plan()).unwrap_err().to_string();
        assert!(
            told.ends_with("plan.md is a symbolic link, expected a regular file"),
            "{told}"
        );
    }

    #[test]
    fn what_is_saved_while_the_new_content_is_written_is_not_replaced() {
        let place = TestRepo::new();
        let plan = place.layout.plan();
        fs::write(&plan, "before").unwrap();
        let saved_meanwhile = || {
            fs::write(&plan, "typed").unwrap();
            Ok(read_document(&plan)?.is_some_and(|now| now.bytes == b"before"))
        };
        assert!(!atomic_file::replace_file_if(&plan, b"ours", &saved_meanwhile).unwrap());
        assert_eq!(fs::read(&plan).unwrap(), b"typed");
        let dir = plan.parent().unwrap();
        assert_eq!(atomic_file::remove_temporary_files(dir).unwrap(), 0);
    }

    #[test]
    fn of_two_writers_with_one_base_exactly_one_wins() {
        let place = TestRepo::new();
        let plan = place.layout.plan();
        let base = replace_document(&DocumentLock::acquire(&plan).unwrap(), None, b"base").unwrap();
        let write = |n: u8| {
            let lock = DocumentLock::acquire(&plan).unwrap();
            replace_document(&lock, Some(&base), &[n]).is_ok()
        };
        let n_won = std::thread::scope(|scope| {
            let writers: Vec<_> = (0..4).map(|n| scope.spawn(move || write(n))).collect();
            writers
                .into_iter()
                .filter_map(|w| w.join().ok())
                .filter(|won| *won)
                .count()
        });
        assert_eq!(n_won, 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        /// `true` is an edit by the user, `false` a commit by the program with the base it saw last.
        #[test]
        fn whatever_the_user_typed_is_in_the_document_or_kept(edits in proptest::collection::vec(any::<bool>(), 1..12)) {
            let place = TestRepo::new();
            let plan = place.layout.plan();
            let lock = DocumentLock::try_acquire(&plan).unwrap();
            let mut base = None;
            let mut typed = HashSet::new();
            let mut seen = HashSet::new();
            for (index, is_edit) in edits.iter().enumerate() {
                let text = format!("version {index}");
                if *is_edit {
                    if let Some(old) = read_document(&plan).unwrap() {
                        seen.insert(old.bytes);
                    }
                    fs::write(&plan, &text).unwrap();
                    typed.insert(text.into_bytes());
                    continue;
                }
                match replace_document(&lock, base.as_ref(), text.as_bytes()) {
                    Ok(hash) => base = Some(hash),
                    Err(DocumentReplaceError::Conflict { current }) => {
                        let theirs = read_document(&plan).unwrap().unwrap();
                        prop_assert_eq!(current.as_ref(), Some(&theirs.sha256));
                        save_conflict_copy(&place.layout, "plan.md", &theirs.bytes, UnixMillis(0)).unwrap();
                        base = Some(replace_document(&lock, current.as_ref(), text.as_bytes()).unwrap());
                    }
                    Err(e) => panic!("{e}"),
                }
            }
            seen.extend(read_document(&plan).unwrap().map(|document| document.bytes));
            for kept in fs::read_dir(place.layout.conflicts()).into_iter().flatten() {
                seen.insert(fs::read(kept.unwrap().path()).unwrap());
            }
            prop_assert!(typed.is_subset(&seen));
        }
    }
}
