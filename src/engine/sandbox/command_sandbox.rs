//! Builds the sandbox for the commands that this program runs itself: tests and checks of a discussion.

use std::path::{Path, PathBuf};

use super::host_sockets::{KeyAgentAccess, find_sockets, socket_mounts, socket_variables};
use super::temp_folders::{
    SandboxScratch, find_temp_folders, mentioned_temp_mounts, private_temp_mounts,
};
use super::tool_caches::cache_mounts;
use super::user_environment::{UserEnvironment, parse_absolute_paths};
use super::{canonical_path, protected_paths};
use crate::process::{
    BubblewrapProgram, SandboxMount, SandboxNetwork, SandboxSpec, SandboxSupport,
};

/// What a command can reach besides files.
#[derive(Debug, Clone)]
pub struct CommandReach {
    /// The run, which names the scratch folders.
    pub run: String,
    pub network: SandboxNetwork,
    /// Sockets that the user allows.
    pub sockets: Vec<PathBuf>,
    /// Paths in temporary folders that it may read.
    pub mentioned_paths: Vec<PathBuf>,
}

impl CommandReach {
    /// Returns the same reach with the paths that the command line names; the command may read them.
    #[must_use]
    pub fn with_command_paths(self, line: &str) -> Self {
        Self {
            mentioned_paths: parse_absolute_paths(line.as_ref()),
            ..self
        }
    }
}

/// Returns the sandbox of a test command: it may write the repository except for git's and the program's
/// folders, its own temporary files, and the caches of common tools; `None` where no sandbox is available.
/// The folder `trees` is hidden.
pub fn test_sandbox_spec(
    kernel: &SandboxSupport,
    root: &Path,
    workdir: &Path,
    trees: Option<&Path>,
    reach: &CommandReach,
) -> Option<SandboxSpec> {
    let user = UserEnvironment::from_process();
    test_sandbox_spec_for(&user, kernel, root, workdir, trees, reach)
}

pub(super) fn test_sandbox_spec_for(
    user: &UserEnvironment,
    kernel: &SandboxSupport,
    root: &Path,
    workdir: &Path,
    trees: Option<&Path>,
    reach: &CommandReach,
) -> Option<SandboxSpec> {
    let SandboxSupport::Available(bwrap) = kernel else {
        return None;
    };
    let mut places = vec![(root.to_owned(), SandboxMount::Writable)];
    places.extend(protected_paths(root, workdir));
    places.extend(trees.map(|folder| (folder.to_owned(), SandboxMount::EmptyFolder)));
    let work = CommandSandboxBuilder::new(user, root, KeyAgentAccess::Hidden, reach);
    Some(work.build_spec(bwrap, places))
}

/// Where a clean copy of the repository lies, and what is mounted with it.
#[derive(Debug, Clone)]
pub struct CleanCopyMounts {
    /// The folder with the files of the copy; it appears at the repository's own path.
    pub files: PathBuf,
    /// Folders that the command may write, at their own paths.
    pub writable: Vec<PathBuf>,
    /// Folders that appear inside the copy: the path relative to the root, and what is mounted there.
    pub inside: Vec<(PathBuf, SandboxMount)>,
}

/// Returns the sandbox of a test command in a clean copy of the repository: like [`test_sandbox_spec`], but the command
/// sees the copy at the repository's own path, and nothing of the working tree.
pub fn clean_copy_sandbox_spec(
    kernel: &SandboxSupport,
    root: &Path,
    trees: &Path,
    copy: &CleanCopyMounts,
    reach: &CommandReach,
) -> Option<SandboxSpec> {
    let SandboxSupport::Available(bwrap) = kernel else {
        return None;
    };
    let user = UserEnvironment::from_process();
    let mut places = vec![
        (root.to_owned(), SandboxMount::BindFrom(copy.files.clone())),
        (root.join(".git"), SandboxMount::ReadOnly),
        (trees.to_owned(), SandboxMount::EmptyFolder),
    ];
    let writable = copy.writable.iter();
    places.extend(writable.map(|folder| (folder.clone(), SandboxMount::BindFrom(folder.clone()))));
    let inside = copy.inside.iter().cloned();
    places.extend(inside.map(|(path, mount)| (root.join(path), mount)));
    let work = CommandSandboxBuilder::new(&user, root, KeyAgentAccess::Hidden, reach);
    Some(work.build_spec(bwrap, places))
}

/// Whether the user's commits are signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitSigningMode {
    /// `commit.gpgSign` is on.
    On,
    /// `commit.gpgSign` is off.
    Off,
}

/// Returns the sandbox of a check command: like a test, but the repository is read-only. Of the program's own
/// folder only the `shown` files are visible, and the `unread` files are hidden.
pub fn check_sandbox_spec(
    kernel: &SandboxSupport,
    root: &Path,
    workdir: &Path,
    shown: &[PathBuf],
    unread: Vec<PathBuf>,
    reach: &CommandReach,
) -> Option<SandboxSpec> {
    let SandboxSupport::Available(bwrap) = kernel else {
        return None;
    };
    let user = UserEnvironment::from_process();
    let mut places = vec![(root.to_owned(), SandboxMount::ReadOnly)];
    places.extend(hidden_workdir_mounts(workdir, shown));
    places.extend(
        unread
            .into_iter()
            .map(|file| (file, SandboxMount::EmptyFile)),
    );
    let work = CommandSandboxBuilder::new(&user, root, KeyAgentAccess::Hidden, reach);
    Some(work.build_spec(bwrap, places))
}

/// The inputs of a command sandbox besides the repository.
pub(super) struct CommandSandboxBuilder<'a> {
    user: &'a UserEnvironment,
    root: &'a Path,
    keys: KeyAgentAccess,
    reach: &'a CommandReach,
}

impl<'a> CommandSandboxBuilder<'a> {
    pub(super) fn new(
        user: &'a UserEnvironment,
        root: &'a Path,
        keys: KeyAgentAccess,
        reach: &'a CommandReach,
    ) -> Self {
        Self {
            user,
            root,
            keys,
            reach,
        }
    }

    /// Adds what every command gets besides these mounts: tool caches, private temporary folders, and no
    /// sockets of other programs.
    pub(super) fn build_spec(
        &self,
        bwrap: &BubblewrapProgram,
        mut places: Vec<(PathBuf, SandboxMount)>,
    ) -> SandboxSpec {
        let mut scratch = SandboxScratch::new(&self.reach.run);
        let (user, root) = (self.user, self.root);
        places.extend(cache_mounts(user, root, &mut scratch));
        let folders = find_temp_folders(user, root);
        let needed = user.variable_paths().flat_map(|(_, paths)| paths);
        let needed = needed
            .chain(git_folders(root))
            .chain(self.reach.mentioned_paths.iter().cloned());
        places.extend(mentioned_temp_mounts(&folders, needed, &places));
        places.extend(private_temp_mounts(&folders, &mut scratch));
        let reached: Vec<PathBuf> = self
            .reach
            .sockets
            .iter()
            .filter_map(|path| canonical_path(path))
            .collect();
        // A socket that the user allows may be in a hidden folder.
        let doors = socket_mounts(user, self.keys).into_iter();
        places.extend(doors.filter(|(path, _)| !reached.contains(path)));
        places.extend(
            reached
                .iter()
                .map(|path| (path.clone(), SandboxMount::ReadOnly)),
        );
        let sockets = find_sockets(user, self.keys, self.reach.network);
        let sockets = sockets.into_iter().filter(|path| !reached.contains(path));
        let sockets = visible_sockets(sockets, &folders, &places);
        SandboxSpec::new(bwrap, places)
            .with_network(self.reach.network)
            .with_hidden_sockets(sockets)
            .with_removed_variables(socket_variables(user, self.keys, &reached))
            .with_scratch(scratch.into_folder())
    }
}

/// Returns the sockets that are not inside a folder which the sandbox replaces or empties.
pub(super) fn visible_sockets(
    sockets: impl Iterator<Item = PathBuf>,
    temporary: &[PathBuf],
    places: &[(PathBuf, SandboxMount)],
) -> Vec<PathBuf> {
    let is_seen = |socket: &PathBuf| {
        let around = places.iter().filter(|(place, _)| socket.starts_with(place));
        let nearest = around.max_by_key(|(place, hold)| (place.components().count(), hold.clone()));
        match nearest {
            Some((place, _)) if temporary.contains(place) => false,
            Some((
                _,
                SandboxMount::EmptyFolder | SandboxMount::EmptyFile | SandboxMount::BindFrom(_),
            )) => false,
            Some((_, SandboxMount::Writable | SandboxMount::ReadOnly)) | None => true,
        }
    };
    sockets.filter(is_seen).collect()
}

/// Returns what git reads besides the root of a repository: its git folders, which are elsewhere for a linked
/// work tree, and the objects that it borrows from another clone.
pub(super) fn git_folders(root: &Path) -> Vec<PathBuf> {
    let pointer = std::fs::read_to_string(root.join(".git"));
    let linked = pointer.ok().and_then(|pointer| {
        let named = pointer.strip_prefix("gitdir:")?.trim();
        Some(root.join(named))
    });
    let git_dir = linked.unwrap_or_else(|| root.join(".git"));
    let shared = std::fs::read_to_string(git_dir.join("commondir"));
    let shared = shared.map_or(git_dir.clone(), |shared| git_dir.join(shared.trim()));
    let objects = shared.join("objects");
    let borrowed = std::fs::read_to_string(objects.join("info/alternates"));
    let borrowed = borrowed.unwrap_or_default();
    let borrowed = borrowed.lines().map(|line| objects.join(line));
    [git_dir, shared].into_iter().chain(borrowed).collect()
}

/// Mounts the program's own folder as an empty one, except for these files.
pub(super) fn hidden_workdir_mounts(
    workdir: &Path,
    shown: &[PathBuf],
) -> impl Iterator<Item = (PathBuf, SandboxMount)> {
    let shown = shown.iter().filter_map(|file| canonical_path(file));
    let shown = shown.map(|file| (file, SandboxMount::ReadOnly));
    std::iter::once((workdir.to_owned(), SandboxMount::EmptyFolder)).chain(shown)
}
