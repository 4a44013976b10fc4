//! Compares each guarded file with the guard's own copy after a turn, and restores those that differ.
//!
//! Most of the reading happens without the lock: writers wait only while new bytes, and files that differ,
//! are checked. Does not decide what a difference means for the run: it restores, stores and reports.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::store::StoreError;
use crate::store::nofollow_fs::{self, PathKind};

use super::guard_copy::{BlockCopy, GuardCopy};
use super::{GuardState, TamperGuard, TamperedFile};

/// The part that was compared without the lock.
pub(super) struct FileComparison {
    /// The file that was read; kept open, so that no other file gets its inode number.
    file: File,
    /// The copy at that time.
    copy: BlockCopy,
}

impl FileComparison {
    /// Returns how many bytes of the current file need no second comparison.
    fn verified_prefix_len(&self, file: &File, copy: &GuardCopy) -> io::Result<u64> {
        let (found, read) = (file.metadata()?, self.file.metadata()?);
        let is_one = (found.dev(), found.ino()) == (read.dev(), read.ino());
        Ok(if is_one {
            copy.unchanged_prefix_len(&self.copy).unwrap_or(0)
        } else {
            0
        })
    }
}

impl TamperGuard {
    /// Compares every guarded file with what the program wrote and restores the program's version where it
    /// differs.
    ///
    /// What was found instead, including unexpected files, is moved to `history/tampered-<instant>/`. Returns
    /// each difference once; after an error the next call reports those found so far. Reads all guarded
    /// bytes, so do not call it on the event loop's thread; writers wait at most for a small file.
    ///
    /// # Errors
    /// A file cannot be read or restored.
    pub fn check_and_restore(&self) -> Result<Vec<TamperedFile>, StoreError> {
        let (names, mut failure) = {
            let mut inner = self.lock();
            let names: Vec<PathBuf> = inner.files.keys().cloned().collect();
            (names, inner.ensure_parent_folders(Path::new("")).err())
        };
        for name in names {
            let compared = self.compare_unlocked(&name);
            let mut inner = self.lock();
            let done = inner
                .ensure_parent_folders(&name)
                .and_then(|()| inner.check_file(&name, compared.as_ref()));
            failure = failure.or(done.err());
        }
        let mut inner = self.lock();
        match failure.or(inner.set_aside_strangers().err()) {
            Some(e) => Err(e),
            None => Ok(std::mem::take(&mut inner.pending)),
        }
    }

    /// Compares a large file without the lock; `None` if the file must be compared with the lock.
    pub(super) fn compare_unlocked(&self, name: &Path) -> Option<FileComparison> {
        let (path, copy) = {
            let inner = self.lock();
            (
                inner.absolute_path(name),
                inner.files.get(name)?.copy.block_snapshot()?,
            )
        };
        let read = nofollow_fs::open_read(&path).ok()??;
        let is_same = copy.is_prefix_of_file(&read).ok()?;
        is_same.then_some(FileComparison { file: read, copy })
    }
}

impl GuardState {
    /// Restores one guarded file if it differs; its directory is already checked.
    pub(super) fn check_file(
        &mut self,
        name: &Path,
        compared: Option<&FileComparison>,
    ) -> Result<(), StoreError> {
        let path = self.absolute_path(name);
        let Some(kept) = self.files.get(name) else {
            return Ok(());
        };
        let found = nofollow_fs::path_kind(&path)?;
        let is_same = |file: &File| {
            let from = match compared {
                Some(compared) => compared.verified_prefix_len(file, &kept.copy)?,
                None => 0,
            };
            kept.copy.equals_file_from(from, file)
        };
        let is_same = match found {
            // A file that cannot be read any more counts as different.
            PathKind::File => nofollow_fs::open_read(&path)
                .ok()
                .flatten()
                .is_some_and(|file| is_same(&file).unwrap_or(false)),
            PathKind::Missing | PathKind::Directory | PathKind::Symlink | PathKind::Other => false,
        };
        if is_same {
            return Ok(());
        }
        let kept_copy = match found {
            PathKind::Missing => None,
            PathKind::File | PathKind::Directory | PathKind::Symlink | PathKind::Other => {
                Some(self.set_aside(name)?)
            }
        };
        self.pending.push(TamperedFile {
            path: path.clone(),
            kept_copy,
        });
        if let Some(kept) = self.files.get_mut(name) {
            kept.append_handle = None;
            kept.copy.write_to(&path)?;
        }
        Ok(())
    }

    fn set_aside_strangers(&mut self) -> Result<(), StoreError> {
        for name in self.find_stranger_files()? {
            let kept_copy = Some(self.set_aside(&name)?);
            let path = self.absolute_path(&name);
            self.pending.push(TamperedFile { path, kept_copy });
        }
        Ok(())
    }
}
