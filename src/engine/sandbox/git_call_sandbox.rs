//! Builds the sandbox for the program's own git calls: commits with their hooks, and every call that reads
//! the work tree, where filters may run that an agent wrote.

use std::path::{Path, PathBuf};

use super::command_sandbox::{
    CommandReach, CommandSandboxBuilder, CommitSigningMode, git_folders, visible_sockets,
};
use super::host_sockets::{KeyAgentAccess, find_sockets, socket_mounts, socket_variables};
use super::temp_folders::{find_temp_folders, mentioned_temp_mounts};
use super::tool_caches::find_tool_folder;
use super::user_environment::UserEnvironment;
use super::{canonical_path, protected_paths};
use crate::engine::git::GitRepository;
use crate::process::{SandboxMount, SandboxNetwork, SandboxSpec, SandboxSupport};

/// Sandboxes the calls that read the work tree: they read everything, write objects and the folders that each
/// call names, and reach neither network nor sockets. Of the temporary files they see those that the user's
/// variables and the repository name. Without a sandbox, the repository stores the reason.
pub fn sandbox_git_reads(repository: GitRepository, kernel: &SandboxSupport) -> GitRepository {
    match kernel {
        SandboxSupport::Available(bwrap) => {
            let user = UserEnvironment::from_process();
            let root = repository.root();
            let folders = find_temp_folders(&user, root);
            let needed = user.variable_paths().flat_map(|(_, paths)| paths);
            let needed = needed.chain([root.to_path_buf()]).chain(git_folders(root));
            let mut places = mentioned_temp_mounts(&folders, needed, &[]);
            places.extend(
                folders
                    .iter()
                    .map(|path| (path.clone(), SandboxMount::EmptyFolder)),
            );
            places.extend(socket_mounts(&user, KeyAgentAccess::Hidden));
            let sockets = find_sockets(&user, KeyAgentAccess::Hidden, SandboxNetwork::Loopback);
            let sockets = visible_sockets(sockets.into_iter(), &folders, &places);
            let held = SandboxSpec::new(bwrap, places)
                .with_network(SandboxNetwork::Loopback)
                .with_hidden_sockets(sockets)
                .with_removed_variables(socket_variables(&user, KeyAgentAccess::Hidden, &[]));
            repository.with_sandbox(held)
        }
        SandboxSupport::Unavailable(why) => repository.without_sandbox(why),
    }
}

/// Sandboxes the program's own commits with their hooks: like a test, but they see a copy of git's folder, of
/// which only objects are kept, and they reach what signs. Without a sandbox nothing changes.
pub fn sandbox_git_commits(
    repository: GitRepository,
    kernel: &SandboxSupport,
    root: &Path,
    workdir: &Path,
    reach: &CommandReach,
    signing: CommitSigningMode,
) -> GitRepository {
    let SandboxSupport::Available(bwrap) = kernel else {
        return repository;
    };
    let user = UserEnvironment::from_process();
    let keys = match signing {
        CommitSigningMode::On => KeyAgentAccess::Reachable,
        CommitSigningMode::Off => KeyAgentAccess::Hidden,
    };
    let mut places = vec![(root.to_owned(), SandboxMount::Writable)];
    places.extend(protected_paths(root, workdir));
    if signing == CommitSigningMode::On {
        let keyring = find_tool_folder(&user, "GNUPGHOME", ".gnupg");
        places.extend(keyring.map(|keyring| (keyring, SandboxMount::Writable)));
    }
    // A copy of each is mounted over it for a commit; then the folder itself must not be mounted read-only.
    let copied: Vec<PathBuf> = [repository.git_dir(), repository.common_dir()]
        .into_iter()
        .filter_map(canonical_path)
        .collect();
    let held = CommandSandboxBuilder::new(&user, root, keys, reach).build_spec(bwrap, places);
    repository.with_commit_sandbox(Some(held.without_mounts(&copied)))
}
