//! Runs a child in bubblewrap, in a view of the file system in which only given paths are writable.
//!
//! The kernel enforces this for the child and everything that it starts. Network and process ids are shared
//! with the host unless the sandbox says otherwise. The caller decides which paths are writable.

use std::ffi::{OsStr, OsString};
use std::ops::Deref;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nix::unistd::geteuid;
use tempfile::TempDir;

use super::process_mark::mark_mount_path;

/// The folder for temporary files of a sandboxed child with a private one: it is in memory, no other process
/// sees it, and it is gone when the child ends.
pub const PRIVATE_TMPDIR: &str = "/dev/shm";

/// A bubblewrap program with its capabilities on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BubblewrapProgram {
    pub(super) program: PathBuf,
    /// Which processes a child sees by default: only its own, if a new `/proc` can be mounted. Some
    /// containers forbid that.
    pub processes: SandboxProcesses,
}

impl Deref for BubblewrapProgram {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.program
    }
}

/// Describes a bubblewrap that was not probed: its children see all processes.
impl From<&Path> for BubblewrapProgram {
    fn from(program: &Path) -> Self {
        Self {
            program: program.to_owned(),
            processes: SandboxProcesses::Host,
        }
    }
}

impl From<&str> for BubblewrapProgram {
    fn from(program: &str) -> Self {
        Path::new(program).into()
    }
}

impl From<&Self> for BubblewrapProgram {
    fn from(bubblewrap: &Self) -> Self {
        bubblewrap.clone()
    }
}

/// What a child may do with a path and everything below it. Of two mounts for the same path the later variant
/// counts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum SandboxMount {
    /// It sees this other folder or file there and writes to it; what is at the path itself stays unchanged.
    BindFrom(PathBuf),
    Writable,
    ReadOnly,
    /// It sees an empty folder there.
    EmptyFolder,
    /// It sees an empty file there.
    EmptyFile,
}

/// The sandbox of a child: it reads everything and writes only the writable paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxSpec {
    bwrap: PathBuf,
    mounts: Vec<(PathBuf, SandboxMount)>,
    network: SandboxNetwork,
    processes: SandboxProcesses,
    hidden_sockets: Vec<PathBuf>,
    removed_variables: Vec<String>,
    scratch: Option<ScratchFolder>,
}

/// A folder for what a sandboxed child writes instead of the original; it is removed with the last sandbox
/// that uses it.
#[derive(Debug, Clone)]
pub struct ScratchFolder(Arc<TempDir>);

impl ScratchFolder {
    /// Wraps a folder that is removed with the value.
    pub fn new(folder: TempDir) -> Self {
        Self(Arc::new(folder))
    }
}

impl PartialEq for ScratchFolder {
    fn eq(&self, other: &Self) -> bool {
        self.0.path() == other.0.path()
    }
}

impl Eq for ScratchFolder {}

/// The network of a sandboxed child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SandboxNetwork {
    /// The host's network, with its abstract sockets.
    Host,
    /// A private loopback interface and nothing else: neither another machine nor a service of this one is
    /// reachable.
    Loopback,
}

/// The processes that a sandboxed child can see and signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SandboxProcesses {
    /// All of the user's processes.
    Host,
    /// Only its own descendants; they end with it.
    Own,
}

/// Whether this program runs as root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UserPrivilege {
    Root,
    User,
}

impl SandboxSpec {
    /// Describes a sandbox. The paths are real absolute paths. For a path below two mounts the deeper mount
    /// counts; of two mounts for one path the stricter counts. A missing path stays missing.
    pub fn new(
        bwrap: impl Into<BubblewrapProgram>,
        places: impl IntoIterator<Item = (PathBuf, SandboxMount)>,
    ) -> Self {
        let BubblewrapProgram { program, processes } = bwrap.into();
        Self {
            bwrap: program,
            mounts: Vec::new(),
            network: SandboxNetwork::Host,
            processes,
            hidden_sockets: Vec::new(),
            removed_variables: Vec::new(),
            scratch: None,
        }
        .with_mounts(places)
    }

    /// Adds mounts; their order does not matter.
    #[must_use]
    pub fn with_mounts(
        mut self,
        places: impl IntoIterator<Item = (PathBuf, SandboxMount)>,
    ) -> Self {
        self.mounts.extend(places);
        let depth = |path: &Path| path.components().count();
        self.mounts
            .sort_by_cached_key(|(path, hold)| (depth(path), path.clone(), hold.clone()));
        self
    }

    /// Removes the mounts of exactly these paths.
    #[must_use]
    pub fn without_mounts(mut self, places: &[PathBuf]) -> Self {
        self.mounts.retain(|(path, _)| !places.contains(path));
        self
    }

    /// Hides these sockets, if they exist when a child starts.
    #[must_use]
    pub fn with_hidden_sockets(mut self, sockets: impl IntoIterator<Item = PathBuf>) -> Self {
        self.hidden_sockets.extend(sockets);
        self
    }

    /// Removes these variables from what the child inherits.
    #[must_use]
    pub fn with_removed_variables(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.removed_variables.extend(names);
        self
    }

    /// Keeps this folder for as long as the sandbox exists.
    #[must_use]
    pub fn with_scratch(mut self, scratch: Option<ScratchFolder>) -> Self {
        self.scratch = scratch;
        self
    }

    /// Returns the mounts, shallow paths first.
    pub fn mounts(&self) -> &[(PathBuf, SandboxMount)] {
        &self.mounts
    }

    /// Returns the sockets that are hidden one by one, in addition to those below hidden paths.
    pub fn hidden_sockets(&self) -> &[PathBuf] {
        &self.hidden_sockets
    }

    /// Sets the child's network.
    #[must_use]
    pub fn with_network(mut self, network: SandboxNetwork) -> Self {
        self.network = network;
        self
    }

    /// Sets which processes the child can see and signal.
    #[must_use]
    pub fn with_processes(mut self, processes: SandboxProcesses) -> Self {
        self.processes = processes;
        self
    }

    /// Returns true if the abstract sockets of other programs must be closed by other means than the network.
    /// A bubblewrap with rights from its file (set-uid) would lose them that way.
    pub(super) fn closes_abstract_sockets(&self) -> bool {
        let is_set_user_id = self
            .bwrap
            .metadata()
            .is_ok_and(|file| file.mode() & 0o4000 != 0);
        self.network == SandboxNetwork::Host && !is_set_user_id
    }

    /// Returns true if the child inherits a variable.
    pub(super) fn inherits_variable(&self, name: &OsStr) -> bool {
        !self
            .removed_variables
            .iter()
            .any(|removed| OsStr::new(removed) == name)
    }

    /// Returns the bubblewrap program.
    pub(super) fn program(&self) -> &Path {
        &self.bwrap
    }

    /// Returns the arguments up to the `--` before the child's own command line. One mount carries the
    /// child's mark: unlike its environment, a sandboxed process cannot remove it.
    pub(super) fn to_arguments(&self, cwd: &Path, mark: &str) -> Vec<OsString> {
        let privilege = if geteuid().is_root() {
            UserPrivilege::Root
        } else {
            UserPrivilege::User
        };
        let mut arguments = self.to_arguments_as(privilege, cwd);
        let end = arguments.pop();
        arguments.extend(["--ro-bind".into(), "/dev/null".into()]);
        arguments.push(mark_mount_path(mark).into());
        arguments.extend(end);
        arguments
    }

    fn to_arguments_as(&self, privilege: UserPrivilege, cwd: &Path) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = Vec::new();
        let mut add = |words: &[&str]| arguments.extend(words.iter().map(OsString::from));
        // In a user namespace of its own the child cannot reach the file system through a process outside of
        // it, which `/proc/<pid>/root` would otherwise allow. Root keeps its rights in that namespace, so they are
        // dropped.
        add(&["--die-with-parent", "--unshare-user"]);
        if privilege == UserPrivilege::Root {
            add(&["--cap-drop", "ALL"]);
        }
        if self.network == SandboxNetwork::Loopback {
            add(&["--unshare-net"]);
        }
        if self.processes == SandboxProcesses::Own {
            add(&["--unshare-pid"]);
        }
        add(&["--ro-bind", "/", "/", "--dev", "/dev"]);
        if self.processes == SandboxProcesses::Own {
            add(&["--proc", "/proc"]);
        } else if privilege == UserPrivilege::User {
            // A sandbox inside the sandbox, of a test or a browser, must be able to set itself up. For root,
            // `/proc` also contains the switches of the whole system.
            add(&["--bind", "/proc", "/proc"]);
        }
        for (path, hold) in &self.mounts {
            let path = path.as_os_str();
            match hold {
                SandboxMount::BindFrom(source) => {
                    arguments.extend(["--bind".into(), source.into(), path.into()]);
                }
                SandboxMount::Writable => {
                    arguments.extend(["--bind-try".into(), path.into(), path.into()])
                }
                SandboxMount::ReadOnly => {
                    arguments.extend(["--ro-bind-try".into(), path.into(), path.into()]);
                }
                SandboxMount::EmptyFolder => arguments.extend(["--tmpfs".into(), path.into()]),
                SandboxMount::EmptyFile => {
                    arguments.extend(["--ro-bind".into(), "/dev/null".into(), path.into()]);
                }
            }
        }
        // A socket comes and goes with its program: mounting over a missing one would fail.
        for socket in self.hidden_sockets.iter().filter(|path| path.exists()) {
            arguments.extend(["--ro-bind".into(), "/dev/null".into(), socket.into()]);
        }
        arguments.extend(["--chdir".into(), cwd.into(), "--".into()]);
        arguments
    }
}

#[cfg(test)]
mod tests;
