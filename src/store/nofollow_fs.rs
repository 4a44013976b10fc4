//! Opens plain files and plain directories, and nothing else, at paths that an agent could have changed.
//!
//! Never follows a symbolic link, waits at a FIFO, or reads more than the limit.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use serde::de::DeserializeOwned;

use super::{StoreError, failpoints};

/// What is at a path, without following links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathKind {
    Missing,
    File,
    Directory,
    Symlink,
    Other,
}

impl PathKind {
    /// Returns the name for a message.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::File => "a file",
            Self::Directory => "a directory",
            Self::Symlink => "a symbolic link",
            Self::Other => "a device, socket or pipe",
        }
    }
}

/// Returns what is at a path without following a link at its end.
pub(super) fn path_kind(path: &Path) -> Result<PathKind, StoreError> {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_file() => Ok(PathKind::File),
        Ok(meta) if meta.is_dir() => Ok(PathKind::Directory),
        Ok(meta) if meta.file_type().is_symlink() => Ok(PathKind::Symlink),
        Ok(_) => Ok(PathKind::Other),
        Err(e) if is_missing(&e) => Ok(PathKind::Missing),
        Err(e) => Err(StoreError::from_io("access", path, e)),
    }
}

/// A path below a file is as missing as one below nothing.
fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Opens a plain file for reading; `None` if nothing is there.
pub(super) fn open_read(path: &Path) -> Result<Option<File>, StoreError> {
    let mut options = OpenOptions::new();
    options.read(true);
    match open_plain_file(&options, path, "read") {
        Ok(file) => Ok(Some(file)),
        Err(StoreError::Io { source, .. }) if is_missing(&source) => Ok(None),
        Err(e) => Err(e),
    }
}

/// Opens a plain file for appending, creating it with mode 0600.
pub(super) fn open_append(path: &Path) -> Result<File, StoreError> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600);
    open_plain_file(&options, path, "append to")
}

/// Opens a plain file for locking and for rewriting its content, creating it with mode 0600.
pub(super) fn open_lock(path: &Path) -> Result<File, StoreError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).mode(0o600);
    open_plain_file(&options, path, "open")
}

fn open_plain_file(
    options: &OpenOptions,
    path: &Path,
    action: &'static str,
) -> Result<File, StoreError> {
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    let not_plain = |found: PathKind| StoreError::UnexpectedFileType {
        path: path.to_path_buf(),
        found: found.label(),
        expected: "a regular file",
    };
    let mut options = options.clone();
    let file = match options.custom_flags(flags.bits()).open(path) {
        Ok(file) => file,
        Err(e) if e.raw_os_error() == Some(Errno::ELOOP as i32) => {
            return Err(not_plain(PathKind::Symlink));
        }
        Err(e) if e.kind() == io::ErrorKind::IsADirectory => {
            return Err(not_plain(PathKind::Directory));
        }
        Err(e) if e.raw_os_error() == Some(Errno::ENXIO as i32) => {
            return Err(not_plain(PathKind::Other));
        }
        Err(e) => return Err(StoreError::from_io(action, path, e)),
    };
    let meta = file
        .metadata()
        .map_err(|e| StoreError::from_io("access", path, e))?;
    if meta.is_file() {
        Ok(file)
    } else if meta.is_dir() {
        Err(not_plain(PathKind::Directory))
    } else {
        Err(not_plain(PathKind::Other))
    }
}

/// Reads a whole plain file of at most `limit` bytes; `None` if nothing is there.
pub(super) fn read_limited(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, StoreError> {
    let Some(file) = open_read(path)? else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    file.take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| StoreError::from_io("read", path, e))?;
    if bytes.len() as u64 > limit {
        return Err(StoreError::TooLarge {
            path: path.to_path_buf(),
            limit,
        });
    }
    Ok(Some(bytes))
}

/// Reads a plain file of JSON up to this size; `None` if nothing is there.
pub(super) fn read_json<T: DeserializeOwned>(
    path: &Path,
    limit: u64,
) -> Result<Option<T>, StoreError> {
    let Some(bytes) = read_limited(path, limit)? else {
        return Ok(None);
    };
    let read = serde_json::from_slice(&bytes);
    read.map(Some)
        .map_err(|error| StoreError::from_json(path, &error))
}

/// Creates one directory with mode 0700, durably; an existing one is fine, anything else is an error.
pub(super) fn ensure_dir(path: &Path) -> Result<(), StoreError> {
    match path_kind(path)? {
        PathKind::Directory => Ok(()),
        PathKind::Missing => {
            failpoints::trace_file_change("make folder", path);
            match DirBuilder::new().mode(0o700).create(path) {
                Ok(()) => path.parent().map_or(Ok(()), sync_dir),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => check_is_dir(path),
                Err(e) => Err(StoreError::from_io("create", path, e)),
            }
        }
        found @ (PathKind::File | PathKind::Symlink | PathKind::Other) => {
            Err(StoreError::UnexpectedFileType {
                path: path.to_path_buf(),
                found: found.label(),
                expected: "a directory",
            })
        }
    }
}

fn check_is_dir(path: &Path) -> Result<(), StoreError> {
    match path_kind(path)? {
        PathKind::Directory => Ok(()),
        found => Err(StoreError::UnexpectedFileType {
            path: path.to_path_buf(),
            found: found.label(),
            expected: "a directory",
        }),
    }
}

/// Creates every directory from `base` (which exists) down to `path`, following no link.
pub(super) fn ensure_dirs(base: &Path, path: &Path) -> Result<(), StoreError> {
    let mut dir = base.to_path_buf();
    for part in path.strip_prefix(base).into_iter().flat_map(Path::iter) {
        dir.push(part);
        ensure_dir(&dir)?;
    }
    Ok(())
}

/// Restores the owner's right to list, enter and change a directory, if it was removed.
pub(super) fn ensure_owner_rights(dir: &Path) -> Result<(), StoreError> {
    let meta = fs::symlink_metadata(dir).map_err(|e| StoreError::from_io("access", dir, e))?;
    let mode = meta.permissions().mode();
    if mode & 0o700 == 0o700 {
        return Ok(());
    }
    fs::set_permissions(dir, fs::Permissions::from_mode((mode & 0o777) | 0o700))
        .map_err(|e| StoreError::from_io("change the mode of", dir, e))
}

/// Makes renames and creations in a directory durable.
pub(super) fn sync_dir(dir: &Path) -> Result<(), StoreError> {
    let mut options = OpenOptions::new();
    options
        .read(true)
        .custom_flags((OFlag::O_DIRECTORY | OFlag::O_CLOEXEC).bits());
    options
        .open(dir)
        .and_then(|dir| dir.sync_all())
        .map_err(|e| StoreError::from_io("sync", dir, e))
}

/// Renames and makes the change durable in both directories.
pub(super) fn rename(from: &Path, to: &Path) -> Result<(), StoreError> {
    failpoints::trace_file_change("move", from);
    fs::rename(from, to).map_err(|e| StoreError::from_io("move", from, e))?;
    for dir in [from.parent(), to.parent()].into_iter().flatten() {
        sync_dir(dir)?;
    }
    Ok(())
}

/// Finds a free path: `path` itself, else `path-2`, `path-3` and so on.
pub(super) fn find_free_path(path: &Path) -> Result<std::path::PathBuf, StoreError> {
    let mut place = path.to_path_buf();
    let mut n = 1_u32;
    while path_kind(&place)? != PathKind::Missing {
        n += 1;
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(format!("-{n}"));
        place = path.with_file_name(name);
    }
    Ok(place)
}
