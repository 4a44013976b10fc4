//! The end although nobody reads: a signal ends the program also while one of its writes stands still.
//!
//! Who writes into a terminal whose output is stopped, or into a pipe that nobody empties, stands in that write and
//! hears nothing. So the writes that may stand are counted, and beside the loop it is looked, once a signal came,
//! whether one does. Refuses to know what is written: the run's record is on the disk by then.
//!
//! The screen's writes stand only where its terminal cannot be opened once more (`terminal::way`): elsewhere its loop goes
//! on, with the run. Here that cannot be had: a pipe is shared with others, for whom a write must go on waiting.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::time::sleep;

use crate::engine::runtime_dir;

use super::oneshot_engine::terminate_remaining_processes;

/// How often it is looked whether a write stands, and how often in a row it has to.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);
const CHECKS_UNTIL_STUCK: usize = 8;
/// The exit code of a program that a signal ended.
const INTERRUPTED_EXIT_CODE: i32 = 130;

/// How often one of the writes that may stand began or ended; odd while one is under way. The thread of the loop alone
/// makes them.
static WRITE_TRANSITIONS: AtomicU64 = AtomicU64::new(0);

/// A writer whose reader may stand still.
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

/// A write, while it is here.
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

/// From now on each of these signals ends the program where the loop cannot hear it. Nobody stops that: the last word
/// of all may be the write that stands.
///
/// # Errors
/// The system refuses.
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

/// Waits until one and the same write was under way at every look.
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
