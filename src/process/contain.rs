//! Puts a child into a view of the file system in which only named places can be written, by bubblewrap.
//!
//! The kernel holds the child and all that it starts. Network and process ids are shared unless the containment says
//! otherwise. Which places are writable is the caller's business.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::unistd::geteuid;
use tokio_util::sync::CancellationToken;

use super::children::Children;
use super::run_to_end::{Limits, Stdin};
use super::spec::{Marker, Spec};

/// The folder for temporary files of a contained child that gets one of its own: it lies in memory, nobody
/// else sees it, and it goes with the child.
pub const PRIVATE_TMPDIR: &str = "/dev/shm";

/// What the probe's shell says when the place cannot be written.
const HELD: i32 = 42;

/// Whether children can be held by the kernel here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kernel {
    /// This bubblewrap does it.
    Holds(PathBuf),
    /// Nothing does, and this is why.
    Cannot(String),
}

/// What a child may do with one place and all that lies below it. Of two holds on one place the later variant counts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hold {
    /// It sees this other folder or file there and writes it; what lies at the place itself stays as it is.
    Replaced(PathBuf),
    /// It writes there.
    Writable,
    /// It reads there.
    ReadOnly,
    /// It sees an empty folder there.
    EmptyFolder,
    /// It sees an empty file there.
    EmptyFile,
}

/// What holds a child: it reads everything and writes the writable places alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Containment {
    bwrap: PathBuf,
    places: Vec<(PathBuf, Hold)>,
    network: Network,
    processes: Processes,
}

/// Which network a contained child has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// That of the machine, with its abstract sockets.
    Host,
    /// A loopback interface of its own and nothing else: neither another machine nor a service of this one.
    Loopback,
}

/// Which processes a contained child can see and signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Processes {
    /// All of the user's.
    Host,
    /// Its own descendants alone; they end with it.
    Own,
}

/// Whether the program may do everything on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Privilege {
    Root,
    User,
}

impl Containment {
    /// Describes what holds a child. The places are real absolute paths; of two, the deeper one counts for what
    /// lies below it, and of two holds on one place the stricter. A place that is missing stays missing.
    pub fn new(bwrap: &Path, places: impl IntoIterator<Item = (PathBuf, Hold)>) -> Self {
        let mut places: Vec<_> = places.into_iter().collect();
        places.sort_by_key(|(path, hold)| (path.components().count(), path.clone(), hold.clone()));
        Self {
            bwrap: bwrap.to_owned(),
            places,
            network: Network::Host,
            processes: Processes::Host,
        }
    }

    /// Gives the child this network.
    #[must_use]
    pub fn with_network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// Lets the child see and signal these processes.
    #[must_use]
    pub fn with_processes(mut self, processes: Processes) -> Self {
        self.processes = processes;
        self
    }

    /// The program that does it.
    pub(super) fn bwrap(&self) -> &Path {
        &self.bwrap
    }

    /// Its arguments, up to the `--` after which the child's own command line comes.
    pub(super) fn arguments(&self, cwd: &Path) -> Vec<OsString> {
        let privilege = match geteuid().is_root() {
            true => Privilege::Root,
            false => Privilege::User,
        };
        self.arguments_of(privilege, cwd)
    }

    fn arguments_of(&self, privilege: Privilege, cwd: &Path) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = Vec::new();
        let mut add = |words: &[&str]| arguments.extend(words.iter().map(OsString::from));
        // In a user namespace of its own the child cannot look through the eyes of a process outside of it,
        // which `/proc/<pid>/root` would otherwise let it do. There root keeps rights, unless it drops them.
        add(&["--die-with-parent", "--unshare-user"]);
        if privilege == Privilege::Root {
            add(&["--cap-drop", "ALL"]);
        }
        if self.network == Network::Loopback {
            add(&["--unshare-net"]);
        }
        if self.processes == Processes::Own {
            add(&["--unshare-pid"]);
        }
        add(&["--ro-bind", "/", "/", "--dev", "/dev"]);
        if self.processes == Processes::Own {
            add(&["--proc", "/proc"]);
        } else if privilege == Privilege::User {
            // A sandbox inside the sandbox, of a test or a browser, must be able to set itself up. To root
            // the system's own switches lie there.
            add(&["--bind", "/proc", "/proc"]);
        }
        for (path, hold) in &self.places {
            let path = path.as_os_str();
            match hold {
                Hold::Replaced(source) => {
                    arguments.extend(["--bind".into(), source.into(), path.into()]);
                }
                Hold::Writable => arguments.extend(["--bind-try".into(), path.into(), path.into()]),
                Hold::ReadOnly => {
                    arguments.extend(["--ro-bind-try".into(), path.into(), path.into()]);
                }
                Hold::EmptyFolder => arguments.extend(["--tmpfs".into(), path.into()]),
                Hold::EmptyFile => {
                    arguments.extend(["--ro-bind".into(), "/dev/null".into(), path.into()]);
                }
            }
        }
        arguments.extend(["--chdir".into(), cwd.into(), "--".into()]);
        arguments
    }
}

/// Finds the first of these bubblewraps that works here; `place`, a folder that this program can write, must not be
/// writable inside it.
pub async fn find_kernel(children: &Children, candidates: &[PathBuf], place: &Path) -> Kernel {
    if children.are_played() {
        return Kernel::Cannot("no process of the system is started".to_owned());
    }
    if !cfg!(target_os = "linux") {
        return Kernel::Cannot("there is nothing like bubblewrap on this system".to_owned());
    }
    if let Some(why) = is_foreign(place) {
        return Kernel::Cannot(why);
    }
    let mut why = "bubblewrap is not on PATH".to_owned();
    for bwrap in candidates {
        match try_out(children, bwrap, place).await {
            Ok(()) => return Kernel::Holds(bwrap.clone()),
            Err(problem) => why = format!("{} does not work here: {problem}", bwrap.display()),
        }
    }
    Kernel::Cannot(why)
}

/// Root that is held writes its own files alone.
fn is_foreign(place: &Path) -> Option<String> {
    let owner = place.metadata().ok()?.uid();
    let foreign = geteuid().is_root() && owner != 0;
    foreign.then(|| {
        let place = place.display();
        format!("this program runs as root, and {place} belongs to the user {owner}")
    })
}

async fn try_out(children: &Children, bwrap: &Path, place: &Path) -> Result<(), String> {
    let script = format!("test -w \"$1\" || exit {HELD}");
    let mut spec = Spec::new("sh", place, Marker::new("probe", "contain")).args([
        "-c",
        &script,
        "sh",
        &place.to_string_lossy(),
    ]);
    spec.contained = Some(Containment::new(bwrap, []));
    let limits = Limits {
        timeout: Duration::from_secs(10),
        cap: 4096,
        stdin: Stdin::Null,
    };
    let never = CancellationToken::new();
    let ran = children.run_to_end(&spec, &limits, &never).await;
    let finished = ran.map_err(|error| error.to_string())?;
    match finished.exit.code {
        Some(HELD) => Ok(()),
        Some(0) => Err("what is inside can still write".to_owned()),
        _ => Err(finished
            .exit
            .stderr_tail
            .lines()
            .last()
            .unwrap_or("it ended without a word")
            .to_owned()),
    }
}

#[cfg(test)]
mod tests;
