//! The full-screen program on a terminal, with a user who types.
//!
//! It refuses to look at the screen: what happens is in the run's log.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::process::Child;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use pty_process::Size;
use pty_process::blocking::{Command, Pts, open};

/// What the program writes once the terminal is its own.
const TAKEN: &[u8] = b"\x1b[?1049h";
/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A user at a terminal in which the program runs.
pub struct Seat {
    child: Child,
    keys: File,
    /// Kept open: a terminal that nobody has open any more is hung up.
    _pts: Pts,
}

impl Seat {
    /// Starts a program without arguments and waits until it has taken the terminal.
    pub fn take(program: &Path, environment: &[(String, String)], cwd: &Path) -> Seat {
        let (pty, pts) = open().expect("a pseudo-terminal");
        pty.resize(Size::new(40, 120)).expect("a terminal's size");
        let child = Command::new(program)
            .env_clear()
            .envs(environment.iter().cloned())
            .env("TERM", "xterm-256color")
            .current_dir(cwd)
            .spawn_borrowed(&pts)
            .unwrap_or_else(|error| panic!("{} does not start: {error}", program.display()));
        let keys = File::from(pty.as_fd().try_clone_to_owned().expect("the terminal"));
        let taken = read_all(File::from(OwnedFd::from(pty)));
        taken
            .recv_timeout(PATIENCE)
            .expect("the program takes the terminal");
        Seat {
            child,
            keys,
            _pts: pts,
        }
    }

    /// Types.
    pub fn type_keys(&mut self, keys: &str) {
        self.keys
            .write_all(keys.as_bytes())
            .expect("the program reads its terminal");
    }

    /// Waits until something is so.
    pub fn wait_until(&mut self, what: &str, is_so: impl Fn() -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !is_so() {
            let status = self.child.try_wait().expect("the program's status");
            assert!(status.is_none(), "the program ended before {what}");
            assert!(Instant::now() < deadline, "waited in vain until {what}");
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Kills the program itself.
    pub fn kill(mut self) {
        let pid = Pid::from_raw(self.child.id().cast_signed());
        kill(pid, Signal::SIGKILL).expect("the program runs");
        self.child.wait().expect("the program's status");
    }
}

/// Reads a terminal empty, so that nobody waits for it, and tells when it was taken.
fn read_all(mut terminal: File) -> Receiver<()> {
    let (tell, taken) = channel();
    thread::spawn(move || {
        let (mut seen, mut bytes) = (Vec::new(), [0; 65536]);
        while let Ok(n @ 1..) = terminal.read(&mut bytes) {
            seen.extend_from_slice(&bytes[..n]);
            if seen.windows(TAKEN.len()).any(|window| window == TAKEN) {
                // Told once; whoever listened has what they wanted.
                let _gone = tell.send(());
                seen.clear();
            }
        }
    });
    taken
}
