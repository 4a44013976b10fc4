//! A thread that waits for standard input, and can be stopped while another program has the terminal.

use std::io::{self, PipeReader, PipeWriter, pipe};
use std::os::fd::AsFd;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// How long the thread waits where its reader has no room.
const ROOM_PAUSE: Duration = Duration::from_millis(5);
/// How long a stopped thread may take until it reads no more.
const STOP_WAIT: Duration = Duration::from_millis(100);

/// What the thread does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputFlow {
    /// Wait for more input.
    Continue,
    /// The same after a pause: what was read is not used yet.
    Pause,
    /// End: there is no more input.
    End,
}

/// Waits for standard input without waking up for anything else.
#[derive(Default)]
pub struct InputThread {
    running: Option<RunningThread>,
}

struct RunningThread {
    /// Closed to stop it.
    stop: PipeWriter,
    /// Disconnected at its end.
    end: Receiver<()>,
}

impl InputThread {
    /// Calls `on_input` whenever standard input has something to read or is closed, with what the system says about it.
    /// Does nothing if the thread runs.
    ///
    /// # Errors
    /// The system has no pipe or thread left.
    pub fn start(
        &mut self,
        name: &str,
        mut on_input: impl FnMut(PollFlags) -> InputFlow + Send + 'static,
    ) -> io::Result<()> {
        if self.running.is_some() {
            return Ok(());
        }
        // Not one that agents inherit: they would keep it open.
        let (stopped, stop) = pipe()?;
        let (ended, end) = channel::<()>();
        thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                let _ended = ended;
                while let Some(flags) = wait_for_input(&stopped) {
                    match on_input(flags) {
                        InputFlow::Continue => {}
                        InputFlow::Pause => thread::sleep(ROOM_PAUSE),
                        InputFlow::End => break,
                    }
                }
            })?;
        self.running = Some(RunningThread { stop, end });
        Ok(())
    }

    /// Ends the thread, which reads no more after that.
    pub fn stop(&mut self) {
        let Some(RunningThread { stop, end }) = self.running.take() else {
            return;
        };
        drop(stop);
        if end.recv_timeout(STOP_WAIT) == Err(RecvTimeoutError::Timeout) {
            tracing::warn!("the reader of the terminal did not stop");
        }
    }
}

impl Drop for InputThread {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Returns what standard input has by `timeout`; empty flags if it has nothing.
pub fn input_flags(timeout: PollTimeout) -> PollFlags {
    let input = io::stdin();
    let mut watched = [PollFd::new(input.as_fd(), PollFlags::POLLIN)];
    match poll(&mut watched, timeout) {
        Ok(1..) => watched[0].revents().unwrap_or(PollFlags::POLLIN),
        Ok(_) | Err(_) => PollFlags::empty(),
    }
}

/// Waits until standard input has something; `None` if `stopped` is closed.
fn wait_for_input(stopped: &PipeReader) -> Option<PollFlags> {
    let input = io::stdin();
    loop {
        let mut watched = [
            PollFd::new(input.as_fd(), PollFlags::POLLIN),
            PollFd::new(stopped.as_fd(), PollFlags::POLLIN),
        ];
        match poll(&mut watched, PollTimeout::NONE) {
            Err(Errno::EINTR) => continue,
            // Reading tells what is wrong.
            Err(_) => return Some(PollFlags::POLLERR),
            Ok(_) => {}
        }
        if watched[1].any().unwrap_or(true) {
            return None;
        }
        return Some(watched[0].revents().unwrap_or(PollFlags::POLLIN));
    }
}
