//! The sandbox of the program's own git: of commits with their hooks, and of every call that reads the work tree, where
//! filters run that an agent may have written.

use std::path::{Path, PathBuf};

use super::caches::{cache, work};
use super::sockets::{doors, users_doors};
use super::{protected, real};
use crate::engine::git::Repository;
use crate::process::{Containment, Hold, Kernel, Network, Processes};

/// Has the calls that read the work tree held: they read everything, write objects and what each names, and reach
/// neither network nor sockets. Where nothing holds them, the repository knows why.
pub fn hold_git(repository: Repository, kernel: &Kernel) -> Repository {
    match kernel {
        Kernel::Holds(bwrap) => {
            let mut places = doors();
            places.extend(users_doors());
            let held = Containment::new(bwrap, places)
                .with_network(Network::Loopback)
                .with_processes(Processes::Own);
            repository.with_work_held(held)
        }
        Kernel::Cannot(why) => repository.with_work_unheld(why),
    }
}

/// Has the program's own commits held with the hooks that they run: as a test, but they see a copy of git's folder, of
/// which objects alone are kept, and reach what signs. Nothing changes where nothing holds it.
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
    places.extend(protected(root, workdir));
    places.extend(cache("GNUPGHOME", ".gnupg").map(|keys| (keys, Hold::Writable)));
    // A copy of each is laid over it when a commit is made; the place itself is then not read-only.
    let copied: Vec<PathBuf> = [&repository.git_dir, &repository.common_dir]
        .into_iter()
        .filter_map(|path| real(path))
        .collect();
    places.retain(|(path, _)| !copied.contains(path));
    repository.with_commits_held(Some(Containment::new(bwrap, places)))
}
