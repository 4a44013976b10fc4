//! The way out to the terminal, on which nothing is ever waited for: what it does not take at once is kept and sent on.
//!
//! A terminal may take nothing for hours: its output is stopped (Ctrl+S), its connection hangs, its multiplexer is
//! suspended. Who stood in a write meanwhile would hear no signal and no agent. Refuses to know what is sent.
//!
//! It needs an opening of its own, which only a terminal gives. What a command prints, into whatever it was given, waits for
//! its reader, so that all of it arrives; that a signal ends the program even then is for `unread` to see to.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use nix::fcntl::OFlag;
use nix::sys::termios::{FlushArg, tcflush};
use nix::unistd::ttyname;
use tokio::time::Instant;

use crate::app::write_watchdog::WatchedWriter;

/// How soon the rest is tried again, where some of it was taken.
const FIRST_RETRY_DELAY: Duration = Duration::from_millis(2);
/// How late at the latest, where nothing was.
const MAX_RETRY_DELAY: Duration = Duration::from_millis(100);
/// How often a last word is tried again, and after how long each time.
const FINAL_ATTEMPTS: (usize, Duration) = (60, Duration::from_millis(5));

/// The terminal, opened for writing.
static TERMINAL_OUTPUT: OnceLock<File> = OnceLock::new();

/// What is on its way.
#[derive(Debug, Default)]
pub struct NonblockingWriter {
    unsent: Vec<u8>,
    /// How long the next try waits.
    retry_delay: Duration,
    retry_at: Option<Instant>,
}

impl NonblockingWriter {
    /// Sends bytes, after all that was not taken before them.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let n = match self.retry_at {
            Some(_) => 0,
            None => write_available(bytes)?,
        };
        let rest = bytes.get(n..).unwrap_or_default();
        if !rest.is_empty() {
            self.unsent.extend_from_slice(rest);
            self.retry_at
                .get_or_insert_with(|| Instant::now() + FIRST_RETRY_DELAY);
        }
        Ok(())
    }

    /// Sends on what was not taken.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn retry_unsent(&mut self) -> io::Result<()> {
        let n = write_available(&self.unsent)?;
        self.unsent.drain(..n);
        self.retry_delay = match n {
            0 => (self.retry_delay * 2).clamp(FIRST_RETRY_DELAY, MAX_RETRY_DELAY),
            _ => FIRST_RETRY_DELAY,
        };
        self.retry_at = (!self.unsent.is_empty()).then(|| Instant::now() + self.retry_delay);
        Ok(())
    }

    /// When it is time to send on; `None` where all is taken.
    pub fn retry_at(&self) -> Option<Instant> {
        self.retry_at
    }

    /// Drops what was not taken.
    pub fn discard_unsent(&mut self) {
        *self = Self::default();
    }
}

/// Sends a text that is the last for now. A terminal that takes nothing for a moment is spared what it did not take
/// before, and finds this when it goes on; one that takes nothing even then is not told.
///
/// # Errors
/// The terminal is gone.
pub fn write_final_text(text: &str) -> io::Result<()> {
    let mut rest = text.as_bytes();
    let (n_tries, pause) = FINAL_ATTEMPTS;
    for _ in 0..n_tries {
        rest = rest.get(write_available(rest)?..).unwrap_or_default();
        if rest.is_empty() {
            return Ok(());
        }
        std::thread::sleep(pause);
    }
    tcflush(terminal_output()?, FlushArg::TCOFLUSH)?;
    write_available(text.as_bytes()).map(drop)
}

/// Writes as much as the terminal takes now.
fn write_available(bytes: &[u8]) -> io::Result<usize> {
    let mut out = WatchedWriter(terminal_output()?);
    let mut rest = bytes;
    while !rest.is_empty() {
        match out.write(rest) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(n) => rest = rest.get(n..).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(bytes.len() - rest.len())
}

fn terminal_output() -> io::Result<&'static File> {
    if let Some(out) = TERMINAL_OUTPUT.get() {
        return Ok(out);
    }
    let opened = reopen_terminal();
    let out = opened.map_or_else(
        || io::stdout().as_fd().try_clone_to_owned().map(File::from),
        Ok,
    )?;
    Ok(TERMINAL_OUTPUT.get_or_init(|| out))
}

/// The terminal of standard output, opened once more: whether a write waits is a matter of the opening, and the one
/// that we were given is shared with the shell and with whoever else has it. Where that cannot be done, writes may
/// wait, and a signal ends the program all the same (`unread`).
fn reopen_terminal() -> Option<File> {
    let by_name = ttyname(io::stdout()).ok();
    let own = PathBuf::from("/dev/fd/1");
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    let open = |path: PathBuf| {
        let mut options = OpenOptions::new();
        options.write(true).custom_flags(flags.bits());
        options.open(path).ok()
    };
    by_name.into_iter().chain([own]).find_map(open)
}
