//! Runs a short-lived child: input bytes in, whole output and exit status out, within a time limit.
//!
//! Everything that the child left behind is gone when the call returns.

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

/// The limits and the input of a short-lived child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLimits {
    /// How long it may run before it is stopped.
    pub timeout: Duration,
    /// How many bytes of each of its outputs are kept.
    pub output_cap: usize,
    pub stdin: StdinSource,
}

/// The standard input of a short-lived child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StdinSource {
    Null,
    /// These bytes, then end of file.
    Bytes(Vec<u8>),
}

/// The result of a short-lived child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandOutput {
    pub exit: ChildExit,
    pub end_cause: CommandEndCause,
    pub stdout: CapturedOutput,
    pub stderr: CapturedOutput,
    /// The time from its start to the end of its whole process tree.
    pub duration: Duration,
}

impl CommandOutput {
    /// Returns true if it ended by itself with exit code 0.
    pub fn is_success(&self) -> bool {
        self.end_cause == CommandEndCause::ByItself && self.exit.is_success()
    }
}

/// What ended a short-lived child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandEndCause {
    ByItself,
    /// This program, because the time limit was reached.
    TimedOut,
    /// This program, because the caller cancelled it.
    Cancelled,
}

/// How often a sandbox is set up at most while sockets that it hides come and go.
pub const MAX_SANDBOX_SETUPS: usize = 3;

/// Runs a child until it ends by itself, its time is up, or the caller cancels it. If the future is dropped,
/// the child is killed.
///
/// # Errors
/// The child did not start; a child that fails is not an error.
pub async fn run_to_end(
    spec: &SpawnSpec,
    limits: &CommandLimits,
    cancel: &CancellationToken,
) -> Result<CommandOutput, SpawnError> {
    for _ in 1..MAX_SANDBOX_SETUPS {
        let finished = run_once(spec, limits, cancel).await?;
        let by_itself = finished.end_cause == CommandEndCause::ByItself;
        let is_setup_failure = by_itself
            && finished.stdout.head.is_empty()
            && finished
                .exit
                .is_sandbox_setup_failure(spec.sandbox.as_ref());
        if !is_setup_failure {
            return Ok(finished);
        }
    }
    run_once(spec, limits, cancel).await
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
        // A child may end without reading everything.
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
