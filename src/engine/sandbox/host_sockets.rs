//! Finds the sockets through which a sandboxed process could make another program act for it.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use nix::unistd::getuid;

use super::canonical_path;
use super::user_environment::UserEnvironment;
use crate::engine::runtime_dir;
use crate::process::{SandboxMount, SandboxNetwork};

/// System folders and sockets through which a process could make others act for it.
const SYSTEM_SOCKET_PATHS: &[&str] = &[
    "/run/docker.sock",
    "/run/docker",
    "/run/podman",
    "/run/containerd",
    "/run/buildkit",
    "/run/crio",
    "/run/libvirt",
    "/run/lxd.socket",
    "/run/incus",
    "/run/snapd.socket",
    "/run/dbus",
    "/run/systemd/private",
    "/run/screen",
    "/run/tmux",
    "/run/WSL",
    "/mnt/wslg",
    "/var/lib/lxd/unix.socket",
    "/var/lib/incus/unix.socket",
    "/tmp/.X11-unix",
];

/// Folders in the home directory in which programs create sockets, or store keys to a port of theirs.
const HOME_SOCKET_FOLDERS: &[&str] = &[
    ".docker/run",
    ".docker/desktop",
    ".orbstack/run",
    ".local/share/containers/podman/machine",
    ".1password",
    ".ssh/agent",
    ".emacs.d/server",
    ".config/emacs/server",
];

/// Harmless sockets: they only answer queries or take log messages (user names, host names, logging).
const HARMLESS_SOCKETS: &[&str] = &[
    "/run/nscd",
    "/run/systemd/resolve",
    "/run/systemd/userdb",
    "/run/systemd/journal",
    "/var/lib/sss/pipes",
];

/// Sockets of databases: a process with the host's network reaches the databases anyway.
const DATABASE_SOCKETS: &[&str] = &[
    "/run/postgresql",
    "/run/mysqld",
    "/run/mariadb",
    "/var/lib/mysql",
    "/run/redis",
    "/run/memcached",
    "/run/mongodb",
];

/// Variables that lead to a program of the user's, even if their value is not a path.
const SOCKET_VARIABLES: &[&str] = &[
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "GPG_AGENT_INFO",
    "DOCKER_HOST",
    "CONTAINER_HOST",
    "DBUS_SESSION_BUS_ADDRESS",
    "DBUS_SYSTEM_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "WAYLAND_SOCKET",
    "SWAYSOCK",
    "I3SOCK",
    "SESSION_MANAGER",
    "PULSE_SERVER",
    "NOTIFY_SOCKET",
    "TMUX",
    "STY",
    "NVIM",
    "NVIM_LISTEN_ADDRESS",
    "EMACS_SOCKET_NAME",
    "VSCODE_IPC_HOOK",
    "VSCODE_IPC_HOOK_CLI",
    "VSCODE_GIT_IPC_HANDLE",
    "KITTY_LISTEN_ON",
    "WEZTERM_UNIX_SOCKET",
    "ALACRITTY_SOCKET",
    "WSL_INTEROP",
];

/// What leads to programs that store keys and sign with them: variables, and names in the user's runtime
/// folder.
const KEY_VARIABLES: &[&str] = &["SSH_AUTH_SOCK", "XDG_RUNTIME_DIR"];
const KEY_SOCKETS: &[&str] = &["gnupg", "keyring", "ssh-agent.socket", "openssh_agent"];

/// The limits of the search for sockets below the home directory: depth and number of folders.
const MAX_SEARCH_DEPTH: usize = 4;
const MAX_SEARCHED_FOLDERS: usize = 4000;
/// Folders with many files and no sockets.
const SKIPPED_FOLDERS: &[&str] = &[
    "node_modules",
    ".git",
    "target",
    "site-packages",
    "registry",
];

/// Which of the user's sockets a child may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyAgentAccess {
    /// The sockets for signing are reachable.
    Reachable,
    /// No sockets are reachable.
    Hidden,
}

/// Mounts socket folders as empty folders and known sockets as empty files, including the sockets of all runs.
pub(super) fn socket_mounts(
    user: &UserEnvironment,
    keys: KeyAgentAccess,
) -> Vec<(PathBuf, SandboxMount)> {
    let mut named: Vec<PathBuf> = SYSTEM_SOCKET_PATHS.iter().map(PathBuf::from).collect();
    let home = user.home();
    named.extend(
        home.iter()
            .flat_map(|home| HOME_SOCKET_FOLDERS.iter().map(|below| home.join(below))),
    );
    named.extend(runtime_dir::user_runtime_dirs());
    let folders = runtime_folders(user);
    named.extend(folders.iter().cloned());
    let mut places = hidden_mounts(&named);
    if keys == KeyAgentAccess::Reachable {
        let sockets = key_sockets(user, &folders).into_iter();
        places.extend(sockets.map(|path| (path, SandboxMount::ReadOnly)));
    }
    places
}

/// Returns the folders in which the desktop and its programs create their sockets.
fn runtime_folders(user: &UserEnvironment) -> Vec<PathBuf> {
    let mut folders = vec![PathBuf::from(format!("/run/user/{}", getuid()))];
    folders.extend(user.value("XDG_RUNTIME_DIR").map(PathBuf::from));
    folders
}

/// Returns the sockets, and folders of sockets, that signing needs.
fn key_sockets(user: &UserEnvironment, runtime_folders: &[PathBuf]) -> Vec<PathBuf> {
    let in_runtime = runtime_folders
        .iter()
        .flat_map(|folder| KEY_SOCKETS.iter().map(|name| folder.join(name)));
    let named = user.value("SSH_AUTH_SOCK").map(PathBuf::from);
    let there = in_runtime
        .chain(named)
        .filter_map(|path| canonical_path(&path));
    there.collect()
}

/// Finds the sockets to hide one by one: those that a process listens on, that a variable names, or that are
/// below the home directory.
pub(super) fn find_sockets(
    user: &UserEnvironment,
    keys: KeyAgentAccess,
    network: SandboxNetwork,
) -> BTreeSet<PathBuf> {
    let home = user.home().and_then(|home| canonical_path(&home));
    let named = user.variable_paths().flat_map(|(_, paths)| paths);
    let below_home = home.iter().flat_map(|home| search_sockets(home));
    let mut left: Vec<PathBuf> = HARMLESS_SOCKETS.iter().map(PathBuf::from).collect();
    if network == SandboxNetwork::Host {
        left.extend(DATABASE_SOCKETS.iter().map(PathBuf::from));
    }
    if keys == KeyAgentAccess::Reachable {
        left.extend(key_sockets(user, &runtime_folders(user)));
        let keyring = user.value("GNUPGHOME").map(PathBuf::from);
        let keyring = keyring.or_else(|| Some(home.clone()?.join(".gnupg")));
        left.extend(keyring.and_then(|folder| canonical_path(&folder)));
    }
    list_bound_sockets()
        .into_iter()
        .chain(named)
        .chain(below_home)
        .filter_map(|path| canonical_path(&path))
        .filter(|path| is_socket(path) && !left.iter().any(|left| path.starts_with(left)))
        .collect()
}

/// Variables that name the socket of a container engine, and the places of such sockets: below `/run`, the
/// user's runtime folder, and the home directory.
const CONTAINER_VARIABLES: &[&str] = &["DOCKER_HOST", "CONTAINER_HOST"];
const CONTAINER_SOCKETS: [&str; 2] = ["docker.sock", "podman/podman.sock"];
const CONTAINER_SOCKETS_AT_HOME: &[&str] = &[
    ".docker/run/docker.sock",
    ".docker/desktop/docker.sock",
    ".colima/default/docker.sock",
    ".orbstack/run/docker.sock",
    ".rd/docker.sock",
];

/// Lists the sockets of container engines on this machine: first those in the user's variables, then the
/// user's own, then the system's.
pub fn container_sockets() -> Vec<PathBuf> {
    let user = UserEnvironment::from_process();
    let named = user.variable_paths().filter(|(name, _)| {
        let known = CONTAINER_VARIABLES.iter();
        name.to_str()
            .is_some_and(|name| known.clone().any(|known| *known == name))
    });
    let named: Vec<PathBuf> = named.flat_map(|(_, paths)| paths).collect();
    let home = user.home();
    let at_home = home.iter().flat_map(|home| {
        let names = CONTAINER_SOCKETS_AT_HOME.iter();
        names.map(|name| home.join(name))
    });
    let folders = runtime_folders(&user).into_iter().chain(["/run".into()]);
    let running = folders.flat_map(|folder| CONTAINER_SOCKETS.map(|name| folder.join(name)));
    let all = named.into_iter().chain(at_home).chain(running);
    let mut sockets: Vec<PathBuf> = Vec::new();
    for path in all
        .filter_map(|path| canonical_path(&path))
        .filter(|path| is_socket(path))
    {
        if !sockets.contains(&path) {
            sockets.push(path);
        }
    }
    sockets
}

/// Returns the names of variables that lead to sockets, except for the reachable ones; a process that cannot
/// reach a socket should not know about it.
pub(super) fn socket_variables(
    user: &UserEnvironment,
    keys: KeyAgentAccess,
    reached: &[PathBuf],
) -> Vec<String> {
    let leads_to_reached = |name: &String| {
        let mut named = user
            .variable_paths()
            .filter(|(known, _)| known.to_str() == Some(name));
        named.any(|(_, paths)| {
            let mut sockets = paths.iter().filter_map(|path| canonical_path(path));
            sockets.any(|path| reached.contains(&path))
        })
    };
    let found = user
        .variable_paths()
        .filter(|(_, paths)| paths.iter().any(|path| is_socket(path)));
    let found = found.filter_map(|(name, _)| name.to_str().map(str::to_owned));
    let known = SOCKET_VARIABLES.iter().map(|name| (*name).to_owned());
    let is_kept =
        |name: &String| keys == KeyAgentAccess::Reachable && KEY_VARIABLES.contains(&name.as_str());
    let hidden = known.chain(found).filter(|name| !is_kept(name));
    hidden.filter(|name| !leads_to_reached(name)).collect()
}

/// Lists the paths of the sockets that are bound on this machine, as far as the kernel shows them.
fn list_bound_sockets() -> Vec<PathBuf> {
    let table = fs::read_to_string("/proc/net/unix").unwrap_or_default();
    table.lines().filter_map(parse_bound_path).collect()
}

/// Parses the path from a line of the kernel's table; abstract names start with `@`.
fn parse_bound_path(line: &str) -> Option<PathBuf> {
    let (_, path) = line.split_once(" /")?;
    Some(PathBuf::from(format!("/{path}")))
}

/// Searches a folder and its subfolders for sockets, starting with shallow and hidden folders.
fn search_sockets(top: &Path) -> Vec<PathBuf> {
    let mut sockets = Vec::new();
    let mut folders = VecDeque::from([(top.to_owned(), 1)]);
    for _ in 0..MAX_SEARCHED_FOLDERS {
        let Some((folder, depth)) = folders.pop_front() else {
            return sockets;
        };
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let mut below = Vec::new();
        for entry in entries {
            let (Ok(kind), name) = (entry.file_type(), entry.file_name()) else {
                continue;
            };
            if kind.is_socket() {
                sockets.push(entry.path());
            }
            let is_visited = depth < MAX_SEARCH_DEPTH
                && !SKIPPED_FOLDERS.iter().any(|unvisited| name == *unvisited);
            if kind.is_dir() && is_visited {
                below.push((entry.path(), depth + 1));
            }
        }
        below.sort_by_key(|(path, _)| !is_hidden_path(path));
        folders.extend(below);
    }
    tracing::debug!(top = %top.display(), "not all folders were searched for sockets");
    sockets
}

fn is_hidden_path(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().starts_with('.')
}

fn is_socket(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|found| found.file_type().is_socket())
}

fn hidden_mounts(named: &[PathBuf]) -> Vec<(PathBuf, SandboxMount)> {
    let there = named.iter().filter_map(|path| canonical_path(path));
    let hold = |path: PathBuf| {
        if path.is_dir() {
            (path, SandboxMount::EmptyFolder)
        } else {
            (path, SandboxMount::EmptyFile)
        }
    };
    there.map(hold).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_table_tells_paths_and_abstract_names() {
        let line = "0000: 00000002 00000000 00010000 0001 01 30 ";
        for (name, expected) in [
            ("/run/a b.sock", Some("/run/a b.sock")),
            ("@/tmp/.X11-unix/X0", None),
            ("", None),
        ] {
            let found = parse_bound_path(&format!("{line}{name}"));
            assert_eq!(found.as_deref(), expected.map(Path::new));
        }
    }

    #[test]
    fn a_variable_that_names_a_socket_in_any_way_is_taken_out() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("s");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let path = socket.display();
        let values = [
            ("PLAIN", format!("{path}")),
            ("URL", format!("unix://{path}")),
            ("BUS", format!("unix:path={path},guid=1")),
            ("MUX", format!("{path},12,0")),
            ("OTHER", folder.path().display().to_string()),
        ];
        let user = UserEnvironment::new(values.map(|(name, value)| (name.into(), value.into())));
        let variables = socket_variables(&user, KeyAgentAccess::Hidden, &[]);
        let found: Vec<_> = variables.iter().skip(SOCKET_VARIABLES.len()).collect();
        assert_eq!(found, ["BUS", "MUX", "PLAIN", "URL"]);
        let reached = [socket.canonicalize().unwrap()];
        let variables = socket_variables(&user, KeyAgentAccess::Hidden, &reached);
        assert_eq!(variables.len(), SOCKET_VARIABLES.len());
    }
}
