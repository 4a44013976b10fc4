//! Writes what was joined into the work tree: all of it or none, and nothing over what somebody changed meanwhile.
//!
//! Each file is written beside the tree and changes places with what is there, so that whoever is ended in the middle
//! leaves each path as it was or as it is to be. What came out is compared with what git saw before it is deleted.
//! Refuses to follow a link on the way, and to take the place of anything that is in no tree.

mod exchange;

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::TreeId;
use super::discover::Repository;
use super::error::GitError;
use super::joining::{Joined, Taken};
use super::snapshot::PrivateIndex;
use crate::process::StdinSource;
use crate::store::failpoints;
use exchange::{Print, all_below, beside, place, print_of, replace};

fn listed(paths: &[PathBuf]) -> String {
    let paths: Vec<String> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    paths.join(", ")
}

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
    /// It was taken back but for some files, which nobody deletes.
    #[error("{why}; what could not be put back lies in {}", listed(stays))]
    Stays {
        /// Why it was taken back.
        why: Box<NotPut>,
        /// Where they lie.
        stays: Vec<PathBuf>,
    },
}

/// What somebody saved while it was written over.
#[derive(Debug, PartialEq, Eq)]
pub struct LeftOfPut {
    /// Where it belongs in the work tree.
    pub path: PathBuf,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// What was done, for the way back.
enum Done {
    /// The file at the second place was replaced; what was there lies at the first.
    Replaced(PathBuf, PathBuf, Print),
    /// A file came to the second place, where nothing was, from the first.
    Came(PathBuf, PathBuf),
    /// The file at the second place went to the first.
    Went(PathBuf, PathBuf),
    /// A folder was made.
    Made(PathBuf),
    /// An empty folder was removed.
    Emptied(PathBuf),
}

/// The two folders of the program's own on the work tree's disk: what is to come, and what went.
struct Scratch {
    new: PathBuf,
    old: PathBuf,
}

impl Scratch {
    fn of(folder: &Path) -> Self {
        let [new, old] = ["new", "old"].map(|name| folder.join(name));
        Self { new, old }
    }

    fn make(&self) -> Result<(), NotPut> {
        for folder in [&self.new, &self.old] {
            std::fs::create_dir_all(folder).map_err(|source| disk(folder, source))?;
        }
        Ok(())
    }

    fn remove(&self) {
        for folder in [&self.new, &self.old] {
            if let Err(error) = std::fs::remove_dir_all(folder)
                && error.kind() != ErrorKind::NotFound
            {
                tracing::warn!(%error, "files that were replaced stay in {}", folder.display());
            }
        }
    }
}

impl Repository {
    /// Writes what was joined; `scratch` is a folder of the program's own on the same disk. It is left empty, unless
    /// something lies in it then that could not be put back.
    ///
    /// # Errors
    /// Nothing was written, and why; or what could not be taken back.
    pub async fn put(&self, joined: &Joined, scratch: &Path) -> Result<(), NotPut> {
        let scratch = Scratch::of(scratch);
        scratch.make()?;
        let put = self.put_from(joined, &scratch).await;
        if !matches!(put, Err(NotPut::Stays { .. })) {
            scratch.remove();
        }
        put
    }

    async fn put_from(&self, joined: &Joined, scratch: &Scratch) -> Result<(), NotPut> {
        let comes = joined
            .paths
            .iter()
            .filter(|(_, taken)| taken.after.is_some());
        let comes: Vec<&Path> = comes.map(|(path, _)| path.as_path()).collect();
        if !comes.is_empty() {
            let target = self.tree_with(&joined.ours, &joined.contents()).await?;
            let index = PrivateIndex::empty()?;
            let read = self.git_on_objects(&["read-tree"]).arg(&target.0);
            read.index(&index.path()).text().await?;
            let write = self.git(&["checkout-index", "-z", "--stdin"]);
            let write = write.arg(format!("--prefix={}/", scratch.new.display()));
            let write = write.index(&index.path()).writes(&scratch.new);
            write.paths(comes).text().await?;
        }
        // Before git looks: what is found to be otherwise afterwards was saved since.
        let prints = prints(joined, &self.root)?;
        let now = self.tree_now().await?;
        let meanwhile = self.changes_between(&joined.ours, &now).await?;
        let mut meanwhile = meanwhile.into_iter().map(|change| change.path);
        if let Some(path) = meanwhile.find(|path| joined.paths.contains_key(path)) {
            return Err(NotPut::Moved(path));
        }
        let mut done = Vec::new();
        let moved = move_all((joined, &prints), &self.root, scratch, &mut done);
        match moved {
            Ok(()) => Ok(()),
            Err(why) => Err(match take_back(done, scratch) {
                stays if stays.is_empty() => why,
                stays => NotPut::Stays {
                    why: Box::new(why),
                    stays,
                },
            }),
        }
    }

    /// What a program that ended in [`Repository::put`] left of what somebody saved at that very moment: files that
    /// are neither what was there before nor what was to come. Nothing is removed.
    ///
    /// # Errors
    /// Git or the disk fails.
    pub async fn left_of_put(
        &self,
        [before, after]: [&TreeId; 2],
        scratch: &Path,
    ) -> Result<Vec<LeftOfPut>, NotPut> {
        let paths = self.taken_between(before, after).await?;
        let scratch = Scratch::of(scratch);
        let mut left = Vec::new();
        for folder in [&scratch.new, &scratch.old] {
            for found in all_below(folder).map_err(|source| disk(folder, source))? {
                let hash = self.git(&["hash-object", "--stdin"]);
                let hash = match found.is_link {
                    true => hash.arg("--no-filters"),
                    false => hash.arg(format!("--path={}", found.path.display())),
                };
                let id = hash
                    .stdin(StdinSource::Bytes(found.bytes.clone()))
                    .text()
                    .await?;
                let is_known = paths.get(&found.path).is_some_and(|taken| {
                    let mut contents = [&taken.before, &taken.after].into_iter().flatten();
                    contents.any(|content| content.ends_with(id.trim()))
                });
                if !is_known {
                    left.push(LeftOfPut {
                        path: found.path,
                        bytes: found.bytes,
                    });
                }
            }
        }
        Ok(left)
    }

    /// Removes what lies in `scratch`, once nothing in it is needed.
    pub fn clear_put(&self, scratch: &Path) {
        Scratch::of(scratch).remove();
    }
}

fn disk(path: &Path, source: io::Error) -> NotPut {
    NotPut::Disk {
        path: path.to_owned(),
        source,
    }
}

fn gone_or_refused(path: &Path, at: &Path, source: io::Error) -> NotPut {
    match source.kind() {
        ErrorKind::NotFound => NotPut::Moved(path.to_owned()),
        _ => disk(at, source),
    }
}

/// What lies where something is replaced or goes.
fn prints(joined: &Joined, root: &Path) -> Result<BTreeMap<PathBuf, Print>, NotPut> {
    let there = joined
        .paths
        .iter()
        .filter(|(_, taken)| taken.before.is_some());
    let print = |(path, _): (&PathBuf, &Taken)| {
        let at = root.join(path);
        let print = print_of(&at).map_err(|source| disk(&at, source))?;
        Ok((path.clone(), print))
    };
    there.map(print).collect()
}

/// What goes makes room first; each of the others has a file at every moment.
fn move_all(
    (joined, prints): (&Joined, &BTreeMap<PathBuf, Print>),
    root: &Path,
    scratch: &Scratch,
    done: &mut Vec<Done>,
) -> Result<(), NotPut> {
    let goes = |taken: &Taken| taken.after.is_none();
    for (path, _) in joined.paths.iter().filter(|(_, taken)| goes(taken)) {
        clear_way(root, path)?;
        let (from, to) = (root.join(path), scratch.old.join(path));
        failpoints::trace_file_change("put: goes", &from);
        place(&from, &to).map_err(|source| gone_or_refused(path, &from, source))?;
        done.push(Done::Went(to.clone(), from));
        is_as_seen(path, &to, prints)?;
        remove_empty(root, path, done);
    }
    for (path, taken) in joined.paths.iter().filter(|(_, taken)| !goes(taken)) {
        make_way(root, path, done)?;
        let (from, to) = (scratch.new.join(path), root.join(path));
        if taken.before.is_none() {
            failpoints::trace_file_change("put: comes", &to);
            place(&from, &to).map_err(|source| match source.kind() {
                ErrorKind::AlreadyExists => NotPut::InTheWay(path.clone()),
                _ => disk(&to, source),
            })?;
            done.push(Done::Came(from, to));
            continue;
        }
        keep_mode(taken, &to, &from);
        let comes = print_of(&from).map_err(|source| disk(&from, source))?;
        failpoints::trace_file_change("put: replaces", &to);
        let was = replace(&from, &to, &scratch.old.join(path));
        let was = was.map_err(|source| gone_or_refused(path, &to, source))?;
        failpoints::trace_file_change("put: replaced", &to);
        done.push(Done::Replaced(was.clone(), to, comes));
        is_as_seen(path, &was, prints)?;
    }
    Ok(())
}

/// What was moved aside must be what git saw there.
fn is_as_seen(path: &Path, was: &Path, prints: &BTreeMap<PathBuf, Print>) -> Result<(), NotPut> {
    let print = print_of(was).map_err(|source| disk(was, source))?;
    match prints.get(path) == Some(&print) {
        true => Ok(()),
        false => Err(NotPut::Moved(path.to_owned())),
    }
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

/// Undoes what was done, the last first; says which files could not be brought back and lie where they are.
fn take_back(done: Vec<Done>, scratch: &Scratch) -> Vec<PathBuf> {
    let mut stays = Vec::new();
    for step in done.into_iter().rev() {
        let (undone, at) = match &step {
            Done::Replaced(was, to, comes) => (put_again(was, to, comes), was),
            Done::Came(from, to) => (place(to, from), to),
            Done::Went(was, from) => (place(was, from), was),
            Done::Made(folder) => {
                // Somebody may have put something into it.
                let _not_empty = std::fs::remove_dir(folder);
                continue;
            }
            Done::Emptied(folder) => (make_again(folder), folder),
        };
        if let Err(error) = undone {
            tracing::error!(%error, "{} is not as it was; its tree is stored", at.display());
            if at.starts_with(&scratch.new) || at.starts_with(&scratch.old) {
                stays.push(at.clone());
            }
        }
    }
    stays
}

fn make_again(folder: &Path) -> io::Result<()> {
    match std::fs::create_dir(folder) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// Puts back what was replaced, unless somebody saved something newer there since.
fn put_again(was: &Path, to: &Path, comes: &Print) -> io::Result<()> {
    let out = replace(was, to, &beside(was))?;
    if print_of(&out)? == *comes {
        return Ok(());
    }
    // The newer one stays, and what was there before it lies where it came from.
    replace(&out, to, was)?;
    Err(io::Error::other("it was saved anew meanwhile"))
}
