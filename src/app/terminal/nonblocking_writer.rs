//! Writes to the terminal without ever blocking: what the terminal does not accept at once is buffered and sent later.
//!
//! A terminal may accept nothing for hours: its output is stopped (Ctrl+S), its connection hangs, its multiplexer is
//! suspended. A blocked write would keep the program from signals and agents.
//!
//! This needs a file description of its own, which only a terminal offers. Commands that print to other outputs block
//! until their reader continues, so that everything arrives; `write_watchdog` makes signals end the program even then.

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

/// Time before a retry after the terminal accepted some bytes.
const FIRST_RETRY_DELAY: Duration = Duration::from_millis(2);
/// Maximum time before a retry while the terminal accepts nothing.
const MAX_RETRY_DELAY: Duration = Duration::from_millis(100);
/// Number of attempts for a final text, and the pause between them.
const FINAL_ATTEMPTS: (usize, Duration) = (60, Duration::from_millis(5));

/// The terminal, opened for writing.
static TERMINAL_OUTPUT: OnceLock<File> = OnceLock::new();

/// Buffers the bytes that the terminal has not accepted.
#[derive(Debug, Default)]
pub struct NonblockingWriter {
    unsent: Vec<u8>,
    /// Time to wait before the next retry.
    retry_delay: Duration,
    retry_at: Option<Instant>,
}

impl NonblockingWriter {
    /// Sends bytes, after everything unsent before them.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        // While older bytes are unsent, new ones queue behind them.
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

    /// Sends what was not accepted before.
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

    /// Returns when to retry; `None` if nothing is unsent.
    pub fn retry_at(&self) -> Option<Instant> {
        self.retry_at
    }

    pub fn discard_unsent(&mut self) {
        *self = Self::default();
    }
}

/// Sends a text that is the last for now, and waits a moment for the terminal. If the terminal still accepts nothing,
/// its queued output is discarded and the text is tried once more, without an error if that fails.
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

/// Writes as much as the terminal accepts now.
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

/// Opens the terminal of standard output again: blocking is a property of the open file description, and the inherited
/// one is shared with the shell and others. If that fails, writes may block; a signal still ends the program
/// (`write_watchdog`).
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
