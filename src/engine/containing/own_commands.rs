//! The sandbox of the commands that this program runs itself: tests, commits with their hooks, checks of a discussion.

use std::path::{Path, PathBuf};

use super::caches::{cache, work};
use super::sockets::{doors, users_doors};
use super::{protected, real};
use crate::engine::git::Repository;
use crate::process::{Containment, Hold, Kernel};

/// What holds a test command of the program's: it writes the repository but for git's folder and the program's,
/// temporary files, and the caches of common tools; `None` where nothing holds it.
/// `trees` is a folder of which it sees nothing.
pub fn hold_tests(
    kernel: &Kernel,
    (root, workdir): (&Path, &Path),
    trees: Option<&Path>,
) -> Option<Containment> {
    let Kernel::Holds(bwrap) = kernel else {
        return None;
    };
    let mut places = doors();
    places.extend(users_doors());
    places.extend(work(root));
    places.extend(protected(root, workdir));
    places.extend(trees.map(|folder| (folder.to_owned(), Hold::EmptyFolder)));
    Some(Containment::new(bwrap, places))
}

/// Has the program's own commits held with the hooks that they run: as a test, but a commit writes git's own folders,
/// save hooks and settings in them, and reaches what signs. Nothing changes where nothing holds it.
pub fn hold_commits(
    repository: Repository,
    kernel: &Kernel,
    (root, workdir): (&Path, &Path),
) -> Repository {
    let Kernel::Holds(bwrap) = kernel else {
        return repository;
    };
    let mut places = doors();
    places.extend(work(root));
    let git = [&repository.git_dir, &repository.common_dir];
    let there = |path: PathBuf, hold| real(&path).map(|path| (path, hold));
    let pointer = root.join(".git");
    if pointer.is_file() {
        // A linked work tree: the file says where git's folder is.
        places.extend(there(pointer, Hold::ReadOnly));
    }
    for folder in git {
        places.extend(there(folder.clone(), Hold::Writable));
        let settings = ["hooks", "config", "config.worktree"].map(|name| folder.join(name));
        places.extend(
            settings
                .into_iter()
                .filter_map(|path| there(path, Hold::ReadOnly)),
        );
    }
    places.extend(cache("GNUPGHOME", ".gnupg").map(|keys| (keys, Hold::Writable)));
    places.extend(there(root.join(".agent-collab"), Hold::ReadOnly));
    places.push((workdir.to_owned(), Hold::ReadOnly));
    let held = Containment::new(bwrap, places);
    repository.with_commits_held(Some(held))
}

/// What holds a command that is to settle something: as a test, but of the repository it writes nothing. Of the
/// program's own folder it sees what is `shown`, of the `unread` files nothing.
pub fn hold_checks(
    kernel: &Kernel,
    (root, workdir): (&Path, &Path),
    shown: &[PathBuf],
    unread: Vec<PathBuf>,
) -> Option<Containment> {
    let Kernel::Holds(bwrap) = kernel else {
        return None;
    };
    let mut places = doors();
    places.extend(users_doors());
    places.extend(work(root));
    places.push((root.to_owned(), Hold::ReadOnly));
    places.extend(alone(workdir, shown));
    places.extend(unread.into_iter().map(|file| (file, Hold::EmptyFile)));
    Some(Containment::new(bwrap, places))
}

/// The program's own folder as an empty one, but for these files of it.
pub(super) fn alone(workdir: &Path, shown: &[PathBuf]) -> impl Iterator<Item = (PathBuf, Hold)> {
    let shown = shown.iter().filter_map(|file| real(file));
    let shown = shown.map(|file| (file, Hold::ReadOnly));
    std::iter::once((workdir.to_owned(), Hold::EmptyFolder)).chain(shown)
}
