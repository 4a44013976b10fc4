//! The errors of the store, each with the path and a hint for the user.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// A failure of the store; `Display` says what happened, [`StoreError::hint`] what to do.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The operating system refused an operation.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The operation, as a verb phrase ("read", "rename to").
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        source: io::Error,
    },
    /// The disk or the quota is full; the previous content is unchanged.
    #[error("no space left to {action} {}", path.display())]
    DiskFull {
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// This user cannot write to the path.
    #[error("no permission to {action} {}", path.display())]
    ReadOnly {
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        source: io::Error,
    },
    /// Something else is in the place of a plain file or directory of the program.
    #[error("{} is {found}, expected {expected}", path.display())]
    UnexpectedFileType {
        path: PathBuf,
        /// What is there ("a symbolic link", "a directory", …).
        found: &'static str,
        /// What should be there.
        expected: &'static str,
    },
    /// The configured work directory or one of its file names cannot be used.
    #[error("paths.{key} = {value:?} cannot be used: {reason}")]
    InvalidPathSetting {
        /// The key under `[paths]`.
        key: &'static str,
        value: String,
        reason: &'static str,
    },
    /// A file of the program contains what the program never writes.
    #[error("{}:{line}: {reason}", path.display())]
    Damaged {
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// A file in the user's folder contains what this program never writes.
    #[error("{}:{line}: {reason}", path.display())]
    ForeignContent {
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// A file that agents must not reach is inside their repository.
    #[error("{} is inside the repository {}", path.display(), root.display())]
    InsideRepository {
        path: PathBuf,
        /// The root of that repository.
        root: PathBuf,
    },
    /// A newer version of this program wrote the file.
    #[error("{} has schema {found}, but this version knows {known}", path.display())]
    NewerSchema {
        path: PathBuf,
        /// The schema number that was found.
        found: u64,
        /// The highest known schema number.
        known: u64,
    },
    /// A file is larger than what the program reads at once.
    #[error("{} is larger than {limit} bytes", path.display())]
    TooLarge {
        path: PathBuf,
        /// The limit in bytes.
        limit: u64,
    },
    /// A value of the program itself cannot be stored in this file; this is a bug in the program.
    #[error("the value cannot be stored in {}: {reason}", path.display())]
    Unserializable { path: PathBuf, reason: String },
    /// Another program keeps a document locked.
    #[error("another program has locked {} for {seconds} seconds", path.display())]
    LockBusy {
        path: PathBuf,
        /// How long this program waited.
        seconds: u64,
    },
    /// There already is a run where a new one was to start.
    #[error("{} already contains a run", path.display())]
    RunExists {
        /// The existing event log.
        path: PathBuf,
    },
}

impl StoreError {
    /// Creates the error for an invalid JSON file.
    pub(super) fn from_json(path: &Path, error: &serde_json::Error) -> Self {
        Self::Damaged {
            path: path.to_path_buf(),
            line: error.line().max(1) as u64,
            reason: error.to_string(),
        }
    }

    /// Creates the error for a JSON file without a required number.
    pub(super) fn missing_number(path: &Path, key: &str) -> Self {
        Self::Damaged {
            path: path.to_path_buf(),
            line: 1,
            reason: format!("the number {key} is missing"),
        }
    }

    /// Classifies a system error by what the user can do about it.
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

    /// Suggests what the user can do, as one sentence without a full stop.
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
