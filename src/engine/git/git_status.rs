//! Lists what differs from the last commit, and what git ignores.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::error::GitError;
use super::excluded_paths::ExcludedFolders;
use super::git_command::{GitProgram, path_from_bytes, split_nul};
use super::git_trees::GitTrees;

/// What is in the work tree besides what the last commit has.
#[derive(Debug, Clone, Copy)]
pub struct WorkTreeStatus<'a> {
    pub(super) git: &'a GitProgram,
    pub(super) trees: GitTrees<'a>,
    pub(super) excluded: &'a ExcludedFolders,
}

/// A path that differs from the last commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusChange {
    /// The path, relative to the root; a moved file is two changes.
    pub path: PathBuf,
    pub status: FileStatus,
}

/// How a path differs from the last commit, staged or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileStatus {
    /// New, and in the index.
    Added,
    /// Changed in content or mode.
    Modified,
    Deleted,
    /// A file became a link, or the other way round.
    Retyped,
    /// New, and not in the index; a nested repository ends in a slash.
    Untracked,
    Unmerged,
    /// A submodule at another commit. Changes inside of it are not searched, because its own settings would
    /// run.
    Submodule,
}

impl WorkTreeStatus<'_> {
    /// Lists the files in the index and new files, relative to the root; ignored files, and names that are
    /// not valid text, are left out.
    ///
    /// # Errors
    /// Git fails.
    pub async fn list_files(self) -> Result<Vec<String>, GitError> {
        let args = [
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
            "--deduplicate",
        ];
        // Only names are listed: no file is opened except ignore files, and no filter runs.
        let output = self.git.object_command(&args).stdout_bytes().await?;
        let names = split_nul(&output);
        let names = names.filter_map(|name| std::str::from_utf8(name).ok());
        Ok(names.map(str::to_owned).collect())
    }

    /// Lists what differs from the last commit: staged, unstaged and untracked. Ignored files and the
    /// program's own folders never count.
    ///
    /// # Errors
    /// Git fails.
    pub async fn dirty_files(self) -> Result<Vec<StatusChange>, GitError> {
        let args = [
            "status",
            "--porcelain=v2",
            "-z",
            "--untracked-files=all",
            "--ignore-submodules=dirty",
            "--no-renames",
        ];
        let output = self.git.command(&args).stdout_bytes().await?;
        let mut changes = Vec::new();
        for record in split_nul(&output) {
            let change = parse_status_record(record).ok_or_else(|| GitError::Unreadable {
                command: "status".to_owned(),
                what: String::from_utf8_lossy(record).into_owned(),
            })?;
            changes.extend(change.filter(|change| !self.excluded.contains(&change.path)));
        }
        Ok(changes)
    }

    /// Lists the repositories inside this one that are not part of it: no tree of this one contains their
    /// files.
    ///
    /// # Errors
    /// Git fails.
    pub async fn nested_repositories(self) -> Result<Vec<PathBuf>, GitError> {
        let git = self.git;
        let others = git.command(&["ls-files", "-z", "--others", "--exclude-standard"]);
        let others = others.stdout_bytes().await?;
        let nested = split_nul(&others).filter(|path| path.ends_with(b"/"));
        Ok(nested
            .map(path_from_bytes)
            .filter(|path| !self.excluded.contains(path))
            .collect())
    }
}

/// Parses a record of porcelain v2; the inner `None` is a header, which is not a change.
fn parse_status_record(record: &[u8]) -> Option<Option<StatusChange>> {
    let (kind, rest) = (record.first()?, record.get(2..)?);
    let n_fields = match kind {
        b'1' => 7,
        b'u' => 9,
        b'?' => 0,
        b'#' | b'!' => return Some(None),
        _ => return None,
    };
    let mut fields: Vec<&[u8]> = rest.splitn(n_fields + 1, |byte| *byte == b' ').collect();
    let path = path_from_bytes(fields.pop()?);
    let status = match kind {
        b'?' => FileStatus::Untracked,
        b'u' => FileStatus::Unmerged,
        _ if fields.get(1)?.first() == Some(&b'S') => FileStatus::Submodule,
        _ => status_from_letters(fields.first()?)?,
    };
    Some(Some(StatusChange { path, status }))
}

/// Combines the letters for index and work tree: the work tree is compared with the last commit.
fn status_from_letters(letters: &[u8]) -> Option<FileStatus> {
    let (staged, unstaged) = (*letters.first()?, *letters.get(1)?);
    Some(match (staged, unstaged) {
        (_, b'D') | (b'D', b'.') => FileStatus::Deleted,
        (b'A', _) | (b'.', b'A') => FileStatus::Added,
        (_, b'T') | (b'T', b'.') => FileStatus::Retyped,
        _ => FileStatus::Modified,
    })
}
