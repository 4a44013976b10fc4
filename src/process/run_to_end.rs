//! A short-lived child: bytes in, whole output and end out, within a time.
//!
//! Refuses to know what it ran. Whatever the child left behind is gone when this returns.

use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::capture::{Capture, Captured};
use super::drain::{Calm, Drained, Wanted, drain};
use super::error::SpawnError;
use super::launch::{Input, Launched, launch};
use super::running::{Exit, Pipes};
use super::spec::Spec;
use super::stop::{Ladder, Reins, wait_and_sweep};

/// What a short-lived child may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// How long it may run before it is stopped.
    pub timeout: Duration,
    /// How many bytes of each of its outputs are kept.
    pub cap: usize,
    /// What it reads.
    pub stdin: Stdin,
}

/// What a short-lived child reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing.
    Null,
    /// These bytes, then the end.
    Bytes(Vec<u8>),
}

/// A short-lived child's whole story.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// How it ended.
    pub exit: Exit,
    /// Who ended it.
    pub ended: Ended,
    /// Its standard output.
    pub stdout: Captured,
    /// Its standard error.
    pub stderr: Captured,
    /// From the start to the end of its whole family.
    pub duration: Duration,
}

impl Finished {
    /// Tells whether it ended by itself with exit code 0.
    pub fn is_success(&self) -> bool {
        self.ended == Ended::ByItself && self.exit.is_success()
    }
}

/// Who ended a short-lived child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Nobody.
    ByItself,
    /// We, because its time was up.
    TimedOut,
    /// We, because it was no longer wanted.
    Cancelled,
}

/// How often a containment is set up while sockets that it hides come and go.
const N_SETUPS: usize = 3;

/// Runs a child to its end: its own, its time's or its caller's. Dropped meanwhile, the child is killed.
///
/// # Errors
/// The child did not start; a child that fails is no error.
pub async fn run_to_end(
    spec: &Spec,
    limits: &Limits,
    cancel: &CancellationToken,
) -> Result<Finished, SpawnError> {
    let contained = spec.contained.as_ref();
    let hides_sockets = contained.is_some_and(|held| !held.hidden_sockets().is_empty());
    for _ in 1..N_SETUPS {
        let finished = run_once(spec, limits, cancel).await?;
        if !hides_sockets || !is_setup_failure(&finished) {
            return Ok(finished);
        }
    }
    run_once(spec, limits, cancel).await
}

/// Tells whether bubblewrap could not lay a place over another: a socket ended between the look at it and its mount. The
/// child's own program was not started then.
fn is_setup_failure(finished: &Finished) -> bool {
    finished.ended == Ended::ByItself
        && !finished.is_success()
        && finished.stdout.head.is_empty()
        && finished.stderr.head.starts_with(b"bwrap: Can't ")
}

async fn run_once(
    spec: &Spec,
    limits: &Limits,
    cancel: &CancellationToken,
) -> Result<Finished, SpawnError> {
    let started_at = Instant::now();
    let input = if limits.stdin == Stdin::Null {
        Input::Null
    } else {
        Input::Piped
    };
    let Launched { mut child, family } = launch(spec, input).await?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let ended = CancellationToken::new();
    let (orders, ladders) = mpsc::channel(1);
    let reins = Reins {
        ladders,
        close_input: CancellationToken::new(),
        ended: ended.clone(),
    };

    let work = async {
        tokio::join!(
            wait_and_sweep(child, family, reins),
            capture(stdout, limits.cap, ended.clone()),
            capture(stderr, limits.cap, ended.clone()),
            until(&ended, feed(stdin, &limits.stdin)),
        )
    };
    let watch = async {
        let by = tokio::select! {
            () = ended.cancelled() => Ended::ByItself,
            () = tokio::time::sleep(limits.timeout) => Ended::TimedOut,
            () = cancel.cancelled() => Ended::Cancelled,
        };
        if by != Ended::ByItself {
            let _ended_meanwhile = orders.try_send(Ladder::brief());
        }
        by
    };
    let ((end, (out, stdout), (err, stderr), _), by) = tokio::join!(work, watch);
    let exit = Exit::new(end, tail_of(&stderr), Pipes::of([out, err]));
    Ok(Finished {
        exit,
        ended: by,
        stdout,
        stderr,
        duration: started_at.elapsed(),
    })
}

async fn feed(stdin: Option<tokio::process::ChildStdin>, bytes: &Stdin) {
    if let (Some(mut stdin), Stdin::Bytes(bytes)) = (stdin, bytes) {
        // A child may well end without reading everything.
        let _not_wanted = stdin.write_all(bytes).await;
    }
}

async fn until(ended: &CancellationToken, work: impl Future<Output = ()>) -> Option<()> {
    ended.run_until_cancelled(work).await
}

async fn capture(
    pipe: Option<impl tokio::io::AsyncRead + Unpin>,
    cap: usize,
    ended: CancellationToken,
) -> (Drained, Captured) {
    let mut capture = Capture::new(cap);
    let Some(pipe) = pipe else {
        return (Drained::ToTheEnd, capture.finish());
    };
    let drained = drain(pipe, ended, Calm::default(), |bytes| {
        capture.push(&bytes);
        std::future::ready(Wanted::More)
    })
    .await;
    (drained, capture.finish())
}

fn tail_of(stderr: &Captured) -> String {
    let mut capture = Capture::tail_only(8 * 1024);
    capture.push(&stderr.head);
    capture.push(&stderr.tail);
    capture.last_lines(40)
}
