//! Ends the program on a signal while one of its writes is blocked.
//!
//! A write to a stopped terminal, or to a pipe whose reader does not read, blocks, and the main loop gets no signal. So
//! such writes are counted, and after a signal a separate task checks whether one is stuck. Does not know what is
//! written: the run's log is on disk by then.
//!
//! The screen's writes block only if its terminal cannot be opened again (`terminal::nonblocking_writer`): otherwise
//! its loop and the run continue. Other outputs cannot do that: a pipe is shared with others, whose writes must still
//! block.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::time::sleep;

use crate::engine::runtime_dir;

use super::oneshot_engine::terminate_remaining_processes;

/// Interval of the checks for a stuck write, and how many must find it in a row.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);
const CHECKS_UNTIL_STUCK: usize = 8;
/// The exit code of a program ended by a signal.
const INTERRUPTED_EXIT_CODE: i32 = 130;

/// Number of starts and ends of watched writes; odd during a write. Only the thread of the main loop writes.
static WRITE_TRANSITIONS: AtomicU64 = AtomicU64::new(0);

/// A writer that may block.
#[derive(Debug)]
pub struct WatchedWriter<W>(pub W);

impl<W: Write> Write for WatchedWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _under_way = WriteMarker::begin();
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        let _under_way = WriteMarker::begin();
        self.0.flush()
    }
}

/// Marks a write in progress until dropped.
struct WriteMarker;

impl WriteMarker {
    fn begin() -> Self {
        WRITE_TRANSITIONS.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for WriteMarker {
    fn drop(&mut self) {
        WRITE_TRANSITIONS.fetch_add(1, Ordering::Relaxed);
    }
}

/// Makes each of these signals end the program if a write is stuck. This stays on until the end: the very last write
/// may be the stuck one.
///
/// # Errors
/// The system reports an error.
pub fn exit_on_signal_if_stuck(kinds: &[SignalKind]) -> io::Result<()> {
    for kind in kinds {
        let mut signal = signal(*kind)?;
        tokio::spawn(async move {
            signal.recv().await;
            wait_for_stuck_write().await;
            terminate_remaining_processes().await;
            runtime_dir::release_user_dirs();
            std::process::exit(INTERRUPTED_EXIT_CODE);
        });
    }
    Ok(())
}

/// Waits until every check in a row has found the same write in progress.
async fn wait_for_stuck_write() {
    let (mut last, mut n_same) = (0, 0);
    while n_same < CHECKS_UNTIL_STUCK {
        sleep(CHECK_INTERVAL).await;
        let now = WRITE_TRANSITIONS.load(Ordering::Relaxed);
        n_same = if now % 2 == 1 && now == last {
            n_same + 1
        } else {
            0
        };
        last = now;
    }
}
