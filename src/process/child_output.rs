//! A short-lived child: bytes in, whole output and end out, within a time.
//!
//! Refuses to know what it ran. Whatever the child left behind is gone when this returns.

use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::child_launcher::{LaunchedChild, StdinMode, launch_child};
use super::head_tail_buffer::{CapturedOutput, HeadTailBuffer};
use super::pipe_reader::{PipeEnd, ReadDemand, ReadPacing, drain_pipe};
use super::running_child::{ChildExit, PipeState};
use super::spawn_error::SpawnError;
use super::spawn_spec::SpawnSpec;
use super::stop_ladder::{StopChannels, StopLadder, wait_and_sweep};

/// What a short-lived child may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLimits {
    /// How long it may run before it is stopped.
    pub timeout: Duration,
    /// How many bytes of each of its outputs are kept.
    pub output_cap: usize,
    /// What it reads.
    pub stdin: StdinSource,
}

/// What a short-lived child reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StdinSource {
    /// Nothing.
    Null,
    /// These bytes, then the end.
    Bytes(Vec<u8>),
}

/// A short-lived child's whole story.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandOutput {
    /// How it ended.
    pub exit: ChildExit,
    /// Who ended it.
    pub end_cause: CommandEndCause,
    /// Its standard output.
    pub stdout: CapturedOutput,
    /// Its standard error.
    pub stderr: CapturedOutput,
    /// From the start to the end of its whole family.
    pub duration: Duration,
}

impl CommandOutput {
    /// Tells whether it ended by itself with exit code 0.
    pub fn is_success(&self) -> bool {
        self.end_cause == CommandEndCause::ByItself && self.exit.is_success()
    }
}

/// Who ended a short-lived child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandEndCause {
    /// Nobody.
    ByItself,
    /// We, because its time was up.
    TimedOut,
    /// We, because it was no longer wanted.
    Cancelled,
}

/// How often a containment is set up while sockets that it hides come and go.
const MAX_SANDBOX_SETUPS: usize = 3;

/// Runs a child to its end: its own, its time's or its caller's. Dropped meanwhile, the child is killed.
///
/// # Errors
/// The child did not start; a child that fails is no error.
pub async fn run_to_end(
    spec: &SpawnSpec,
    limits: &CommandLimits,
    cancel: &CancellationToken,
) -> Result<CommandOutput, SpawnError> {
    let contained = spec.sandbox.as_ref();
    let hides_sockets = contained.is_some_and(|held| !held.hidden_sockets().is_empty());
    for _ in 1..MAX_SANDBOX_SETUPS {
        let finished = run_once(spec, limits, cancel).await?;
        if !hides_sockets || !is_setup_failure(&finished) {
            return Ok(finished);
        }
    }
    run_once(spec, limits, cancel).await
}

/// Tells whether bubblewrap could not lay a place over another: a socket ended between the look at it and its mount. The
/// child's own program was not started then.
fn is_setup_failure(finished: &CommandOutput) -> bool {
    finished.end_cause == CommandEndCause::ByItself
        && !finished.is_success()
        && finished.stdout.head.is_empty()
        && finished.stderr.head.starts_with(b"bwrap: Can't ")
}

async fn run_once(
    spec: &SpawnSpec,
    limits: &CommandLimits,
    cancel: &CancellationToken,
) -> Result<CommandOutput, SpawnError> {
    let started_at = Instant::now();
    let input = if limits.stdin == StdinSource::Null {
        StdinMode::Null
    } else {
        StdinMode::Piped
    };
    let LaunchedChild { mut child, family } = launch_child(spec, input).await?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let ended = CancellationToken::new();
    let (orders, ladders) = mpsc::channel(1);
    let reins = StopChannels {
        ladders,
        close_input: CancellationToken::new(),
        ended: ended.clone(),
    };

    let work = async {
        tokio::join!(
            wait_and_sweep(child, family, reins),
            capture_pipe(stdout, limits.output_cap, ended.clone()),
            capture_pipe(stderr, limits.output_cap, ended.clone()),
            run_until_ended(&ended, write_stdin(stdin, &limits.stdin)),
        )
    };
    let watch = async {
        let by = tokio::select! {
            () = ended.cancelled() => CommandEndCause::ByItself,
            () = tokio::time::sleep(limits.timeout) => CommandEndCause::TimedOut,
            () = cancel.cancelled() => CommandEndCause::Cancelled,
        };
        if by != CommandEndCause::ByItself {
            let _ended_meanwhile = orders.try_send(StopLadder::brief());
        }
        by
    };
    let ((end, (out, stdout), (err, stderr), _), by) = tokio::join!(work, watch);
    let exit = ChildExit::new(
        end,
        stderr_tail(&stderr),
        PipeState::from_pipe_ends([out, err]),
    );
    Ok(CommandOutput {
        exit,
        end_cause: by,
        stdout,
        stderr,
        duration: started_at.elapsed(),
    })
}

async fn write_stdin(stdin: Option<tokio::process::ChildStdin>, bytes: &StdinSource) {
    if let (Some(mut stdin), StdinSource::Bytes(bytes)) = (stdin, bytes) {
        // A child may well end without reading everything.
        let _not_wanted = stdin.write_all(bytes).await;
    }
}

async fn run_until_ended(ended: &CancellationToken, work: impl Future<Output = ()>) -> Option<()> {
    ended.run_until_cancelled(work).await
}

async fn capture_pipe(
    pipe: Option<impl tokio::io::AsyncRead + Unpin>,
    cap: usize,
    ended: CancellationToken,
) -> (PipeEnd, CapturedOutput) {
    let mut capture = HeadTailBuffer::new(cap);
    let Some(pipe) = pipe else {
        return (PipeEnd::Eof, capture.finish());
    };
    let drained = drain_pipe(pipe, ended, ReadPacing::default(), |bytes| {
        capture.push(&bytes);
        std::future::ready(ReadDemand::More)
    })
    .await;
    (drained, capture.finish())
}

fn stderr_tail(stderr: &CapturedOutput) -> String {
    let mut capture = HeadTailBuffer::tail_only(8 * 1024);
    capture.push(&stderr.head);
    capture.push(&stderr.tail);
    capture.last_lines(40)
}
