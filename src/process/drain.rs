//! Reads a child's pipe to its end, and no longer than the child's own bytes need.
//!
//! Refuses to understand the bytes. A pipe can outlive its child in the hands of a process that
//! nobody found; it is then left open behind, once it is silent or has been heard long enough.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

/// How long a pipe may be silent once the child's family is gone. What the child itself wrote is in
/// the pipe by then, so nothing of it is lost.
const SILENCE: Duration = Duration::from_millis(250);
/// How long a pipe is heard at the most once the child's family is gone, in reading time.
const HEARING: Duration = Duration::from_secs(2);
/// How much is read at once where little comes, and where much does.
const SIP: usize = 4 * 1024;
const GULP: usize = 64 * 1024;
/// How long after a sip the next one is taken where nobody is in a hurry: what is said word by word is heard thirty
/// times a second, and each time costs the same.
const BETWEEN_SIPS: Duration = Duration::from_millis(33);

/// Whether those who take what is read can wait a little for more of it. Whoever holds it may change it at any time.
#[derive(Debug, Clone, Default)]
pub(super) struct Calm(Arc<AtomicBool>);

impl Calm {
    pub(super) fn set(&self, is_calm: bool) {
        self.0.store(is_calm, Ordering::Relaxed);
    }

    fn is_calm(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How a pipe was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Drained {
    /// Read to its end.
    ToTheEnd,
    /// Somebody still holds its other side.
    LeftOpen,
}

/// Whether more bytes are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    More,
    Nothing,
}

/// Reads a pipe and hands every piece over, waiting until it is taken.
pub(super) async fn drain<R, S, F>(
    mut pipe: R,
    ended: CancellationToken,
    calm: Calm,
    mut sink: S,
) -> Drained
where
    R: AsyncRead + Unpin,
    S: FnMut(Vec<u8>) -> F,
    F: Future<Output = Wanted>,
{
    let mut buffer = vec![0; SIP];
    let mut heard = Duration::ZERO;
    loop {
        let read = if ended.is_cancelled() {
            let since = Instant::now();
            let Ok(read) = timeout(SILENCE, pipe.read(&mut buffer)).await else {
                return Drained::LeftOpen;
            };
            heard += since.elapsed();
            if heard > HEARING {
                return Drained::LeftOpen;
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
            Ok(0) | Err(_) => return Drained::ToTheEnd,
            Ok(n) if sink(buffer[..n].to_vec()).await == Wanted::Nothing => {
                return Drained::ToTheEnd;
            }
            Ok(n) if n == buffer.len() => buffer.resize((4 * n).min(GULP), 0),
            Ok(n) if n < SIP && calm.is_calm() => tokio::select! {
                () = sleep_until(read_at + BETWEEN_SIPS) => {}
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

    /// After how long each of two words is heard, in ms, where the second is said 1 ms after the first.
    async fn check(is_calm: bool, first: usize, expected: [u64; 2]) {
        let (mut says, pipe) = tokio::io::duplex(GULP);
        let calm = Calm::default();
        calm.set(is_calm);
        let (heard, begun) = (std::sync::Mutex::new(Vec::new()), Instant::now());
        let speaks = async {
            says.write_all(&vec![b'a'; first]).await.unwrap();
            tokio::time::sleep(Duration::from_millis(1)).await;
            says.write_all(b"b").await.unwrap();
            // The pipe ends only once both were heard.
            tokio::time::sleep(Duration::from_secs(1)).await;
            drop(says);
        };
        let hears = drain(pipe, CancellationToken::new(), calm, |_| {
            heard.lock().unwrap().push(begun.elapsed().as_millis());
            async { Wanted::More }
        });
        let (drained, ()) = tokio::join!(hears, speaks);
        assert_eq!(drained, Drained::ToTheEnd);
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
        check(true, SIP, [0, 1]).await;
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_of_a_child_waits_for_no_calm() {
        let (mut says, pipe) = tokio::io::duplex(64);
        let (calm, ended) = (Calm::default(), CancellationToken::new());
        calm.set(true);
        says.write_all(b"a").await.unwrap();
        ended.cancel();
        drop(says);
        let begun = Instant::now();
        let drained = drain(pipe, ended, calm, |_| async { Wanted::More }).await;
        assert_eq!(
            (drained, begun.elapsed()),
            (Drained::ToTheEnd, Duration::ZERO)
        );
    }
}
