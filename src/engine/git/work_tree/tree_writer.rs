//! Writes a merged tree into the work tree: all of it or nothing, and never over what the user changed in the
//! meantime.
//!
//! Each file is written outside of the tree and swapped with the one in the tree, so that a process killed in
//! between leaves each path with its old or its new content. The replaced file is compared with what git saw
//! before it is deleted. Follows no link in the path of a file, and replaces nothing that is in no tree.

mod atomic_swap;

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::GitWorkTree;
use crate::engine::git::TreeId;
use crate::engine::git::error::GitError;
use crate::engine::git::git_trees::tree_merge::{PathMergeResult, TreeMerge};
use crate::engine::git::private_index::PrivateIndex;
use crate::process::StdinSource;
use crate::store::failpoints;
use atomic_swap::{
    PathFingerprint, fingerprint_path, list_files_below, move_without_replacing, sibling_path,
    swap_into_place,
};

fn join_paths(paths: &[PathBuf]) -> String {
    let paths: Vec<String> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    paths.join(", ")
}

/// Explains why nothing was written.
#[derive(Debug, Error)]
pub enum TreeWriteError {
    /// One of the paths changed since the trees were merged.
    #[error("{} changed in the meantime", .0.display())]
    ChangedMeanwhile(PathBuf),
    /// An ignored file is in the way, or a link leads elsewhere.
    #[error("{} is in the way: git ignores it, or it is not a folder", .0.display())]
    PathBlocked(PathBuf),
    /// A file operation failed.
    #[error("cannot write {}: {source}", path.display())]
    Disk {
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    #[error(transparent)]
    Git(#[from] GitError),
    /// The write was rolled back, except for some files, which stay where they are.
    #[error(
        "{why}; the files that could not be restored are in {}",
        join_paths(stays)
    )]
    RollbackIncomplete {
        /// Why it was rolled back.
        why: Box<TreeWriteError>,
        /// Where these files are.
        stays: Vec<PathBuf>,
    },
}

/// A file that the user saved while it was being replaced.
#[derive(Debug, PartialEq, Eq)]
pub struct DisplacedFile {
    /// Its path in the work tree.
    pub path: PathBuf,
    pub bytes: Vec<u8>,
}

/// A step that was done, as needed to undo it.
enum TreeWriteStep {
    /// The file at the second path was replaced; its old content is at the first.
    Replaced(PathBuf, PathBuf, PathFingerprint),
    /// A file was moved from the first path to the second, which was free.
    Created(PathBuf, PathBuf),
    /// The file at the second path was moved to the first.
    Removed(PathBuf, PathBuf),
    FolderCreated(PathBuf),
    /// An empty folder was removed.
    FolderRemoved(PathBuf),
}

/// Two folders of the program on the same disk as the work tree: one for new files, one for removed files.
struct ScratchFolders {
    new: PathBuf,
    old: PathBuf,
}

impl ScratchFolders {
    fn in_folder(folder: &Path) -> Self {
        let [new, old] = ["new", "old"].map(|name| folder.join(name));
        Self { new, old }
    }

    fn create(&self) -> Result<(), TreeWriteError> {
        for folder in [&self.new, &self.old] {
            std::fs::create_dir_all(folder).map_err(|source| disk_error(folder, source))?;
        }
        Ok(())
    }

    fn remove(&self) {
        for folder in [&self.new, &self.old] {
            if let Err(error) = std::fs::remove_dir_all(folder)
                && error.kind() != ErrorKind::NotFound
            {
                tracing::warn!(%error, "the replaced files are in {}", folder.display());
            }
        }
    }
}

impl GitWorkTree<'_> {
    /// Writes a merge; `scratch` is a folder of the program on the same disk. Afterwards it is empty, unless
    /// it contains something that could not be put back.
    ///
    /// # Errors
    /// Nothing was written, and why; or what could not be rolled back.
    pub async fn write_merge(
        self,
        joined: &TreeMerge,
        scratch: &Path,
    ) -> Result<(), TreeWriteError> {
        let scratch = ScratchFolders::in_folder(scratch);
        scratch.create()?;
        let put = self.write_merge_from(joined, &scratch).await;
        if !matches!(put, Err(TreeWriteError::RollbackIncomplete { .. })) {
            scratch.remove();
        }
        put
    }

    async fn write_merge_from(
        self,
        joined: &TreeMerge,
        scratch: &ScratchFolders,
    ) -> Result<(), TreeWriteError> {
        let comes = joined
            .paths
            .iter()
            .filter(|(_, taken)| taken.after.is_some());
        let comes: Vec<&Path> = comes.map(|(path, _)| path.as_path()).collect();
        if !comes.is_empty() {
            let target = self
                .trees
                .tree_with_contents(&joined.ours, &joined.result_contents())
                .await?;
            let index = PrivateIndex::empty()?;
            let read = self.git.object_command(&["read-tree"]).arg(&target.0);
            read.index_file(&index.path()).stdout_text().await?;
            let write = self.git.command(&["checkout-index", "-z", "--stdin"]);
            let write = write.arg(format!("--prefix={}/", scratch.new.display()));
            let write = write
                .index_file(&index.path())
                .writable_folder(&scratch.new);
            write.stdin_paths(comes).stdout_text().await?;
        }
        // Fingerprints come before git's own scan: a path that differs afterwards was saved since.
        let prints = fingerprint_paths(joined, &self.git.root)?;
        let now = self.current_tree().await?;
        let meanwhile = self.trees.changes_between(&joined.ours, &now).await?;
        let mut meanwhile = meanwhile.into_iter().map(|change| change.path);
        if let Some(path) = meanwhile.find(|path| joined.paths.contains_key(path)) {
            return Err(TreeWriteError::ChangedMeanwhile(path));
        }
        let mut done = Vec::new();
        let moved = move_files(joined, &prints, &self.git.root, scratch, &mut done);
        match moved {
            Ok(()) => Ok(()),
            Err(why) => Err(match roll_back(done, scratch) {
                stays if stays.is_empty() => why,
                stays => TreeWriteError::RollbackIncomplete {
                    why: Box::new(why),
                    stays,
                },
            }),
        }
    }

    /// Finds files that the user saved exactly when a program ended inside [`GitWorkTree::write_merge`]:
    /// their content is neither the old nor the new one. Removes nothing.
    ///
    /// # Errors
    /// Git or the disk fails.
    pub async fn find_displaced_files(
        self,
        [before, after]: [&TreeId; 2],
        scratch: &Path,
    ) -> Result<Vec<DisplacedFile>, TreeWriteError> {
        let paths = self.trees.path_changes_between(before, after).await?;
        let scratch = ScratchFolders::in_folder(scratch);
        let mut left = Vec::new();
        for folder in [&scratch.new, &scratch.old] {
            for found in list_files_below(folder).map_err(|source| disk_error(folder, source))? {
                let hash = self.git.command(&["hash-object", "--stdin"]);
                // Git applies no filters to the target of a link.
                let hash = if found.is_link {
                    hash.arg("--no-filters")
                } else {
                    hash.arg(format!("--path={}", found.path.display()))
                };
                let id = hash
                    .stdin(StdinSource::Bytes(found.bytes.clone()))
                    .stdout_text()
                    .await?;
                let is_known = paths.get(&found.path).is_some_and(|taken| {
                    let mut contents = [&taken.before, &taken.after].into_iter().flatten();
                    contents.any(|content| content.ends_with(id.trim()))
                });
                if !is_known {
                    left.push(DisplacedFile {
                        path: found.path,
                        bytes: found.bytes,
                    });
                }
            }
        }
        Ok(left)
    }

    /// Deletes the content of `scratch` when nothing in it is needed any more.
    pub fn clear_scratch(self, scratch: &Path) {
        ScratchFolders::in_folder(scratch).remove();
    }
}

fn disk_error(path: &Path, source: io::Error) -> TreeWriteError {
    TreeWriteError::Disk {
        path: path.to_owned(),
        source,
    }
}

fn changed_or_disk_error(path: &Path, at: &Path, source: io::Error) -> TreeWriteError {
    match source.kind() {
        ErrorKind::NotFound => TreeWriteError::ChangedMeanwhile(path.to_owned()),
        _ => disk_error(at, source),
    }
}

/// Fingerprints every path that is to be replaced or removed.
fn fingerprint_paths(
    joined: &TreeMerge,
    root: &Path,
) -> Result<BTreeMap<PathBuf, PathFingerprint>, TreeWriteError> {
    let there = joined
        .paths
        .iter()
        .filter(|(_, taken)| taken.before.is_some());
    let print = |(path, _): (&PathBuf, &PathMergeResult)| {
        let at = root.join(path);
        let print = fingerprint_path(&at).map_err(|source| disk_error(&at, source))?;
        Ok((path.clone(), print))
    };
    there.map(print).collect()
}

/// Removals come first, to make room; each of the other paths has a file at every moment.
fn move_files(
    joined: &TreeMerge,
    prints: &BTreeMap<PathBuf, PathFingerprint>,
    root: &Path,
    scratch: &ScratchFolders,
    done: &mut Vec<TreeWriteStep>,
) -> Result<(), TreeWriteError> {
    let goes = |taken: &PathMergeResult| taken.after.is_none();
    for (path, _) in joined.paths.iter().filter(|(_, taken)| goes(taken)) {
        check_no_links_above(root, path)?;
        let (from, to) = (root.join(path), scratch.old.join(path));
        failpoints::trace_file_change("put: goes", &from);
        move_without_replacing(&from, &to)
            .map_err(|source| changed_or_disk_error(path, &from, source))?;
        done.push(TreeWriteStep::Removed(to.clone(), from));
        check_unchanged(path, &to, prints)?;
        remove_empty_folders(root, path, done);
    }
    for (path, taken) in joined.paths.iter().filter(|(_, taken)| !goes(taken)) {
        create_parent_folders(root, path, done)?;
        let (from, to) = (scratch.new.join(path), root.join(path));
        if taken.before.is_none() {
            failpoints::trace_file_change("put: comes", &to);
            move_without_replacing(&from, &to).map_err(|source| match source.kind() {
                ErrorKind::AlreadyExists => TreeWriteError::PathBlocked(path.clone()),
                _ => disk_error(&to, source),
            })?;
            done.push(TreeWriteStep::Created(from, to));
            continue;
        }
        copy_extra_mode_bits(taken, &to, &from);
        let comes = fingerprint_path(&from).map_err(|source| disk_error(&from, source))?;
        failpoints::trace_file_change("put: replaces", &to);
        let was = swap_into_place(&from, &to, &scratch.old.join(path));
        let was = was.map_err(|source| changed_or_disk_error(path, &to, source))?;
        failpoints::trace_file_change("put: replaced", &to);
        done.push(TreeWriteStep::Replaced(was.clone(), to, comes));
        check_unchanged(path, &was, prints)?;
    }
    Ok(())
}

/// Checks that the file that was moved aside is the one that git saw.
fn check_unchanged(
    path: &Path,
    was: &Path,
    prints: &BTreeMap<PathBuf, PathFingerprint>,
) -> Result<(), TreeWriteError> {
    let print = fingerprint_path(was).map_err(|source| disk_error(was, source))?;
    if prints.get(path) == Some(&print) {
        Ok(())
    } else {
        Err(TreeWriteError::ChangedMeanwhile(path.to_owned()))
    }
}

/// Checks that no parent folder of a path is a link.
fn check_no_links_above(root: &Path, path: &Path) -> Result<(), TreeWriteError> {
    let mut way = root.to_owned();
    for part in path.parent().into_iter().flat_map(Path::iter) {
        way.push(part);
        let found = way.symlink_metadata();
        if found.is_ok_and(|found| !found.is_dir()) {
            return Err(TreeWriteError::PathBlocked(way));
        }
    }
    Ok(())
}

fn create_parent_folders(
    root: &Path,
    path: &Path,
    done: &mut Vec<TreeWriteStep>,
) -> Result<(), TreeWriteError> {
    let mut way = root.to_owned();
    for part in path.parent().into_iter().flat_map(Path::iter) {
        way.push(part);
        match way.symlink_metadata() {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(TreeWriteError::PathBlocked(way)),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                std::fs::create_dir(&way).map_err(|source| disk_error(&way, source))?;
                done.push(TreeWriteStep::FolderCreated(way.clone()));
            }
            Err(source) => return Err(disk_error(&way, source)),
        }
    }
    Ok(())
}

/// Copies mode bits that git does not store, such as those of the group, where a file stays a file.
fn copy_extra_mode_bits(taken: &PathMergeResult, from: &Path, new: &Path) {
    let mode =
        |content: &Option<String>| content.as_ref().and_then(|c| c.get(..6).map(str::to_owned));
    let (before, after) = (mode(&taken.before), mode(&taken.after));
    if before != after || before.is_none_or(|mode| !mode.starts_with("100")) {
        return;
    }
    if let Ok(found) = from.symlink_metadata() {
        let mode = std::fs::Permissions::from_mode(found.permissions().mode() & 0o7777);
        if let Err(error) = std::fs::set_permissions(new, mode) {
            tracing::warn!(%error, "the permissions of {} become the default ones", from.display());
        }
    }
}

/// Removes the folders that are empty after a file is gone.
fn remove_empty_folders(root: &Path, path: &Path, done: &mut Vec<TreeWriteStep>) {
    let folders = path.ancestors().skip(1);
    for folder in folders.filter(|folder| !folder.as_os_str().is_empty()) {
        let folder = root.join(folder);
        if std::fs::remove_dir(&folder).is_err() {
            break;
        }
        done.push(TreeWriteStep::FolderRemoved(folder));
    }
}

/// Undoes the steps in reverse order; returns the files that could not be restored and stay where they are.
fn roll_back(done: Vec<TreeWriteStep>, scratch: &ScratchFolders) -> Vec<PathBuf> {
    let mut stays = Vec::new();
    for step in done.into_iter().rev() {
        let (undone, at) = match &step {
            TreeWriteStep::Replaced(was, to, comes) => (restore_replaced_file(was, to, comes), was),
            TreeWriteStep::Created(from, to) => (move_without_replacing(to, from), to),
            TreeWriteStep::Removed(was, from) => (move_without_replacing(was, from), was),
            TreeWriteStep::FolderCreated(folder) => {
                // The folder may contain something new by now.
                let _not_empty = std::fs::remove_dir(folder);
                continue;
            }
            TreeWriteStep::FolderRemoved(folder) => (recreate_folder(folder), folder),
        };
        if let Err(error) = undone {
            tracing::error!(%error, "{} has changed; its working tree is saved", at.display());
            if at.starts_with(&scratch.new) || at.starts_with(&scratch.old) {
                stays.push(at.clone());
            }
        }
    }
    stays
}

fn recreate_folder(folder: &Path) -> io::Result<()> {
    match std::fs::create_dir(folder) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// Restores a replaced file, unless a newer version was saved since.
fn restore_replaced_file(was: &Path, to: &Path, comes: &PathFingerprint) -> io::Result<()> {
    let out = swap_into_place(was, to, &sibling_path(was))?;
    if fingerprint_path(&out)? == *comes {
        return Ok(());
    }
    // The newer version stays, and the old one stays in the scratch folder.
    swap_into_place(&out, to, was)?;
    Err(io::Error::other("it was saved again in the meantime"))
}
