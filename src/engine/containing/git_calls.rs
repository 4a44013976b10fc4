//! The sandbox of the program's own git: of commits with their hooks, and of every call that reads the work tree, where
//! filters run that an agent may have written.

use std::path::{Path, PathBuf};

use super::caches::tool_folder;
use super::own_commands::{CommandReach, Signing, Work, git_folders, visible};
use super::sockets::{KeyAgents, doors, find_sockets, socket_variables};
use super::temporary::{kept, temporary_folders};
use super::user_environment::UserEnvironment;
use super::{protected, real};
use crate::engine::git::Repository;
use crate::process::{SandboxMount, SandboxNetwork, SandboxSpec, SandboxSupport};

/// Has the calls that read the work tree held: they read everything, write objects and what each names, and reach
/// neither network nor sockets; of temporary files they see what the user's variables and the repository name. Where nothing holds them, the repository knows why.
pub fn hold_git(repository: Repository, kernel: &SandboxSupport) -> Repository {
    match kernel {
        SandboxSupport::Available(bwrap) => {
            let user = UserEnvironment::of_process();
            let root = &repository.root;
            let folders = temporary_folders(&user, root);
            let needed = user.paths().flat_map(|(_, paths)| paths);
            let needed = needed.chain([root.clone()]).chain(git_folders(root));
            let mut places = kept(&folders, needed, &[]);
            places.extend(
                folders
                    .iter()
                    .map(|path| (path.clone(), SandboxMount::EmptyFolder)),
            );
            places.extend(doors(&user, KeyAgents::Hidden));
            let sockets = find_sockets(&user, KeyAgents::Hidden, SandboxNetwork::Loopback);
            let sockets = visible(sockets.into_iter(), &folders, &places);
            let held = SandboxSpec::new(bwrap, places)
                .with_network(SandboxNetwork::Loopback)
                .with_hidden_sockets(sockets)
                .with_removed_variables(socket_variables(&user, KeyAgents::Hidden, &[]));
            repository.with_work_held(held)
        }
        SandboxSupport::Unavailable(why) => repository.with_work_unheld(why),
    }
}

/// Has the program's own commits held with the hooks that they run: as a test, but they see a copy of git's folder, of
/// which objects alone are kept, and reach what signs. Nothing changes where nothing holds it.
pub fn hold_commits(
    repository: Repository,
    kernel: &SandboxSupport,
    (root, workdir): (&Path, &Path),
    reach: &CommandReach,
    signing: Signing,
) -> Repository {
    let SandboxSupport::Available(bwrap) = kernel else {
        return repository;
    };
    let user = UserEnvironment::of_process();
    let keys = match signing {
        Signing::On => KeyAgents::Reachable,
        Signing::Off => KeyAgents::Hidden,
    };
    let mut places = vec![(root.to_owned(), SandboxMount::Writable)];
    places.extend(protected(root, workdir));
    if signing == Signing::On {
        let keyring = tool_folder(&user, "GNUPGHOME", ".gnupg");
        places.extend(keyring.map(|keyring| (keyring, SandboxMount::Writable)));
    }
    // A copy of each is laid over it when a commit is made; the place itself is then not read-only.
    let copied: Vec<PathBuf> = [&repository.git_dir, &repository.common_dir]
        .into_iter()
        .filter_map(|path| real(path))
        .collect();
    let held = Work::new(&user, root, keys, reach).hold(bwrap, places);
    repository.with_commits_held(Some(held.without_mounts(&copied)))
}
