//! The comparison after a turn: each guarded file against the guard's own copy.
//!
//! The long reading is done beside whoever writes: only what came since, and what differs, is looked at while all
//! others wait. Refuses to decide what a difference means for the run: it restores, keeps and reports.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::store::StoreError;
use crate::store::plain::{self, Found};

use super::copy::{Copy, Side};
use super::{Guard, Inner, Tampered};

/// What was found to be the same without anybody waiting.
pub(super) struct Compared {
    /// The file that was read; held open, so that no other one gets its number.
    read: File,
    /// The copy as it was then.
    copy: Side,
}

impl Compared {
    /// How many bytes of the file that lies there now need no second look.
    fn holds_for(&self, file: &File, copy: &Copy) -> io::Result<u64> {
        let (found, read) = (file.metadata()?, self.read.metadata()?);
        let is_one = (found.dev(), found.ino()) == (read.dev(), read.ino());
        Ok(match is_one {
            true => copy.begins_with(&self.copy).unwrap_or(0),
            false => 0,
        })
    }
}

impl Guard {
    /// Compares every guarded file with what the program wrote and puts ours back where it differs.
    ///
    /// What was found instead, files nobody should have put there included, is moved to
    /// `history/tampered-<instant>/`. Returns each difference once; on an error those found so far
    /// are told by the next call. Reads all guarded bytes, so it belongs off the loop's thread; who
    /// writes meanwhile waits for no more than a small file.
    ///
    /// # Errors
    /// A file cannot be read or restored.
    pub fn check(&self) -> Result<Vec<Tampered>, StoreError> {
        let (names, mut failure) = {
            let mut inner = self.lock();
            let names: Vec<PathBuf> = inner.files.keys().cloned().collect();
            (names, inner.clear_way(Path::new("")).err())
        };
        for name in names {
            let compared = self.compare(&name);
            let mut inner = self.lock();
            let done = inner
                .clear_way(&name)
                .and_then(|()| inner.check_file(&name, compared.as_ref()));
            failure = failure.or(done.err());
        }
        let mut inner = self.lock();
        match failure.or(inner.check_strangers().err()) {
            Some(e) => Err(e),
            None => Ok(std::mem::take(&mut inner.pending)),
        }
    }

    /// Reads a large file beside whoever writes; `None` where that is to be done with nobody writing.
    pub(super) fn compare(&self, name: &Path) -> Option<Compared> {
        let (path, copy) = {
            let inner = self.lock();
            (inner.path(name), inner.files.get(name)?.copy.as_now()?)
        };
        let read = plain::open_read(&path).ok()??;
        let is_same = copy.begins(&read).ok()?;
        is_same.then_some(Compared { read, copy })
    }
}

impl Inner {
    /// Puts back one guarded file if it differs; its directory is ours already.
    pub(super) fn check_file(
        &mut self,
        name: &Path,
        compared: Option<&Compared>,
    ) -> Result<(), StoreError> {
        let path = self.path(name);
        let Some(kept) = self.files.get(name) else {
            return Ok(());
        };
        let found = plain::look(&path)?;
        let is_same = |file: &File| {
            let from = match compared {
                Some(compared) => compared.holds_for(file, &kept.copy)?,
                None => 0,
            };
            kept.copy.is_same_from(from, file)
        };
        let is_same = match found {
            // What cannot be read any more counts as different.
            Found::File => plain::open_read(&path)
                .ok()
                .flatten()
                .is_some_and(|file| is_same(&file).unwrap_or(false)),
            Found::Nothing | Found::Directory | Found::Link | Found::Other => false,
        };
        if is_same {
            return Ok(());
        }
        let kept_copy = match found {
            Found::Nothing => None,
            Found::File | Found::Directory | Found::Link | Found::Other => {
                Some(self.set_aside(name)?)
            }
        };
        self.pending.push(Tampered {
            path: path.clone(),
            kept_copy,
        });
        if let Some(kept) = self.files.get_mut(name) {
            kept.live = None;
            kept.copy.restore(&path)?;
        }
        Ok(())
    }

    fn check_strangers(&mut self) -> Result<(), StoreError> {
        for name in self.find_strangers()? {
            let kept_copy = Some(self.set_aside(&name)?);
            let path = self.path(&name);
            self.pending.push(Tampered { path, kept_copy });
        }
        Ok(())
    }
}
