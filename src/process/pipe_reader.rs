//! Reads a child's pipe to its end, and no longer than the child's own bytes need.
//!
//! A pipe can outlive its child if an unknown process keeps it open. It is then left open after it was
//! silent, or was read, for long enough.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

/// How long a pipe may be silent after the child's process tree is gone. The child's own output is in the
/// pipe by then, so nothing of it is lost.
const MAX_SILENCE_AFTER_END: Duration = Duration::from_millis(250);
/// The maximum reading time of a pipe after the child's process tree is gone.
const MAX_READ_TIME_AFTER_END: Duration = Duration::from_secs(2);
/// The size of one read: small when little output arrives, large when much does.
const SMALL_READ_BYTES: usize = 4 * 1024;
const LARGE_READ_BYTES: usize = 64 * 1024;
/// The delay after a small read if the reader is not in a hurry: output that arrives word by word is read
/// thirty times a second, and each read costs the same.
const SMALL_READ_INTERVAL: Duration = Duration::from_millis(33);

/// Whether the consumer can wait a little for more output. Any clone can change it at any time.
#[derive(Debug, Clone, Default)]
pub(super) struct ReadPacing(Arc<AtomicBool>);

impl ReadPacing {
    pub(super) fn set_relaxed(&self, is_calm: bool) {
        self.0.store(is_calm, Ordering::Relaxed);
    }

    fn is_relaxed(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How reading a pipe ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PipeEnd {
    /// At the end of the pipe.
    Eof,
    /// Another process still has the other end open.
    LeftOpen,
}

/// Whether more bytes are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadDemand {
    More,
    Stop,
}

/// Reads a pipe and passes every piece on, waiting until it is accepted.
pub(super) async fn drain_pipe<R, S, F>(
    mut pipe: R,
    ended: CancellationToken,
    calm: ReadPacing,
    mut sink: S,
) -> PipeEnd
where
    R: AsyncRead + Unpin,
    S: FnMut(Vec<u8>) -> F,
    F: Future<Output = ReadDemand>,
{
    let mut buffer = vec![0; SMALL_READ_BYTES];
    let mut heard = Duration::ZERO;
    loop {
        let read = if ended.is_cancelled() {
            let since = Instant::now();
            let Ok(read) = timeout(MAX_SILENCE_AFTER_END, pipe.read(&mut buffer)).await else {
                return PipeEnd::LeftOpen;
            };
            heard += since.elapsed();
            if heard > MAX_READ_TIME_AFTER_END {
                return PipeEnd::LeftOpen;
            }
            read
        } else {
            tokio::select! {
                read = pipe.read(&mut buffer) => read,
                () = ended.cancelled() => continue,
            }
        };
        let read_at = Instant::now();
        match read {
            Ok(0) | Err(_) => return PipeEnd::Eof,
            Ok(n) if sink(buffer[..n].to_vec()).await == ReadDemand::Stop => {
                return PipeEnd::Eof;
            }
            // A full buffer means that much output arrives: read more at once.
            Ok(n) if n == buffer.len() => buffer.resize((4 * n).min(LARGE_READ_BYTES), 0),
            Ok(n) if n < SMALL_READ_BYTES && calm.is_relaxed() => tokio::select! {
                () = sleep_until(read_at + SMALL_READ_INTERVAL) => {}
                () = ended.cancelled() => {}
            },
            Ok(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    /// Checks the delay in ms after which each of two words is read, when the second is written 1 ms after
    /// the first.
    async fn check(is_calm: bool, first: usize, expected: [u64; 2]) {
        let (mut says, pipe) = tokio::io::duplex(LARGE_READ_BYTES);
        let calm = ReadPacing::default();
        calm.set_relaxed(is_calm);
        let (heard, started) = (std::sync::Mutex::new(Vec::new()), Instant::now());
        let speaks = async {
            says.write_all(&vec![b'a'; first]).await.unwrap();
            tokio::time::sleep(Duration::from_millis(1)).await;
            says.write_all(b"b").await.unwrap();
            // The pipe is closed only after both were read.
            tokio::time::sleep(Duration::from_secs(1)).await;
            drop(says);
        };
        let hears = drain_pipe(pipe, CancellationToken::new(), calm, |_| {
            heard.lock().unwrap().push(started.elapsed().as_millis());
            async { ReadDemand::More }
        });
        let (drained, ()) = tokio::join!(hears, speaks);
        assert_eq!(drained, PipeEnd::Eof);
        let expected = expected.map(u128::from);
        assert_eq!(heard.into_inner().unwrap(), expected);
    }

    #[tokio::test(start_paused = true)]
    async fn words_are_heard_together_only_where_nobody_is_in_a_hurry() {
        check(false, 1, [0, 1]).await;
        check(true, 1, [0, 33]).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_is_read_as_it_comes() {
        check(true, SMALL_READ_BYTES, [0, 1]).await;
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_of_a_child_waits_for_no_calm() {
        let (mut says, pipe) = tokio::io::duplex(64);
        let (calm, ended) = (ReadPacing::default(), CancellationToken::new());
        calm.set_relaxed(true);
        says.write_all(b"a").await.unwrap();
        ended.cancel();
        drop(says);
        let started = Instant::now();
        let drained = drain_pipe(pipe, ended, calm, |_| async { ReadDemand::More }).await;
        assert_eq!((drained, started.elapsed()), (PipeEnd::Eof, Duration::ZERO));
    }
}
