//! Refreshes the user's index after a commit, and keeps what is staged for other paths.
//!
//! Writing an index may read files of the work tree, with their filters. Therefore git writes a copy in a
//! sandbox, and the program replaces the index with it under git's own lock.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::CommitId;
use super::commit::{CommitFailure, CommitFailureKind};
use super::error::GitError;
use super::git_command::{GitProgram, split_nul};
use super::private_index::PrivateIndex;
use crate::process::StdinSource;

/// How long to wait for another process's lock on the index after the commit.
const LOCK_TIMEOUT: Duration = Duration::from_secs(30);

/// How long to try again after another failure: a disk that is full may have room soon.
const FAILURE_TIMEOUT: Duration = Duration::from_secs(3);

const PAUSE_BETWEEN_ATTEMPTS: Duration = Duration::from_millis(50);

/// The result of one attempt.
enum IndexUpdateAttempt {
    Done,
    /// Another process has the lock or changed the index; the output of git.
    Busy(String),
}

#[derive(Debug, Clone, Copy)]
pub struct UserIndex<'a> {
    pub(super) git: &'a GitProgram,
}

impl UserIndex<'_> {
    /// Refreshes the paths of a commit in the user's index; what is staged for other paths stays. What may pass is
    /// tried again: a lock for 30 s, a failure of git or of a file for 3 s.
    ///
    /// # Errors
    /// `IndexBehind`: the commit is valid, but the index does not contain it.
    pub async fn refresh(self, commit: &CommitId) -> Result<(), CommitFailure> {
        let began_at = Instant::now();
        let (mut lines, mut failed_at) = (None, None);
        loop {
            let attempt = self.try_refresh(commit, &mut lines).await;
            let (output, since, timeout) = match attempt {
                Ok(IndexUpdateAttempt::Done) => return Ok(()),
                Ok(IndexUpdateAttempt::Busy(output)) => (output, began_at, LOCK_TIMEOUT),
                Err(error @ (GitError::File { .. } | GitError::Failed { .. })) => {
                    let since = *failed_at.get_or_insert_with(Instant::now);
                    (error.to_string(), since, FAILURE_TIMEOUT)
                }
                Err(error) => (error.to_string(), began_at, Duration::ZERO),
            };
            if since.elapsed() >= timeout {
                let kind = CommitFailureKind::IndexBehind(commit.clone());
                return Err(CommitFailure::new(kind, output));
            }
            sleep(PAUSE_BETWEEN_ATTEMPTS).await;
        }
    }

    /// Tries once; `known` keeps the committed paths for the next attempt, if this one only has to wait.
    async fn try_refresh(
        self,
        commit: &CommitId,
        known: &mut Option<Vec<u8>>,
    ) -> Result<IndexUpdateAttempt, GitError> {
        let lines = match known.take() {
            Some(lines) => lines,
            None => self.committed_index_info(commit).await?,
        };
        let user = self.git.git_dir.join("index");
        let before = file_version(&user);
        let index = PrivateIndex::copy_of(&user)?;
        let update = self.git.command(&["update-index", "-z", "--index-info"]);
        let update = update.index_file(&index.path());
        update
            .stdin(StdinSource::Bytes(lines.clone()))
            .stdout_text()
            .await?;
        let lock = self.git.git_dir.join("index.lock");
        let replaced = replace_index(&user, &lock, &index.path(), &before);
        let replaced = replaced.map_err(|source| GitError::File {
            verb: "write",
            path: user.clone(),
            source,
        });
        *known = Some(lines).filter(|_| replaced.is_ok());
        replaced
    }

    /// Returns the `update-index` input that gives the index the paths of a commit.
    async fn committed_index_info(self, commit: &CommitId) -> Result<Vec<u8>, GitError> {
        let list = self.git.object_command(&[
            "diff-tree",
            "-r",
            "-z",
            "--root",
            "--no-commit-id",
            "--raw",
            "--no-renames",
            "--ignore-submodules=none",
        ]);
        let output = list.arg(&commit.0).stdout_bytes().await?;
        to_index_info(&output).ok_or_else(|| GitError::Unreadable {
            command: "diff-tree".to_owned(),
            what: "a line has too few fields".to_owned(),
        })
    }
}

/// Values that distinguish one version of a file from the next.
pub(super) type FileVersion = [i64; 5];

/// Returns the version of a file, or `None` where there is none.
pub(super) fn file_version(path: &Path) -> Option<FileVersion> {
    let found = path.metadata().ok()?;
    let number = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    Some([
        number(found.ino()),
        number(found.size()),
        found.mtime(),
        found.mtime_nsec(),
        found.ctime_nsec(),
    ])
}

/// Replaces the index if it still has this version.
fn replace_index(
    index: &Path,
    lock: &Path,
    new: &Path,
    version: &Option<FileVersion>,
) -> io::Result<IndexUpdateAttempt> {
    let bytes = fs::read(new)?;
    // This is git's own lock: while the file exists, no other git command writes the index.
    let mut file = match File::create_new(lock) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let said = format!("Unable to create '{}': File exists.", lock.display());
            return Ok(IndexUpdateAttempt::Busy(said));
        }
        file => file?,
    };
    let moved = move_into_place(&mut file, &bytes, index, lock, version);
    if !matches!(moved, Ok(IndexUpdateAttempt::Done)) {
        fs::remove_file(lock)?;
    }
    moved
}

fn move_into_place(
    file: &mut File,
    bytes: &[u8],
    index: &Path,
    lock: &Path,
    version: &Option<FileVersion>,
) -> io::Result<IndexUpdateAttempt> {
    // Another program wrote the index after it was copied; its changes must not be lost.
    if file_version(index) != *version {
        return Ok(IndexUpdateAttempt::Busy(format!(
            "{} changed in the meantime",
            index.display()
        )));
    }
    file.write_all(bytes)?;
    if let Ok(found) = index.metadata() {
        file.set_permissions(found.permissions())?;
    }
    fs::rename(lock, index)?;
    Ok(IndexUpdateAttempt::Done)
}

/// Converts a raw diff into `update-index` input that gives the index the committed entries; removals come
/// first.
fn to_index_info(raw: &[u8]) -> Option<Vec<u8>> {
    let (mut goes, mut comes) = (Vec::new(), Vec::new());
    let mut parts = split_nul(raw);
    while let (Some(about), Some(path)) = (parts.next(), parts.next()) {
        let mut fields = about.split(|byte| *byte == b' ');
        let (mode, id) = (fields.nth(1)?, fields.nth(1)?);
        let lines = match mode {
            b"000000" => &mut goes,
            _ => &mut comes,
        };
        for part in [mode, b" ", id, b"\t", path, b"\0"] {
            lines.extend_from_slice(part);
        }
    }
    goes.extend(comes);
    Some(goes)
}
