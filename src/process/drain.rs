//! Reads a child's pipe to its end, and no longer than the child's own bytes need.
//!
//! Refuses to understand the bytes. A pipe can outlive its child in the hands of a process that
//! nobody found; it is then left open behind, once it is silent or has been heard long enough.

use std::future::Future;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

/// How long a pipe may be silent once the child's family is gone. What the child itself wrote is in
/// the pipe by then, so nothing of it is lost.
const SILENCE: Duration = Duration::from_millis(250);
/// How long a pipe is heard at the most once the child's family is gone, in reading time.
const HEARING: Duration = Duration::from_secs(2);
/// How much is read at once where little comes, and where much does.
const SIP: usize = 4 * 1024;
const GULP: usize = 64 * 1024;

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
pub(super) async fn drain<R, S, F>(mut pipe: R, ended: CancellationToken, mut sink: S) -> Drained
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
        match read {
            Ok(0) | Err(_) => return Drained::ToTheEnd,
            Ok(n) if sink(buffer[..n].to_vec()).await == Wanted::Nothing => {
                return Drained::ToTheEnd;
            }
            Ok(n) if n == buffer.len() => buffer.resize((4 * n).min(GULP), 0),
            Ok(_) => {}
        }
    }
}
