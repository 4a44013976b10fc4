//! Copies git's folder for a commit and its hooks, which write to the copy instead of the original.
//!
//! Only objects are shared. Anything else that a hook writes is discarded with the copy, so that no setting,
//! under whatever name, gets planted for a later git to run or follow. The program moves the branch itself.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::CommitId;
use super::branch::GitHead;
use super::error::GitError;
use super::git_command::GitProgram;
use super::private_index::PrivateIndex;
use super::work_sandbox::CONTENT_FOLDERS;
use crate::process::SandboxMount;

/// References that a commit and the stashes of its hooks do not touch.
const OTHER_REFS: [&str; 3] = ["agent-collab", "remotes", "tags"];
/// The maximum size of a copied file; larger files in git's folder are not settings, and a commit does not
/// need them.
const MAX_COPIED_BYTES: u64 = 64 * 1024 * 1024;

type SandboxMountList = Vec<(PathBuf, SandboxMount)>;

/// A copy of git's folder beside a private index.
#[derive(Clone, Copy)]
pub(super) struct GitDirCopy<'a> {
    pub(super) git: &'a GitProgram,
    pub(super) beside: &'a PrivateIndex,
}

impl GitDirCopy<'_> {
    /// Returns the commit of a branch or HEAD in the copy; `None` where references are not stored in files of
    /// their own.
    pub(super) fn head(self, head: &GitHead) -> Option<CommitId> {
        let file = match head {
            GitHead::Branch { name, .. } => self
                .beside
                .sibling_path("common")
                .join("refs/heads")
                .join(name),
            GitHead::Detached { .. } if self.git.git_dir == self.git.common_dir => {
                self.beside.sibling_path("common").join("HEAD")
            }
            GitHead::Detached { .. } => self.beside.sibling_path("tree").join("HEAD"),
        };
        let text = fs::read_to_string(file).ok()?;
        // A hook may have written this file.
        CommitId::from_branch_file(&text)
    }

    /// Copies the parts of git's folders that a commit needs, and returns the mounts that place the copies
    /// over them.
    pub(super) fn create(self) -> Result<SandboxMountList, GitError> {
        let mut places = self.git.content_mounts()?;
        let mut copies = vec![(&self.git.common_dir, self.beside.sibling_path("common"))];
        if self.git.git_dir != self.git.common_dir {
            copies.push((&self.git.git_dir, self.beside.sibling_path("tree")));
        }
        for (folder, copy) in copies {
            copy_folder(folder, &copy, &mut places).map_err(|source| GitError::File {
                verb: "copy",
                path: folder.clone(),
                source,
            })?;
        }
        Ok(places)
    }
}

fn copy_folder(folder: &Path, copy: &Path, places: &mut SandboxMountList) -> io::Result<()> {
    fs::create_dir_all(copy)?;
    places.push((folder.to_owned(), SandboxMount::BindFrom(copy.to_owned())));
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        let target = copy.join(&name);
        let name = name.to_string_lossy();
        let Ok(found) = path.metadata() else {
            // A dangling link.
            continue;
        };
        if found.is_dir() {
            fs::create_dir(&target)?;
            match &*name {
                // The content mounts decide about these.
                "objects" => {}
                _ if CONTENT_FOLDERS.contains(&&*name) => {}
                "refs" => copy_refs(&path, &target, places)?,
                "reftable" => copy_tree(&path, &target)?,
                "logs" => copy_stash_log(&path, &target)?,
                _ => places.push((path, SandboxMount::ReadOnly)),
            }
        } else if found.is_file() && found.len() <= MAX_COPIED_BYTES && !is_index_file(&name) {
            copy_if_exists(&path, &target)?;
            if name == "config" || name == "config.worktree" {
                places.push((path, SandboxMount::ReadOnly));
            }
        }
    }
    Ok(())
}

fn is_index_file(name: &str) -> bool {
    name == "index" || name.starts_with("sharedindex.") || name.ends_with(".lock")
}

fn copy_refs(from: &Path, to: &Path, places: &mut SandboxMountList) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if !path.is_dir() {
            copy_if_exists(&path, &target)?;
        } else if OTHER_REFS.iter().any(|other| entry.file_name() == *other) {
            fs::create_dir(&target)?;
            places.push((path, SandboxMount::ReadOnly));
        } else {
            fs::create_dir(&target)?;
            copy_tree(&path, &target)?;
        }
    }
    Ok(())
}

fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            fs::create_dir(&target)?;
            copy_tree(&path, &target)?;
        } else if !is_index_file(&entry.file_name().to_string_lossy()) {
            copy_if_exists(&path, &target)?;
        }
    }
    Ok(())
}

/// Copies the stash log: hooks that stash need to find their stash again.
fn copy_stash_log(from: &Path, to: &Path) -> io::Result<()> {
    let log = Path::new("refs/stash");
    if from.join(log).is_file() {
        fs::create_dir(to.join("refs"))?;
        copy_if_exists(&from.join(log), &to.join(log))?;
    }
    Ok(())
}

/// Copies a file if it exists: another git may remove a reference while packing it.
fn copy_if_exists(from: &Path, to: &Path) -> io::Result<()> {
    match fs::copy(from, to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}
