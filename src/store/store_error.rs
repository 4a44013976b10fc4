//! What can go wrong between this program and its files, each with the path and a remedy.
//!
//! Refuses to decide what happens next: a caller shows the message and the hint and stops.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// A failure of the store; `Display` says what happened, [`StoreError::hint`] what to do.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The operating system refused one operation.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb phrase ("read", "rename to").
        action: &'static str,
        /// The file or directory concerned.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The disk or the quota is full; what was there before is unchanged.
    #[error("no space left to {action} {}", path.display())]
    DiskFull {
        /// What was tried.
        action: &'static str,
        /// The file concerned.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The place cannot be written by this user.
    #[error("no permission to {action} {}", path.display())]
    ReadOnly {
        /// What was tried.
        action: &'static str,
        /// The file or directory concerned.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Something stands where a plain file or a plain directory of ours belongs.
    #[error("{} is {found}, expected {expected}", path.display())]
    UnexpectedFileType {
        /// The place.
        path: PathBuf,
        /// What stands there ("a symbolic link", "a directory", …).
        found: &'static str,
        /// What belongs there.
        expected: &'static str,
    },
    /// The configured work directory or one of its file names cannot be used.
    #[error("paths.{key} = {value:?} cannot be used: {reason}")]
    InvalidPathSetting {
        /// The key under `[paths]`.
        key: &'static str,
        /// Its value.
        value: String,
        /// Why not.
        reason: &'static str,
    },
    /// A file of ours holds what this program never writes.
    #[error("{}:{line}: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// A file of the user's folder holds what this program never writes.
    #[error("{}:{line}: {reason}", path.display())]
    ForeignContent {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// A file that agents must not reach lies in their repository.
    #[error("{} is inside the repository {}", path.display(), root.display())]
    InsideRepository {
        /// The file.
        path: PathBuf,
        /// The repository.
        root: PathBuf,
    },
    /// A newer version of this program wrote the file.
    #[error("{} has schema {found}, but this version knows {known}", path.display())]
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// The schema number found.
        found: u64,
        /// The highest schema number known.
        known: u64,
    },
    /// A file is larger than what the program reads at once.
    #[error("{} is larger than {limit} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit in bytes.
        limit: u64,
    },
    /// A value of the program's own cannot be stored in this file; a defect of the program.
    #[error("the value cannot be stored in {}: {reason}", path.display())]
    Unserializable {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// Another program holds the lock of a document and does not let go.
    #[error("another program has locked {} for {seconds} seconds", path.display())]
    LockBusy {
        /// The lock file.
        path: PathBuf,
        /// How long this program waited.
        seconds: u64,
    },
    /// There is already a run where a new one was to begin.
    #[error("{} already contains a run", path.display())]
    RunExists {
        /// The event log found.
        path: PathBuf,
    },
}

impl StoreError {
    /// What is wrong with a file of JSON.
    pub(super) fn from_json(path: &Path, error: &serde_json::Error) -> Self {
        Self::Damaged {
            path: path.to_path_buf(),
            line: error.line().max(1) as u64,
            reason: error.to_string(),
        }
    }

    /// A file of JSON without a number that it must have.
    pub(super) fn missing_number(path: &Path, key: &str) -> Self {
        Self::Damaged {
            path: path.to_path_buf(),
            line: 1,
            reason: format!("the number {key} is missing"),
        }
    }

    /// Sorts a system error by what the user can do about it.
    pub fn from_io(action: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_path_buf();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull {
                action,
                path,
                source,
            },
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly {
                action,
                path,
                source,
            },
            _ => Self::Io {
                action,
                path,
                source,
            },
        }
    }

    /// Says what the user can do, as one sentence without a full stop.
    pub fn hint(&self) -> String {
        match self {
            Self::Io { path, .. } => format!("make {} usable, and start again", path.display()),
            Self::DiskFull { .. } => {
                "free some space and start again; nothing written so far is lost".into()
            }
            Self::ReadOnly { path, .. } => format!(
                "make {} and its directory writable (ls -ld shows the owner and the mode), or set paths.workdir in \
                 config.toml, or XDG_STATE_HOME for files outside the repository",
                path.display()
            ),
            Self::UnexpectedFileType { path, .. } => format!(
                "move {} away; agent-collab writes only regular files in its own directory",
                path.display()
            ),
            Self::InvalidPathSetting { key, .. } => format!("change paths.{key} in config.toml"),
            Self::Damaged { path, .. } => format!(
                "start with --new to move this run to the history as it is, or repair {} by hand",
                path.display()
            ),
            Self::ForeignContent { path, .. } => format!(
                "move {} away; you are asked again about what it approved",
                path.display()
            ),
            Self::InsideRepository { .. } => "set XDG_STATE_HOME to a folder outside".into(),
            Self::NewerSchema { .. } => {
                "update agent-collab, or start with --new to move this run to the history as it is"
                    .into()
            }
            Self::TooLarge { path, .. } => format!("shorten {}", path.display()),
            Self::Unserializable { .. } => "this is a bug in agent-collab, please report it".into(),
            Self::LockBusy { path, .. } => {
                format!("end the program that locks {}", path.display())
            }
            Self::RunExists { .. } => {
                "resume that run, or start with --new to move it to the history".into()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(error: &StoreError, expected: &str) {
        let text = format!("{error}\nhint: {}", error.hint());
        assert_eq!(text, expected);
    }

    #[test]
    fn a_full_disk_says_so_and_what_to_do() {
        let source = io::Error::from_raw_os_error(nix::errno::Errno::ENOSPC as i32);
        check(
            &StoreError::from_io("append to", Path::new("/r/events.jsonl"), source),
            "no space left to append to /r/events.jsonl\n\
             hint: free some space and start again; nothing written so far is lost",
        );
    }

    #[test]
    fn a_read_only_place_says_so_and_what_to_do() {
        let source = io::Error::from_raw_os_error(nix::errno::Errno::EROFS as i32);
        check(
            &StoreError::from_io("create", Path::new("/r/.agent-collab"), source),
            "no permission to create /r/.agent-collab\n\
             hint: make /r/.agent-collab and its directory writable (ls -ld shows the owner and the mode), or set paths.workdir in config.toml, or XDG_STATE_HOME for files outside the repository",
        );
    }
}
