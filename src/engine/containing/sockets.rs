//! Sockets through which a contained process could have another program act for it.

use std::path::PathBuf;

use nix::unistd::getuid;

use super::real;
use crate::engine::scratch;
use crate::process::Hold;

/// Sockets by which a process could have others act for it, outside of what holds it.
const DOORS: &[&str] = &[
    "/run/docker.sock",
    "/run/podman",
    "/run/containerd",
    "/run/dbus",
    "/run/systemd/private",
    "/run/screen",
    "/tmp/.X11-unix",
];

/// The sockets that are there, each as an empty file, and folders of sockets as empty folders: those of all runs too.
pub(super) fn doors() -> Vec<(PathBuf, Hold)> {
    let tmux = std::env::var("TMUX").ok();
    let mut named: Vec<PathBuf> = DOORS.iter().map(PathBuf::from).collect();
    named.push(format!("/tmp/tmux-{}", getuid()).into());
    named.extend(tmux.and_then(|tmux| tmux.split(',').next().map(PathBuf::from)));
    named.extend(scratch::of_all_runs());
    hidden(&named)
}

/// The folders of the user's own sockets: of the desktop, and of agents that keep keys.
pub(super) fn users_doors() -> Vec<(PathBuf, Hold)> {
    let mut named = vec![PathBuf::from(format!("/run/user/{}", getuid()))];
    named.extend(std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from));
    hidden(&named)
}

fn hidden(named: &[PathBuf]) -> Vec<(PathBuf, Hold)> {
    let there = named.iter().filter_map(|path| real(path));
    let hold = |path: PathBuf| match path.is_dir() {
        true => (path, Hold::EmptyFolder),
        false => (path, Hold::EmptyFile),
    };
    there.map(hold).collect()
}
