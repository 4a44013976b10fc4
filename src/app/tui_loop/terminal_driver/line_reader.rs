//! Reads the user's lines in linear mode, each with the number of the last question that was printed before it was
//! typed.
//!
//! A thread of its own reads at once whatever is there, so that a line which waits in the input is known as older than
//! the next question. It never reads while another program has the terminal.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::{pipe, read};
use tokio::sync::Notify;

/// How many lines wait at most before reading pauses.
const MAX_WAITING_LINES: usize = 10_000;
/// The longest line; the rest of a longer one is a line of its own.
const MAX_LINE_BYTES: usize = 1 << 20;
/// How often, and after which pause, to look whether everything that was typed is read.
const SETTLE_CHECKS: (usize, Duration) = (50, Duration::from_millis(1));

/// A line of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedLine {
    pub text: String,
    /// How many questions had been printed when it was read.
    pub n_asked: u64,
}

/// What the thread and the loop share.
#[derive(Debug, Default)]
struct SharedLines {
    lines: Mutex<VecDeque<TypedLine>>,
    has_lines: Notify,
    has_ended: AtomicBool,
    is_paused: AtomicBool,
    n_asked: AtomicU64,
}

/// The user's lines.
#[derive(Default)]
pub struct LineReader {
    shared: Arc<SharedLines>,
    /// Reads, until the end of the pipe is closed.
    thread: Option<(OwnedFd, JoinHandle<()>)>,
    is_end_reported: bool,
}

impl LineReader {
    /// Reads standard input from now on.
    ///
    /// # Errors
    /// The system has no pipe or thread left.
    pub fn resume(&mut self) -> io::Result<()> {
        if self.thread.is_some() || self.shared.has_ended.load(Ordering::SeqCst) {
            return Ok(());
        }
        self.shared.is_paused.store(false, Ordering::SeqCst);
        let (stopped, stop) = pipe()?;
        let shared = Arc::clone(&self.shared);
        let thread = thread::Builder::new()
            .name("lines".to_owned())
            .spawn(move || read_lines(&shared, &stopped))?;
        self.thread = Some((stop, thread));
        Ok(())
    }

    /// Leaves standard input to another program. What was read stays.
    pub fn pause(&mut self) {
        self.shared.is_paused.store(true, Ordering::SeqCst);
        if let Some((stop, thread)) = self.thread.take() {
            drop(stop);
            // It is waiting, or in the middle of a read that does not block.
            let _panicked = thread.join();
        }
    }

    /// Waits for the next line; `None` at the end of the input, once. Cancel safe.
    pub async fn next_line(&mut self) -> Option<TypedLine> {
        loop {
            if let Some(line) = self.shared.take_line() {
                return Some(line);
            }
            if self.shared.has_ended.load(Ordering::SeqCst) && !self.is_end_reported {
                // Lines may have come before the end was noted.
                if let Some(line) = self.shared.take_line() {
                    return Some(line);
                }
                self.is_end_reported = true;
                return None;
            }
            self.shared.has_lines.notified().await;
        }
    }

    /// Notes that a question is printed now: every line that is there already is older.
    pub fn note_question(&self) {
        let (n_checks, pause) = SETTLE_CHECKS;
        for _ in 0..n_checks {
            if self.shared.has_ended.load(Ordering::SeqCst) || !has_input() {
                break;
            }
            thread::sleep(pause);
        }
        self.shared.n_asked.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns whether a line was typed after the last question.
    pub fn is_current(&self, line: &TypedLine) -> bool {
        line.n_asked == self.shared.n_asked.load(Ordering::SeqCst)
    }
}

impl Drop for LineReader {
    fn drop(&mut self) {
        self.pause();
    }
}

impl SharedLines {
    fn take_line(&self) -> Option<TypedLine> {
        self.lines
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front()
    }

    fn add_line(&self, text: &[u8], n_asked: u64) {
        let text = String::from_utf8_lossy(text).into_owned();
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push_back(TypedLine { text, n_asked });
        self.has_lines.notify_one();
    }

    fn n_waiting(&self) -> usize {
        self.lines
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .len()
    }
}

/// Returns whether standard input has something to read, or has ended.
fn has_input() -> bool {
    let input = io::stdin();
    let mut watched = [PollFd::new(input.as_fd(), PollFlags::POLLIN)];
    poll(&mut watched, PollTimeout::ZERO).is_ok_and(|n_ready| n_ready > 0)
}

/// Reads until the end of the input, or until `stopped` is closed.
fn read_lines(shared: &SharedLines, stopped: &OwnedFd) {
    let input = io::stdin();
    let (mut line, mut buffer) = (Vec::new(), vec![0; 64 << 10]);
    loop {
        let mut watched = [
            PollFd::new(input.as_fd(), PollFlags::POLLIN),
            PollFd::new(stopped.as_fd(), PollFlags::POLLIN),
        ];
        match poll(&mut watched, PollTimeout::NONE) {
            Ok(_) => {}
            Err(nix::errno::Errno::EINTR) => continue,
            Err(_) => break,
        }
        if watched[1].any().unwrap_or(true) {
            return;
        }
        while shared.n_waiting() > MAX_WAITING_LINES {
            if shared.is_paused.load(Ordering::SeqCst) {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        // Before the read: what is read was typed before any later question.
        let n_asked = shared.n_asked.load(Ordering::SeqCst);
        let n_bytes = match read(&input, &mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(n_bytes) => n_bytes,
        };
        for byte in buffer.get(..n_bytes).unwrap_or_default() {
            if *byte != b'\n' {
                line.push(*byte);
            }
            if *byte == b'\n' || line.len() >= MAX_LINE_BYTES {
                shared.add_line(&line, n_asked);
                line.clear();
            }
        }
    }
    if !line.is_empty() {
        shared.add_line(&line, shared.n_asked.load(Ordering::SeqCst));
    }
    shared.has_ended.store(true, Ordering::SeqCst);
    shared.has_lines.notify_one();
}
