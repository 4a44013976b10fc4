//! The full-screen program on a terminal, with a simulated user who types and reads the screen.

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::process::Child;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use pty_process::Size;
use pty_process::blocking::{Command, Pts, open};

use crate::dialog_clock::DialogClock;

/// What the program writes when it enters the full screen.
const TAKEN: &[u8] = b"\x1b[?1049h";
/// The size of the terminal.
const ROWS: u16 = 40;
const COLUMNS: u16 = 120;
/// How often to look at the screen. Rendering its text takes processor time that the program needs.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(180);

/// A user at a terminal in which the program runs.
pub struct Seat {
    child: Child,
    keys: File,
    drawn: Arc<Mutex<Drawn>>,
    dialog: DialogClock,
    /// Kept open, because a terminal hangs up when its last user closes it.
    _pts: Pts,
}

/// What the program wrote.
struct Drawn {
    parser: vt100::Parser,
    bytes: Vec<u8>,
}

impl Seat {
    /// Starts a program with these arguments and waits until it has entered the full screen.
    pub fn take(
        program: &Path,
        arguments: &[&str],
        environment: &[(String, String)],
        cwd: &Path,
    ) -> Seat {
        let (pty, pts) = open().expect("a pseudo-terminal");
        pty.resize(Size::new(ROWS, COLUMNS))
            .expect("a terminal's size");
        let size = |n| NonZeroU16::new(n).expect("a size");
        let drawn = Arc::new(Mutex::new(Drawn {
            parser: vt100::Parser::new(size(ROWS), size(COLUMNS), 0),
            bytes: Vec::new(),
        }));
        let child = Command::new(program)
            .args(arguments)
            .env_clear()
            .envs(environment.iter().cloned())
            .env("TERM", "xterm-256color")
            .current_dir(cwd)
            .spawn_borrowed(&pts)
            .unwrap_or_else(|error| panic!("{} does not start: {error}", program.display()));
        let keys = File::from(pty.as_fd().try_clone_to_owned().expect("the terminal"));
        let taken = read_all(File::from(OwnedFd::from(pty)), Arc::clone(&drawn));
        taken
            .recv_timeout(PATIENCE)
            .expect("the program takes the terminal");
        Seat {
            child,
            keys,
            drawn,
            dialog: DialogClock::new(),
            _pts: pts,
        }
    }

    /// Types, once what is asked can have been read.
    pub fn type_keys(&mut self, keys: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !self.takes_keys() && Instant::now() < deadline {
            thread::sleep(POLL_INTERVAL);
        }
        self.keys
            .write_all(keys.as_bytes())
            .expect("the program reads its terminal");
    }

    /// Returns whether the last frame is complete and its dialog has been there for long enough to accept keys.
    fn takes_keys(&mut self) -> bool {
        let screen = self.text();
        let is_read = self.dialog.accepts_keys(&screen);
        let drawn = self.drawn();
        let last = |mark: &[u8]| {
            let mut parts = drawn.bytes.windows(mark.len());
            parts.rposition(|part| part == mark)
        };
        let is_whole = last(b"\x1b[?2026h") <= last(b"\x1b[?2026l");
        is_whole && is_read
    }

    fn drawn(&self) -> MutexGuard<'_, Drawn> {
        self.drawn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The text of the screen.
    pub fn text(&self) -> String {
        self.drawn().parser.screen().contents()
    }

    /// Waits until the screen shows all of these texts. If the environment names a folder for it, the output so
    /// far is stored there under a name: replayed on a terminal of the same size, it shows the picture.
    pub fn see(&mut self, name: &str, texts: &[&str]) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let text = self.text();
            if texts.iter().all(|part| text.contains(part)) {
                if let Some(folder) = std::env::var_os("LAB_SCREENS") {
                    let file = Path::new(&folder).join(format!("{name}.raw"));
                    std::fs::write(file, &self.drawn().bytes).expect("a kept screen");
                }
                return text;
            }
            let status = self.child.try_wait().expect("the program's status");
            let goes_on = status.is_none() && Instant::now() < deadline;
            assert!(goes_on, "no {texts:?} for {name}; the screen:\n{text}");
            thread::sleep(POLL_INTERVAL);
        }
    }

    /// Presses a key that the screen names, and waits until the screen matches.
    pub fn press(&mut self, key: &str, is_so: impl Fn(&str) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        self.type_keys(key);
        loop {
            let text = self.text();
            if is_so(&text) {
                return;
            }
            let is_late = Instant::now() >= deadline;
            assert!(!is_late, "{key} does nothing; the screen:\n{text}");
            thread::sleep(POLL_INTERVAL);
        }
    }

    /// Waits until something is so.
    pub fn wait_until(&mut self, what: &str, is_so: impl Fn() -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !is_so() {
            let status = self.child.try_wait().expect("the program's status");
            assert!(status.is_none(), "the program ended before {what}");
            assert!(Instant::now() < deadline, "waited in vain until {what}");
            thread::sleep(POLL_INTERVAL);
        }
    }

    /// Ends the program as a closing terminal does: it stops everything that it started, and so leaves nothing.
    pub fn end(mut self) {
        let pid = Pid::from_raw(self.child.id().cast_signed());
        kill(pid, Signal::SIGTERM).expect("the program runs");
        let deadline = Instant::now() + PATIENCE;
        while self
            .child
            .try_wait()
            .expect("the program's status")
            .is_none()
        {
            assert!(Instant::now() < deadline, "the program does not end");
            thread::sleep(POLL_INTERVAL);
        }
    }

    /// Kills the program itself. A sandbox that it was setting up at that moment can wait for ever for its dead
    /// parent, until the next start of the program ends it.
    pub fn kill(mut self) {
        let pid = Pid::from_raw(self.child.id().cast_signed());
        kill(pid, Signal::SIGKILL).expect("the program runs");
        self.child.wait().expect("the program's status");
    }
}

/// Reads everything from a terminal, so that the writer never blocks, and reports when the full screen was entered.
fn read_all(mut terminal: File, drawn: Arc<Mutex<Drawn>>) -> Receiver<()> {
    let (tell, taken) = channel();
    thread::spawn(move || {
        let (mut seen, mut bytes) = (Vec::new(), [0; 65536]);
        while let Ok(n @ 1..) = terminal.read(&mut bytes) {
            seen.extend_from_slice(&bytes[..n]);
            let mut drawn = drawn.lock().unwrap_or_else(PoisonError::into_inner);
            drawn.parser.process(&bytes[..n]);
            drawn.bytes.extend_from_slice(&bytes[..n]);
            drop(drawn);
            if seen.windows(TAKEN.len()).any(|window| window == TAKEN) {
                // Reported once; the receiver may already be gone.
                let _gone = tell.send(());
                seen.clear();
            }
        }
    });
    taken
}
