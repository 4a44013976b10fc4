//! Replays a scenario in its own process: as an ordinary user, with no network but loopback.
//!
//! If the machine does not allow that, the scenario runs without it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::unistd::geteuid;

use crate::bounded::{self, Started};

/// Marks the inner process through its environment.
const INSIDE: &str = "LAB_CELL";

/// The user id that no real user has.
const NOBODY: [&str; 4] = [
    "setpriv",
    "--reuid=65534",
    "--regid=65534",
    "--clear-groups",
];

/// A network that ends at loopback, and the rest of the machine.
const NO_NETWORK: [&str; 5] = ["bwrap", "--unshare-net", "--dev-bind", "/", "/"];

/// Checks whether that works, and whether a CLI inside can still be sandboxed.
const PROBE: &str =
    "test \"$(id -u)\" != 0 && ! grep -q eth /proc/net/dev && bwrap --ro-bind / / true";

/// Plays the scenario of this name inside; `false` if this process must play it.
///
/// # Panics
/// If it fails inside.
pub fn played(name: &str, homes: &Path, limit: Duration) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return false;
    }
    let mut cell = NO_NETWORK.to_vec();
    if geteuid().is_root() {
        cell.splice(0..0, NOBODY);
    }
    if !holds(&cell) {
        println!("this machine plays {name} with this user and its network");
        return false;
    }
    fs::create_dir_all(homes).expect("the folder of all homes");
    let everybodys = fs::Permissions::from_mode(0o1777);
    fs::set_permissions(homes, everybodys).expect("a folder for every user");
    let mut command = command(&cell);
    command
        .arg(std::env::current_exe().expect("this test"))
        .args(["--exact", name, "--nocapture"])
        .env(INSIDE, "1");
    let finished = Started::start(command, "").finish(&homes.join(name), limit);
    println!("{}", bounded::tail(&finished.stdout));
    assert_eq!(
        finished.code(),
        0,
        "{}\n{}",
        finished.stdout,
        bounded::tail(&finished.stderr)
    );
    true
}

fn command(cell: &[&str]) -> Command {
    let mut command = Command::new(cell[0]);
    command.args(&cell[1..]);
    command
}

fn holds(cell: &[&str]) -> bool {
    let mut probe = command(cell);
    probe.args(["sh", "-c", PROBE]).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}
