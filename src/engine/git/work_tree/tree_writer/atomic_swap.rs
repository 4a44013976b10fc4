//! Changes one path in the work tree so that there is a file at every moment and nothing that the user saved
//! is lost.
//!
//! Never deletes what was at a path: it is at another path afterwards. Does not use git.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

/// Identifies what is at a path, to detect a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PathFingerprint {
    Nothing,
    /// A file: whether its owner may execute it, and the hash of its bytes.
    File(bool, [u8; 32]),
    /// A link with its target.
    Link(PathBuf),
    /// A folder or anything else.
    Other,
}

/// Fingerprints a path without following a link.
pub(super) fn fingerprint_path(path: &Path) -> io::Result<PathFingerprint> {
    let found = match path.symlink_metadata() {
        Ok(found) => found,
        Err(error) if is_missing(&error) => return Ok(PathFingerprint::Nothing),
        Err(error) => return Err(error),
    };
    if found.is_symlink() {
        return fs::read_link(path).map(PathFingerprint::Link);
    }
    if !found.is_file() {
        return Ok(PathFingerprint::Other);
    }
    let flags = (OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits();
    let mut file = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)?;
    let mut hasher = Sha256::new();
    io::copy(&mut file, &mut hasher)?;
    let runs = file.metadata()?.mode() & 0o100 != 0;
    Ok(PathFingerprint::File(runs, hasher.finalize().into()))
}

fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Replaces `to` with `from` and returns where the old file is now: at `from`, or at `aside` where the file
/// system cannot exchange two files.
pub(super) fn swap_into_place(from: &Path, to: &Path, aside: &Path) -> io::Result<PathBuf> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(from.to_owned()),
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            create_parent_folder(aside)?;
            // A file system without hard links: a save in the moment between the copy and the rename is not
            // noticed.
            if fs::hard_link(to, aside).is_err() {
                fs::copy(to, aside)?;
            }
            fs::rename(from, to)?;
            Ok(aside.to_owned())
        }
        Err(error) => Err(error.into()),
    }
}

/// Moves `from` to a path that must be free.
pub(super) fn move_without_replacing(from: &Path, to: &Path) -> io::Result<()> {
    create_parent_folder(to)?;
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => match to.symlink_metadata() {
            Ok(_) => Err(Errno::EXIST.into()),
            Err(_) => fs::rename(from, to),
        },
        placed => placed.map_err(io::Error::from),
    }
}

fn create_parent_folder(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

/// Returns a path beside `path` whose name shows that the file is misplaced.
pub(super) fn sibling_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".came-out");
    path.with_file_name(name)
}

/// A file or link in a folder.
pub(super) struct FolderFile {
    pub(super) path: PathBuf,
    /// The content; for a link its target.
    pub(super) bytes: Vec<u8>,
    pub(super) is_link: bool,
}

/// Lists every file and link below a folder; empty if there is no folder.
pub(super) fn list_files_below(folder: &Path) -> io::Result<Vec<FolderFile>> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(at) = open.pop() {
        let entries = match fs::read_dir(&at) {
            Err(error) if is_missing(&error) => continue,
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let (at, kind) = (entry.path(), entry.file_type()?);
            let is_link = kind.is_symlink();
            let bytes = match () {
                () if kind.is_dir() => {
                    open.push(at);
                    continue;
                }
                () if is_link => fs::read_link(&at)?.as_os_str().as_bytes().to_vec(),
                () if kind.is_file() => fs::read(&at)?,
                // A pipe or a socket has no content.
                () => continue,
            };
            let path = at.strip_prefix(folder).unwrap_or(&at).to_owned();
            found.push(FolderFile {
                path,
                bytes,
                is_link,
            });
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}
