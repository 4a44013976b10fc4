//! The guarded part of the work directory: what is in it, and how a place becomes ours again.
//!
//! Refuses to follow a link or to delete: what is in the way is moved to `history/`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::store::plain::{self, Found};
use crate::store::{StoreError, instant};

use super::{Inner, Tampered};

impl Inner {
    /// Lists every plain file among the guarded ones, as absolute paths.
    pub(super) fn find_files(&self) -> Result<Vec<PathBuf>, StoreError> {
        let layout = &self.layout;
        let mut files = Vec::new();
        let mut open = layout.own_folders().to_vec();
        for path in [layout.state(), layout.events(), layout.log()] {
            if plain::look(&path)? == Found::File {
                files.push(path);
            }
        }
        while let Some(dir) = open.pop() {
            if plain::look(&dir)? != Found::Directory {
                continue;
            }
            plain::ensure_owner_rights(&dir)?;
            for path in list(&dir)? {
                match plain::look(&path)? {
                    Found::File => files.push(path),
                    Found::Directory => open.push(path),
                    Found::Nothing | Found::Link | Found::Other => {}
                }
            }
        }
        Ok(files)
    }

    /// Lists what is among the guarded files and was not written by the program, by name.
    ///
    /// An empty directory is not worth a word: it holds nothing.
    pub(super) fn find_strangers(&self) -> Result<Vec<PathBuf>, StoreError> {
        let mut strangers = Vec::new();
        let mut open = self.layout.own_folders().to_vec();
        while let Some(dir) = open.pop() {
            if plain::look(&dir)? != Found::Directory {
                continue;
            }
            plain::ensure_owner_rights(&dir)?;
            for path in list(&dir)? {
                let name = path.strip_prefix(self.layout.workdir()).unwrap_or(&path);
                match plain::look(&path)? {
                    Found::Nothing => {}
                    Found::Directory if self.has_below(name) || list(&path)?.is_empty() => {
                        open.push(path);
                    }
                    Found::File if self.files.contains_key(name) => {}
                    Found::File | Found::Directory | Found::Link | Found::Other => {
                        strangers.push(name.to_path_buf());
                    }
                }
            }
        }
        strangers.sort();
        Ok(strangers)
    }

    fn has_below(&self, dir: &Path) -> bool {
        self.files
            .range(dir.to_path_buf()..)
            .next()
            .is_some_and(|(name, _)| name.starts_with(dir))
    }

    /// Makes the work directory and every directory down to `name` a plain directory of ours.
    pub(super) fn clear_way(&mut self, name: &Path) -> Result<(), StoreError> {
        self.clear_workdir()?;
        let mut way = PathBuf::new();
        for part in name.parent().into_iter().flat_map(Path::iter) {
            way.push(part);
            let path = self.path(&way);
            if matches!(
                plain::look(&path)?,
                Found::File | Found::Link | Found::Other
            ) {
                let kept_copy = Some(self.set_aside(&way)?);
                let path = path.clone();
                self.pending.push(Tampered { path, kept_copy });
            }
            plain::ensure_dir(&path)?;
            plain::ensure_owner_rights(&path)?;
        }
        Ok(())
    }

    fn clear_workdir(&mut self) -> Result<(), StoreError> {
        let path = self.layout.workdir().to_path_buf();
        let moved = match plain::look(&path)? {
            Found::Directory => return plain::ensure_owner_rights(&path),
            Found::Nothing => None,
            Found::File | Found::Link | Found::Other => {
                let beside = plain::free_place(&path.with_extension("set-aside"))?;
                plain::rename(&path, &beside)?;
                Some(beside)
            }
        };
        let _ = self.layout.create()?;
        let kept_copy = match moved {
            Some(beside) => {
                let place = self.place_aside(Path::new("workdir"))?;
                plain::rename(&beside, &place)?;
                Some(place)
            }
            None => None,
        };
        self.pending.push(Tampered { path, kept_copy });
        Ok(())
    }

    /// Moves what stands at `name` to `history/tampered-<instant>/` and says where it is now.
    pub(super) fn set_aside(&mut self, name: &Path) -> Result<PathBuf, StoreError> {
        let place = self.place_aside(name)?;
        plain::rename(&self.path(name), &place)?;
        Ok(place)
    }

    /// A free place below `history/tampered-<instant>/` for what stood at `name`.
    pub(super) fn place_aside(&mut self, name: &Path) -> Result<PathBuf, StoreError> {
        let workdir = self.layout.workdir().to_path_buf();
        let history = self.layout.history();
        let found = plain::look(&history)?;
        if matches!(found, Found::File | Found::Link | Found::Other) {
            let place = plain::free_place(&workdir.join("history-set-aside"))?;
            plain::rename(&history, &place)?;
            self.pending.push(Tampered {
                path: history.clone(),
                kept_copy: Some(place),
            });
        }
        plain::ensure_dir(&history)?;
        plain::ensure_owner_rights(&history)?;
        let aside = match &self.aside {
            Some(aside) if plain::look(aside)? == Found::Directory => aside.clone(),
            Some(_) | None => {
                let stamp = instant::to_name(instant::now());
                plain::free_place(&history.join(format!("tampered-{stamp}")))?
            }
        };
        let place = aside.join(name);
        plain::ensure_dirs(&workdir, place.parent().unwrap_or(&aside))?;
        self.aside = Some(aside);
        plain::free_place(&place)
    }
}

fn list(dir: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let failed = |e| StoreError::io("list", dir, e);
    fs::read_dir(dir)
        .map_err(failed)?
        .map(|entry| entry.map(|entry| entry.path()).map_err(failed))
        .collect()
}
