//! Reads the user's keys.
//!
//! crossterm's reader is only called on a thread of its own, and only where the terminal has something: it waits for the
//! rest of a sequence that is cut off, reads the end of the input again and again without ever saying so, and drops the
//! report of keys that come together with a new size. None of this may hold up the program.

use std::io;
use std::thread;
use std::time::Duration;

use crossterm::event::{Event as Input, poll, read};
use nix::poll::{PollFlags, PollTimeout};
use nix::sys::termios::{SetArg, tcgetattr, tcsetattr};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::Instant;

use super::input_thread::{InputFlow, InputThread, input_flags};

/// How many inputs come together at most.
const MAX_INPUT_BATCH: usize = 128;
/// How many batches wait at most before reading pauses.
const MAX_WAITING_BATCHES: usize = 16;
/// How often to look for input that is to be dropped.
const DISCARD_STEP: Duration = Duration::from_millis(1);

type InputBatch = io::Result<Vec<Input>>;

/// The user's keys, and what else the terminal reports.
pub struct KeyReader {
    thread: InputThread,
    sender: Sender<InputBatch>,
    batches: Receiver<InputBatch>,
}

impl Default for KeyReader {
    fn default() -> Self {
        let (sender, batches) = channel(MAX_WAITING_BATCHES);
        Self {
            thread: InputThread::default(),
            sender,
            batches,
        }
    }
}

impl KeyReader {
    /// Reads the terminal from now on.
    ///
    /// # Errors
    /// The system has no pipe or thread left.
    pub fn resume(&mut self) -> io::Result<()> {
        let sender = self.sender.clone();
        self.thread
            .start("keys", move |flags| send_batch(&sender, flags))
    }

    /// Leaves the terminal to another program. What was read stays.
    pub fn pause(&mut self) {
        self.thread.stop();
    }

    /// Waits for input and returns all that is there, fewer than 256. Cancel safe.
    ///
    /// # Errors
    /// The terminal cannot be read, or is gone.
    pub async fn next_batch(&mut self) -> InputBatch {
        let Some(first) = self.batches.recv().await else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        let mut inputs = first?;
        while inputs.len() < MAX_INPUT_BATCH
            && let Ok(more) = self.batches.try_recv()
        {
            inputs.extend(more?);
        }
        Ok(inputs)
    }

    /// Drops what comes until then, and pauses.
    pub fn discard_until(&mut self, until: Instant) {
        let is_gone = |batch| matches!(batch, Ok(Err(_)));
        while Instant::now() < until && !is_gone(self.batches.try_recv()) {
            thread::sleep(DISCARD_STEP);
        }
        self.pause();
    }
}

/// Reads what is there and sends it.
fn send_batch(sender: &Sender<InputBatch>, flags: PollFlags) -> InputFlow {
    if sender.capacity() == 0 {
        return InputFlow::Pause;
    }
    let is_gone = flags.intersects(PollFlags::POLLHUP | PollFlags::POLLERR | PollFlags::POLLNVAL);
    let batch = if is_gone {
        Err(io::ErrorKind::UnexpectedEof.into())
    } else {
        read_batch()
    };
    let flow = match &batch {
        Ok(inputs) if !inputs.is_empty() => InputFlow::Continue,
        // The beginning of a sequence.
        Ok(_) => return InputFlow::Pause,
        Err(_) => InputFlow::End,
    };
    // There is room, and the receiver lives longer than the thread, unless the program ends.
    match sender.try_send(batch) {
        Ok(()) => flow,
        Err(_) => InputFlow::End,
    }
}

/// Reads what is there. The new sizes among it are left out: a signal tells them.
fn read_batch() -> InputBatch {
    let mut inputs = Vec::new();
    while inputs.len() < MAX_INPUT_BATCH {
        if !poll(Duration::ZERO)? {
            if !input_flags(PollTimeout::ZERO).contains(PollFlags::POLLIN) {
                break;
            }
            rearm_reader();
            if !poll(Duration::ZERO)? {
                break;
            }
        }
        match read()? {
            Input::Resize(..) => {}
            input => inputs.push(input),
        }
    }
    Ok(inputs)
}

/// Makes the terminal report again that keys wait. crossterm drops that report where it comes together with a new size, or
/// with more than it reads at once: the rest would be read with the next key. The system reports it whenever the settings are set, to the same ones, too.
fn rearm_reader() {
    let stdin = io::stdin();
    let set = tcgetattr(&stdin).and_then(|same| tcsetattr(&stdin, SetArg::TCSANOW, &same));
    if let Err(error) = set {
        tracing::debug!(%error, "keys that came with a new size may be read late");
    }
}
