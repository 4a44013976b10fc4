//! The comparison after a turn: each guarded file against the guard's own copy.
//!
//! Refuses to decide what a difference means for the run: it restores, keeps and reports.

use std::path::{Path, PathBuf};

use crate::store::StoreError;
use crate::store::plain::{self, Found};

use super::{Inner, Tampered};

impl Inner {
    pub(super) fn check(&mut self) -> Result<Vec<Tampered>, StoreError> {
        let names: Vec<PathBuf> = self.files.keys().cloned().collect();
        let mut failure = self.clear_way(Path::new("")).err();
        for name in names {
            let done = self.clear_way(&name).and_then(|()| self.check_file(&name));
            failure = failure.or(done.err());
        }
        failure = failure.or(self.check_strangers().err());
        match failure {
            Some(e) => Err(e),
            None => Ok(std::mem::take(&mut self.pending)),
        }
    }

    /// Puts back one guarded file if it differs; its directory is ours already.
    pub(super) fn check_file(&mut self, name: &Path) -> Result<(), StoreError> {
        let path = self.path(name);
        let Some(kept) = self.files.get(name) else {
            return Ok(());
        };
        let found = plain::look(&path)?;
        let is_same = match found {
            // What cannot be read any more counts as different.
            Found::File => plain::open_read(&path)
                .ok()
                .flatten()
                .is_some_and(|file| kept.copy.is_same(&file).unwrap_or(false)),
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
