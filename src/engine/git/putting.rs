//! Writes what was joined into the work tree: all of it or none, and nothing over what somebody changed meanwhile.
//!
//! Each file is written beside the tree and comes to its place by one rename. Refuses to follow a link on the way,
//! and to take the place of anything that is in no tree.

use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::discover::Repository;
use super::error::GitError;
use super::joining::{Joined, Taken};
use super::snapshot::PrivateIndex;

/// Why nothing was written.
#[derive(Debug, Error)]
pub enum NotPut {
    /// Somebody changed one of the paths since the trees were joined.
    #[error("{} changed meanwhile", .0.display())]
    Moved(PathBuf),
    /// Something is there that git ignores, or a link leads elsewhere.
    #[error("{} is in the way: git ignores it, or it is no folder", .0.display())]
    InTheWay(PathBuf),
    /// The disk refused.
    #[error("cannot write {}: {source}", path.display())]
    Disk {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// What was done, for the way back.
enum Done {
    /// A file went from the first place to the second.
    Moved(PathBuf, PathBuf),
    /// A folder was made.
    Made(PathBuf),
    /// An empty folder was removed.
    Emptied(PathBuf),
}

impl Repository {
    /// Writes what was joined; `scratch` is a folder of the program's own on the same disk, empty and left empty.
    ///
    /// # Errors
    /// Nothing was written, and why.
    pub async fn put(&self, joined: &Joined, scratch: &Path) -> Result<(), NotPut> {
        let (new, old) = (scratch.join("new"), scratch.join("old"));
        for folder in [&new, &old] {
            std::fs::create_dir_all(folder).map_err(|source| disk(folder, source))?;
        }
        let put = self.put_from(joined, (&new, &old)).await;
        let removed = std::fs::remove_dir_all(&new).and(std::fs::remove_dir_all(&old));
        if let Err(error) = removed {
            tracing::warn!(%error, "files that were replaced stay in {}", scratch.display());
        }
        put
    }

    async fn put_from(&self, joined: &Joined, (new, old): (&Path, &Path)) -> Result<(), NotPut> {
        let comes = joined
            .paths
            .iter()
            .filter(|(_, taken)| taken.after.is_some());
        let comes: Vec<&Path> = comes.map(|(path, _)| path.as_path()).collect();
        if !comes.is_empty() {
            let target = self.tree_with(&joined.ours, &joined.contents()).await?;
            let index = PrivateIndex::empty()?;
            let read = self.git(&["read-tree"]).arg(&target.0);
            read.index(&index.path()).text().await?;
            let write = self.git(&["checkout-index", "-z", "--stdin"]);
            let write = write.arg(format!("--prefix={}/", new.display()));
            write.index(&index.path()).paths(comes).text().await?;
        }
        let now = self.tree_now().await?;
        let meanwhile = self.changes_between(&joined.ours, &now).await?;
        let mut meanwhile = meanwhile.into_iter().map(|change| change.path);
        if let Some(path) = meanwhile.find(|path| joined.paths.contains_key(path)) {
            return Err(NotPut::Moved(path));
        }
        let mut done = Vec::new();
        let moved = move_all(joined, &self.root, (new, old), &mut done);
        if moved.is_err() {
            take_back(done);
        }
        moved
    }
}

fn disk(path: &Path, source: io::Error) -> NotPut {
    NotPut::Disk {
        path: path.to_owned(),
        source,
    }
}

fn move_all(
    joined: &Joined,
    root: &Path,
    (new, old): (&Path, &Path),
    done: &mut Vec<Done>,
) -> Result<(), NotPut> {
    let there = joined
        .paths
        .iter()
        .filter(|(_, taken)| taken.before.is_some());
    for (n, (path, taken)) in there.enumerate() {
        clear_way(root, path)?;
        let (from, to) = (root.join(path), old.join(n.to_string()));
        keep_mode(taken, &from, &new.join(path));
        std::fs::rename(&from, &to).map_err(|source| disk(&from, source))?;
        done.push(Done::Moved(from, to));
        if taken.after.is_none() {
            remove_empty(root, path, done);
        }
    }
    let comes = joined
        .paths
        .iter()
        .filter(|(_, taken)| taken.after.is_some());
    for (path, _) in comes {
        make_way(root, path, done)?;
        let (from, to) = (new.join(path), root.join(path));
        if to.symlink_metadata().is_ok() {
            return Err(NotPut::InTheWay(path.clone()));
        }
        std::fs::rename(&from, &to).map_err(|source| disk(&to, source))?;
        done.push(Done::Moved(from, to));
    }
    Ok(())
}

/// No folder on the way to a path may be a link.
fn clear_way(root: &Path, path: &Path) -> Result<(), NotPut> {
    let mut way = root.to_owned();
    for part in path.parent().into_iter().flat_map(Path::iter) {
        way.push(part);
        let found = way.symlink_metadata();
        if found.is_ok_and(|found| !found.is_dir()) {
            return Err(NotPut::InTheWay(way));
        }
    }
    Ok(())
}

fn make_way(root: &Path, path: &Path, done: &mut Vec<Done>) -> Result<(), NotPut> {
    let mut way = root.to_owned();
    for part in path.parent().into_iter().flat_map(Path::iter) {
        way.push(part);
        match way.symlink_metadata() {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(NotPut::InTheWay(way)),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                std::fs::create_dir(&way).map_err(|source| disk(&way, source))?;
                done.push(Done::Made(way.clone()));
            }
            Err(source) => return Err(disk(&way, source)),
        }
    }
    Ok(())
}

/// Rights that git does not know, such as those of the group, stay where the file was one before and still is.
fn keep_mode(taken: &Taken, from: &Path, new: &Path) {
    let mode =
        |content: &Option<String>| content.as_ref().and_then(|c| c.get(..6).map(str::to_owned));
    let (before, after) = (mode(&taken.before), mode(&taken.after));
    if before != after || before.is_none_or(|mode| !mode.starts_with("100")) {
        return;
    }
    if let Ok(found) = from.symlink_metadata() {
        let mode = std::fs::Permissions::from_mode(found.permissions().mode() & 0o7777);
        if let Err(error) = std::fs::set_permissions(new, mode) {
            tracing::warn!(%error, "the rights of {} become the usual ones", from.display());
        }
    }
}

/// Removes the folders that a file leaves empty.
fn remove_empty(root: &Path, path: &Path, done: &mut Vec<Done>) {
    let folders = path.ancestors().skip(1);
    for folder in folders.filter(|folder| !folder.as_os_str().is_empty()) {
        let folder = root.join(folder);
        if std::fs::remove_dir(&folder).is_err() {
            break;
        }
        done.push(Done::Emptied(folder));
    }
}

fn take_back(done: Vec<Done>) {
    for step in done.into_iter().rev() {
        let undone = match &step {
            Done::Moved(from, to) => std::fs::rename(to, from),
            Done::Made(folder) => std::fs::remove_dir(folder),
            Done::Emptied(folder) => std::fs::create_dir(folder),
        };
        let (Done::Moved(path, _) | Done::Made(path) | Done::Emptied(path)) = &step;
        if let Err(error) = undone {
            tracing::error!(%error, "{} is not as it was; its tree is stored", path.display());
        }
    }
}
