//! Guards the files that only the program writes: all writes to them go through here, and a check after each
//! turn restores what was changed by others.
//!
//! Does not trust the disk: it compares with a copy of its own, in memory if small, else in a nameless file
//! that no other program can reach by a path. Deletes only what it wrote itself: anything else that it finds
//! goes to `history/`. `plan.md` and `comments.md` are not guarded.

mod guard_comparison;
mod guard_copy;
mod guarded_tree;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Seek, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use guard_copy::{BlockPool, GuardCopy};

use super::nofollow_fs::{self, PathKind};
use super::{StoreError, WorkdirLayout, atomic_file, failpoints};

/// How many files may be open for appending: more than are ever written at once, and few compared to the
/// limit of open files per process.
const MAX_OPEN_FILES: usize = 32;

/// A difference that was found and undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TamperedFile {
    /// The file or directory that differed from what the program wrote.
    pub path: PathBuf,
    /// Where a copy of what was found instead is stored; `None` if nothing was there.
    pub kept_copy: Option<PathBuf>,
}

/// The single writer of guarded files; clones share the same state.
#[derive(Debug, Clone)]
pub struct TamperGuard {
    layout: Arc<WorkdirLayout>,
    inner: Arc<Mutex<GuardState>>,
}

#[derive(Debug)]
struct GuardState {
    layout: Arc<WorkdirLayout>,
    /// Stores the copies of large files.
    pool: Arc<BlockPool>,
    /// The number of writes so far; each open file records the number of its last write.
    n_writes: u64,
    /// What the program wrote, by path relative to the work directory.
    files: BTreeMap<PathBuf, GuardedFile>,
    /// Differences found during a write, to be reported by the next check.
    pending: Vec<TamperedFile>,
    /// The directory under `history/` for what this process sets aside.
    aside_folder: Option<PathBuf>,
}

#[derive(Debug)]
struct GuardedFile {
    copy: GuardCopy,
    /// The file as it was opened for appending; it stays the program's even if the path leads to another
    /// file.
    append_handle: Option<AppendHandle>,
}

/// A file that is open for appending.
#[derive(Debug)]
struct AppendHandle {
    file: File,
    /// The number of the last write to it.
    written_at: u64,
}

impl TamperGuard {
    /// Accepts the run's files as they are on disk and guards them from now on.
    ///
    /// `side` is a directory outside the repository for nameless copies of large files, such as the user's
    /// state directory; it is created if missing. Only plain files are accepted; anything else among them is
    /// reported by the first check.
    pub fn open(layout: &WorkdirLayout, side: &Path) -> Result<Self, StoreError> {
        std::fs::create_dir_all(side).map_err(|e| StoreError::from_io("create", side, e))?;
        let guard = Self::with_side(layout, side);
        {
            let mut inner = guard.lock();
            for path in inner.find_guarded_files()? {
                inner.adopt_file(&path)?;
            }
        }
        Ok(guard)
    }

    /// Guards nothing: for a reader that has no lock on the run.
    pub fn open_for_reading(layout: &WorkdirLayout) -> Self {
        Self::with_side(layout, Path::new(""))
    }

    fn with_side(layout: &WorkdirLayout, side: &Path) -> Self {
        let layout = Arc::new(layout.clone());
        let inner = GuardState {
            layout: Arc::clone(&layout),
            pool: BlockPool::in_folder(side),
            n_writes: 0,
            files: BTreeMap::new(),
            pending: Vec::new(),
            aside_folder: None,
        };
        Self {
            layout,
            inner: Arc::new(Mutex::new(inner)),
        }
    }

    /// Returns the layout of the guarded work directory.
    pub fn layout(&self) -> &WorkdirLayout {
        &self.layout
    }

    /// Replaces a guarded file atomically and durably.
    pub fn replace(&self, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        self.lock().replace(path, bytes)
    }

    /// Appends to a guarded file, all or nothing; durable only after [`TamperGuard::sync`].
    pub fn append(&self, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        self.lock().append(path, bytes)
    }

    /// Makes everything appended to a guarded file durable.
    pub fn sync(&self, path: &Path) -> Result<(), StoreError> {
        self.lock().sync(path)
    }

    /// Removes a guarded folder with everything that the program wrote below it; other files stay and are
    /// reported by the next check.
    pub fn remove(&self, folder: &Path) -> Result<(), StoreError> {
        self.lock().remove(folder)
    }

    /// Returns the length in bytes of what the program wrote to a file; `None` if it wrote none.
    pub fn len(&self, path: &Path) -> Option<u64> {
        let inner = self.lock();
        let name = inner.relative_name(path).ok()?;
        inner.files.get(&name).map(|kept| kept.copy.len())
    }

    /// Returns the last byte of what the program wrote to a file.
    pub(super) fn last_byte(&self, path: &Path) -> Result<Option<u8>, StoreError> {
        let inner = self.lock();
        let name = inner.relative_name(path)?;
        match inner.files.get(&name) {
            Some(kept) => kept.copy.last_byte(path),
            None => Ok(None),
        }
    }

    /// Truncates a guarded file to its first `len` bytes; the caller has stored the rest elsewhere.
    pub(super) fn truncate(&self, path: &Path, len: u64) -> Result<(), StoreError> {
        self.lock().truncate(path, len)
    }

    /// Renames a guarded file, and replaces an existing one if necessary.
    pub(super) fn rotate(&self, from: &Path, to: &Path) -> Result<(), StoreError> {
        self.lock().rotate(from, to)
    }

    fn lock(&self) -> MutexGuard<'_, GuardState> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl GuardState {
    /// Returns the path of a guarded file relative to the work directory.
    fn relative_name(&self, path: &Path) -> Result<PathBuf, StoreError> {
        let name = path.strip_prefix(self.layout.workdir()).unwrap_or(path);
        if self.is_guarded(name) {
            return Ok(name.to_path_buf());
        }
        Err(StoreError::Unserializable {
            path: path.to_path_buf(),
            reason: "it is not a guarded file".into(),
        })
    }

    fn is_guarded(&self, name: &Path) -> bool {
        if !name
            .components()
            .all(|part| matches!(part, Component::Normal(_)))
        {
            return false;
        }
        let at_top = [self.layout.state(), self.layout.events(), self.layout.log()];
        let path = self.layout.workdir().join(name);
        let is_below = |dir: PathBuf| path.starts_with(&dir) && path != dir;
        at_top.contains(&path) || self.layout.guarded_folders().into_iter().any(is_below)
    }

    fn absolute_path(&self, name: &Path) -> PathBuf {
        self.layout.workdir().join(name)
    }

    fn adopt_file(&mut self, path: &Path) -> Result<(), StoreError> {
        let name = self.relative_name(path)?;
        if let Some(mut file) = nofollow_fs::open_read(path)? {
            let copy = GuardCopy::from_reader(&mut file, path, &self.pool)?;
            self.files.insert(
                name,
                GuardedFile {
                    copy,
                    append_handle: None,
                },
            );
        }
        Ok(())
    }

    /// Restores the folders above a file and sets aside what is in its place instead of it.
    fn prepare_path(&mut self, name: &Path) -> Result<(), StoreError> {
        self.ensure_parent_folders(name)?;
        if self.files.contains_key(name) {
            self.check_file(name, None)?;
        } else if nofollow_fs::path_kind(&self.absolute_path(name))? != PathKind::Missing {
            let kept_copy = Some(self.set_aside(name)?);
            let path = self.absolute_path(name);
            self.pending.push(TamperedFile { path, kept_copy });
        }
        Ok(())
    }

    fn replace(&mut self, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        let name = self.relative_name(path)?;
        self.prepare_path(&name)?;
        let copy = GuardCopy::from_bytes(bytes, path, &self.pool)?;
        let before = nofollow_fs::open_read(path)?;
        let done = atomic_file::replace_file(path, bytes);
        // Even a failed replacement may have happened: its last step only makes it durable.
        let took_place = done.is_ok()
            || nofollow_fs::open_read(path)?
                .is_some_and(|file| copy.equals_file(&file).unwrap_or(false));
        if took_place {
            let kept = GuardedFile {
                copy,
                append_handle: None,
            };
            let ours = self.files.insert(name.clone(), kept);
            if let (Some(ours), Some(before)) = (ours, before) {
                self.keep_replaced_content(&name, &ours.copy, before)?;
            }
        }
        done
    }

    /// Stores what another process wrote to a file between the check and its replacement.
    fn keep_replaced_content(
        &mut self,
        name: &Path,
        ours: &GuardCopy,
        mut replaced: File,
    ) -> Result<(), StoreError> {
        let path = self.absolute_path(name);
        let failed = |e| StoreError::from_io("read what was at", &path, e);
        if ours.equals_file(&replaced).map_err(failed)? {
            return Ok(());
        }
        let place = self.free_aside_path(name)?;
        replaced.rewind().map_err(failed)?;
        atomic_file::replace_file_from(&place, &mut replaced)?;
        let kept_copy = Some(place);
        self.pending.push(TamperedFile { path, kept_copy });
        Ok(())
    }

    fn append(&mut self, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        let name = self.relative_name(path)?;
        self.open_for_append(&name)?;
        let Some((copy, live)) = copy_and_handle(&mut self.files, &name) else {
            return Ok(());
        };
        let before = copy.len();
        failpoints::trace_file_change("append", path);
        copy.append(bytes, path, &self.pool)?;
        self.n_writes += 1;
        live.written_at = self.n_writes;
        append_all_or_nothing(&mut live.file, bytes, before).map_err(|e| {
            copy.truncate(before);
            StoreError::from_io("append to", path, e)
        })
    }

    fn open_for_append(&mut self, name: &Path) -> Result<(), StoreError> {
        if self
            .files
            .get(name)
            .is_some_and(|kept| kept.append_handle.is_some())
        {
            return Ok(());
        }
        self.prepare_path(name)?;
        let path = self.absolute_path(name);
        let is_new = !self.files.contains_key(name);
        self.close_oldest_handle()?;
        let file = nofollow_fs::open_append(&path)?;
        if is_new && let Some(dir) = path.parent() {
            nofollow_fs::sync_dir(dir)?;
        }
        let copy = GuardCopy::from_bytes(&[], &path, &self.pool)?;
        let kept = self.files.entry(name.to_path_buf()).or_insert(GuardedFile {
            copy,
            append_handle: None,
        });
        kept.append_handle = Some(AppendHandle {
            file,
            written_at: self.n_writes,
        });
        Ok(())
    }

    /// Makes room for one more open file: closes the one with the oldest write; it is reopened for its next
    /// write.
    fn close_oldest_handle(&mut self) -> Result<(), StoreError> {
        let open = self.files.iter().filter_map(|(name, kept)| {
            let live = kept.append_handle.as_ref()?;
            Some((live.written_at, name))
        });
        let open: Vec<(u64, &PathBuf)> = open.collect();
        if open.len() < MAX_OPEN_FILES {
            return Ok(());
        }
        let Some((_, name)) = open.into_iter().min() else {
            return Ok(());
        };
        let (name, path) = (name.clone(), self.absolute_path(name));
        let kept = self.files.get_mut(&name);
        match kept.and_then(|kept| kept.append_handle.take()) {
            // A later sync would find nothing to make durable.
            Some(live) => live
                .file
                .sync_data()
                .map_err(|e| StoreError::from_io("sync", &path, e)),
            None => Ok(()),
        }
    }

    fn sync(&mut self, path: &Path) -> Result<(), StoreError> {
        let name = self.relative_name(path)?;
        let live = self
            .files
            .get(&name)
            .and_then(|kept| kept.append_handle.as_ref());
        match live {
            Some(live) => {
                failpoints::trace_file_change("sync", path);
                live.file
                    .sync_data()
                    .map_err(|e| StoreError::from_io("sync", path, e))
            }
            None => Ok(()),
        }
    }

    fn truncate(&mut self, path: &Path, len: u64) -> Result<(), StoreError> {
        let name = self.relative_name(path)?;
        self.open_for_append(&name)?;
        let Some((copy, live)) = copy_and_handle(&mut self.files, &name) else {
            return Ok(());
        };
        failpoints::trace_file_change("truncate", path);
        live.file
            .set_len(len)
            .and_then(|()| live.file.sync_all())
            .map_err(|e| StoreError::from_io("truncate", path, e))?;
        copy.truncate(len);
        Ok(())
    }

    fn remove(&mut self, folder: &Path) -> Result<(), StoreError> {
        let folder_name = self.relative_name(folder)?;
        let below = self.files.range(folder_name.clone()..);
        let names: Vec<PathBuf> = below
            .map(|(name, _)| name.clone())
            .take_while(|name| name.starts_with(&folder_name))
            .collect();
        for name in names {
            // The file is restored first if it was removed or replaced: only the program's own file is
            // deleted.
            self.prepare_path(&name)?;
            let path = self.absolute_path(&name);
            failpoints::trace_file_change("remove", &path);
            std::fs::remove_file(&path).map_err(|e| StoreError::from_io("remove", &path, e))?;
            self.files.remove(&name);
        }
        // A folder with files of others stays.
        let _not_empty = std::fs::remove_dir(folder);
        Ok(())
    }

    fn rotate(&mut self, from: &Path, to: &Path) -> Result<(), StoreError> {
        let (from_name, to_name) = (self.relative_name(from)?, self.relative_name(to)?);
        self.prepare_path(&from_name)?;
        self.prepare_path(&to_name)?;
        failpoints::trace_file_change("rotate", from);
        std::fs::rename(from, to).map_err(|e| StoreError::from_io("move", from, e))?;
        if let Some(kept) = self.files.remove(&from_name) {
            let copy = kept.copy;
            self.files.insert(
                to_name,
                GuardedFile {
                    copy,
                    append_handle: None,
                },
            );
        }
        Ok(())
    }
}

/// Returns a file that is open for appending, and its copy.
fn copy_and_handle<'a>(
    files: &'a mut BTreeMap<PathBuf, GuardedFile>,
    name: &Path,
) -> Option<(&'a mut GuardCopy, &'a mut AppendHandle)> {
    let GuardedFile {
        copy,
        append_handle: live,
    } = files.get_mut(name)?;
    Some((copy, live.as_mut()?))
}

/// Appends all of `bytes`, or truncates the file to its previous length.
fn append_all_or_nothing(file: &mut File, bytes: &[u8], before: u64) -> std::io::Result<()> {
    let done = file.write_all(bytes);
    if done.is_err() {
        // A second failure here leaves an incomplete line: the next check finds and repairs it.
        let _ = file.set_len(before);
    }
    done
}

#[cfg(test)]
mod tests;
