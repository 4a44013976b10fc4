//! Lists the guarded part of the work directory, and restores its folders.
//!
//! Never follows a link and never deletes: what is in the way is moved to `history/`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::store::nofollow_fs::{self, PathKind};
use crate::store::{StoreError, utc_time};

use super::{GuardState, TamperedFile};

impl GuardState {
    /// Lists every plain file in the guarded part, as absolute paths.
    pub(super) fn find_guarded_files(&self) -> Result<Vec<PathBuf>, StoreError> {
        let layout = &self.layout;
        let mut files = Vec::new();
        let mut open = layout.guarded_folders().to_vec();
        for path in [layout.state(), layout.events(), layout.log()] {
            if nofollow_fs::path_kind(&path)? == PathKind::File {
                files.push(path);
            }
        }
        while let Some(dir) = open.pop() {
            if nofollow_fs::path_kind(&dir)? != PathKind::Directory {
                continue;
            }
            nofollow_fs::ensure_owner_rights(&dir)?;
            for path in list_folder(&dir)? {
                match nofollow_fs::path_kind(&path)? {
                    PathKind::File => files.push(path),
                    PathKind::Directory => open.push(path),
                    PathKind::Missing | PathKind::Symlink | PathKind::Other => {}
                }
            }
        }
        Ok(files)
    }

    /// Lists by name what is in the guarded part and was not written by the program.
    ///
    /// Empty directories are ignored: they contain nothing.
    pub(super) fn find_stranger_files(&self) -> Result<Vec<PathBuf>, StoreError> {
        let mut strangers = Vec::new();
        let mut open = self.layout.guarded_folders().to_vec();
        while let Some(dir) = open.pop() {
            if nofollow_fs::path_kind(&dir)? != PathKind::Directory {
                continue;
            }
            nofollow_fs::ensure_owner_rights(&dir)?;
            for path in list_folder(&dir)? {
                let name = path.strip_prefix(self.layout.workdir()).unwrap_or(&path);
                match nofollow_fs::path_kind(&path)? {
                    PathKind::Missing => {}
                    PathKind::Directory
                        if self.has_files_below(name) || list_folder(&path)?.is_empty() =>
                    {
                        open.push(path);
                    }
                    PathKind::File if self.files.contains_key(name) => {}
                    PathKind::File | PathKind::Directory | PathKind::Symlink | PathKind::Other => {
                        strangers.push(name.to_path_buf());
                    }
                }
            }
        }
        strangers.sort();
        Ok(strangers)
    }

    fn has_files_below(&self, dir: &Path) -> bool {
        self.files
            .range(dir.to_path_buf()..)
            .next()
            .is_some_and(|(name, _)| name.starts_with(dir))
    }

    /// Makes the work directory and every directory down to `name` a plain directory of the program.
    pub(super) fn ensure_parent_folders(&mut self, name: &Path) -> Result<(), StoreError> {
        self.ensure_workdir()?;
        let mut way = PathBuf::new();
        for part in name.parent().into_iter().flat_map(Path::iter) {
            way.push(part);
            let path = self.absolute_path(&way);
            if matches!(
                nofollow_fs::path_kind(&path)?,
                PathKind::File | PathKind::Symlink | PathKind::Other
            ) {
                let kept_copy = Some(self.set_aside(&way)?);
                let path = path.clone();
                self.pending.push(TamperedFile { path, kept_copy });
            }
            nofollow_fs::ensure_dir(&path)?;
            nofollow_fs::ensure_owner_rights(&path)?;
        }
        Ok(())
    }

    fn ensure_workdir(&mut self) -> Result<(), StoreError> {
        let path = self.layout.workdir().to_path_buf();
        let moved = match nofollow_fs::path_kind(&path)? {
            PathKind::Directory => return nofollow_fs::ensure_owner_rights(&path),
            PathKind::Missing => None,
            PathKind::File | PathKind::Symlink | PathKind::Other => {
                let beside = nofollow_fs::find_free_path(&path.with_extension("set-aside"))?;
                nofollow_fs::rename(&path, &beside)?;
                Some(beside)
            }
        };
        let _ = self.layout.create()?;
        let kept_copy = match moved {
            Some(beside) => {
                let place = self.free_aside_path(Path::new("workdir"))?;
                nofollow_fs::rename(&beside, &place)?;
                Some(place)
            }
            None => None,
        };
        self.pending.push(TamperedFile { path, kept_copy });
        Ok(())
    }

    /// Moves what is at `name` to `history/tampered-<instant>/` and returns its new path.
    pub(super) fn set_aside(&mut self, name: &Path) -> Result<PathBuf, StoreError> {
        let place = self.free_aside_path(name)?;
        nofollow_fs::rename(&self.absolute_path(name), &place)?;
        Ok(place)
    }

    /// Returns a free path below `history/tampered-<instant>/` for what was at `name`.
    pub(super) fn free_aside_path(&mut self, name: &Path) -> Result<PathBuf, StoreError> {
        let workdir = self.layout.workdir().to_path_buf();
        let history = self.layout.history();
        let found = nofollow_fs::path_kind(&history)?;
        if matches!(found, PathKind::File | PathKind::Symlink | PathKind::Other) {
            let place = nofollow_fs::find_free_path(&workdir.join("history-set-aside"))?;
            nofollow_fs::rename(&history, &place)?;
            self.pending.push(TamperedFile {
                path: history.clone(),
                kept_copy: Some(place),
            });
        }
        nofollow_fs::ensure_dir(&history)?;
        nofollow_fs::ensure_owner_rights(&history)?;
        let aside = match &self.aside_folder {
            Some(aside) if nofollow_fs::path_kind(aside)? == PathKind::Directory => aside.clone(),
            Some(_) | None => {
                let stamp = utc_time::to_file_name(utc_time::now());
                nofollow_fs::find_free_path(&history.join(format!("tampered-{stamp}")))?
            }
        };
        let place = aside.join(name);
        nofollow_fs::ensure_dirs(&workdir, place.parent().unwrap_or(&aside))?;
        self.aside_folder = Some(aside);
        nofollow_fs::find_free_path(&place)
    }
}

fn list_folder(dir: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let failed = |e| StoreError::from_io("list", dir, e);
    fs::read_dir(dir)
        .map_err(failed)?
        .map(|entry| entry.map(|entry| entry.path()).map_err(failed))
        .collect()
}
