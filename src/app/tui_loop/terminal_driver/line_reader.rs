//! Reads the user's lines in linear mode, each with the number of the last question that was printed before it was
//! typed.
//!
//! A thread of its own reads at once whatever is there, so that a line which waits in the input is known as older than
//! the next question. It never reads while another program has the terminal.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use nix::poll::PollTimeout;
use nix::unistd::read;
use tokio::sync::Notify;

use super::input_thread::{InputFlow, InputThread, input_flags};

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
    n_asked: AtomicU64,
}

#[derive(Default)]
pub struct LineReader {
    shared: Arc<SharedLines>,
    thread: InputThread,
    is_end_reported: bool,
}

impl LineReader {
    /// Reads standard input from now on.
    ///
    /// # Errors
    /// The system has no pipe or thread left.
    pub fn resume(&mut self) -> io::Result<()> {
        if self.shared.has_ended.load(Ordering::SeqCst) {
            return Ok(());
        }
        let mut reading = LineReading {
            shared: Arc::clone(&self.shared),
            line: Vec::new(),
            buffer: vec![0; 64 << 10],
        };
        self.thread.start("lines", move |_| reading.read())
    }

    /// Leaves standard input to another program. What was read stays.
    pub fn pause(&mut self) {
        self.thread.stop();
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
            if self.shared.has_ended.load(Ordering::SeqCst)
                || input_flags(PollTimeout::ZERO).is_empty()
            {
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

/// The thread's part of reading.
struct LineReading {
    shared: Arc<SharedLines>,
    /// The line whose end is not read yet.
    line: Vec<u8>,
    buffer: Vec<u8>,
}

impl LineReading {
    /// Reads what is there, or the end of the input.
    fn read(&mut self) -> InputFlow {
        if self.shared.n_waiting() > MAX_WAITING_LINES {
            return InputFlow::Pause;
        }
        // Before the read: what is read was typed before any later question.
        let n_asked = self.shared.n_asked.load(Ordering::SeqCst);
        match read(io::stdin(), &mut self.buffer) {
            Ok(0) | Err(_) => {
                self.end();
                InputFlow::End
            }
            Ok(n_bytes) => {
                self.add_bytes(n_bytes, n_asked);
                InputFlow::Continue
            }
        }
    }

    fn add_bytes(&mut self, n_bytes: usize, n_asked: u64) {
        for byte in self.buffer.get(..n_bytes).unwrap_or_default() {
            if *byte != b'\n' {
                self.line.push(*byte);
            }
            if *byte == b'\n' || self.line.len() >= MAX_LINE_BYTES {
                self.shared.add_line(&self.line, n_asked);
                self.line.clear();
            }
        }
    }

    fn end(&mut self) {
        if !self.line.is_empty() {
            let n_asked = self.shared.n_asked.load(Ordering::SeqCst);
            self.shared.add_line(&self.line, n_asked);
        }
        self.shared.has_ended.store(true, Ordering::SeqCst);
        self.shared.has_lines.notify_one();
    }
}
