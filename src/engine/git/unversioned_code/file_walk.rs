//! Walks the files that the scan for unversioned code looks at, and hashes each one.

use std::collections::VecDeque;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use sha2::{Digest, Sha256};

use super::{MAX_FILES, SKIPPED_FOLDERS};

/// Iterates over the files below some paths, nearest first, without following links, without skipped folders,
/// at most [`MAX_FILES`].
pub(super) struct FileWalk {
    waiting: VecDeque<PathBuf>,
    pub(super) n_remaining: usize,
    pub(super) is_recursive: bool,
}

impl FileWalk {
    pub(super) fn from_paths(mut paths: Vec<PathBuf>) -> Self {
        paths.sort_by_key(|path| (path.components().count(), path.clone()));
        Self {
            waiting: paths.into(),
            n_remaining: MAX_FILES,
            is_recursive: true,
        }
    }

    pub(super) fn from_folder(folder: &Path) -> Self {
        Self::from_paths(sorted_entries(folder))
    }
}

impl Iterator for FileWalk {
    type Item = PathBuf;

    fn next(&mut self) -> Option<PathBuf> {
        while let Some(path) = self.waiting.pop_front() {
            let is_folder = std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir());
            if !is_folder {
                self.n_remaining = self.n_remaining.checked_sub(1)?;
                return Some(path);
            }
            let name = path.file_name().unwrap_or_default();
            if name == ".git" {
                self.n_remaining = self.n_remaining.checked_sub(1)?;
                return Some(path);
            }
            if self.is_recursive && !SKIPPED_FOLDERS.iter().any(|skipped| name == *skipped) {
                self.waiting.extend(sorted_entries(&path));
            }
        }
        None
    }
}

/// Returns the sorted entries of a folder. A folder that is missing or unreadable is so for git, too.
pub(super) fn sorted_entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

pub(super) fn is_skipped(path: &Path) -> bool {
    path.components().any(|part| match part {
        Component::Normal(name) => SKIPPED_FOLDERS.iter().any(|skipped| name == *skipped),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => {
            false
        }
    })
}

/// Hashes everything that matters about a path: type, executable bit, link target, bytes; `None` if nothing
/// exists there.
pub(super) fn hash_path(path: &Path) -> io::Result<Option<String>> {
    let Some(found) = none_if_missing(std::fs::symlink_metadata(path))? else {
        return Ok(None);
    };
    let mut hash = Sha256::new();
    if found.is_symlink() {
        hash.update(b"link\0");
        hash.update(std::fs::read_link(path)?.as_os_str().as_bytes());
        hash.update(b"\0");
    }
    match none_if_missing(std::fs::metadata(path)) {
        Ok(Some(target)) => hash_target(&mut hash, path, &target)?,
        // A link that is dangling or circular runs nothing.
        Ok(None) => hash.update(b"nothing"),
        Err(_) if found.is_symlink() => hash.update(b"nothing"),
        Err(error) => return Err(error),
    }
    let hash = hash.finalize();
    Ok(Some(
        hash.iter().map(|byte| format!("{byte:02x}")).collect(),
    ))
}

fn hash_target(hash: &mut Sha256, path: &Path, target: &Metadata) -> io::Result<()> {
    hash.update((target.mode() & 0o170_111).to_le_bytes());
    if !target.is_file() {
        return Ok(());
    }
    let mut file = match File::open(path) {
        // A file that this program may not read is unreadable for git, too; only mode, size and time are
        // visible.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            hash.update(format!("{} {}", target.size(), target.mtime_nsec()));
            return Ok(());
        }
        file => file?,
    };
    let mut bytes = vec![0; 64 * 1024];
    loop {
        match file.read(&mut bytes)? {
            0 => return Ok(()),
            n => hash.update(&bytes[..n]),
        }
    }
}

fn none_if_missing<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
