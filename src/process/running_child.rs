//! Runs a long-lived child: lines out of it, texts into it, an exit status at the end.
//!
//! Lines arrive on a bounded channel: a slow consumer slows the child down.

use std::collections::VecDeque;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::bubblewrap::SandboxSpec;
use super::child_launcher::{LaunchedChild, StdinMode, launch_child};
use super::head_tail_buffer::HeadTailBuffer;
use super::line_framer::{FramedLine, LineFramer, MAX_LINE_BYTES};
use super::pipe_reader::{PipeEnd, ReadDemand, ReadPacing, drain_pipe};
use super::process_table::ProcessIdentity;
use super::spawn_error::SpawnError;
use super::spawn_spec::SpawnSpec;
use super::stdin_writer::{InputHandle, stdin_writer};
use super::stop_ladder::{ProcessTreeEnd, StopChannels, StopLadder, wait_and_sweep};

/// The maximum number of queued batches of lines; a batch contains the lines that one read of a pipe
/// completed.
const MAX_QUEUED_BATCHES: usize = 4;
const STDERR_TAIL_BYTES: usize = 8 * 1024;
const STDERR_TAIL_LINES: usize = 40;

/// An event from a child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputEvent {
    /// A line of standard output, without its line end, with invalid UTF-8 replaced.
    Stdout(String),
    /// A line of standard error, likewise.
    Stderr(String),
    /// A line of more than 32 MiB.
    TooLong {
        stream: OutputStream,
        /// Its length in bytes.
        bytes: u64,
        /// Its first KiB.
        head: String,
    },
    /// The child has ended, its process tree is gone and all its output was returned.
    Ended(ChildExit),
}

/// One of a child's two outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputStream {
    Out,
    Err,
}

/// How a child ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildExit {
    /// The exit code, if it ended by itself.
    pub code: Option<i32>,
    /// The signal, if one ended it.
    pub signal: Option<i32>,
    /// The last 40 lines of standard error, at most 8 KiB, not sanitized.
    pub stderr_tail: String,
    /// Whether its pipes were read to their ends.
    pub pipes: PipeState,
    /// Processes that even KILL did not end; nearly always empty.
    pub survivors: Vec<u32>,
}

impl ChildExit {
    pub(super) fn new(end: ProcessTreeEnd, stderr_tail: String, pipes: PipeState) -> Self {
        use std::os::unix::process::ExitStatusExt as _;
        let code = end.status.and_then(|status: ExitStatus| status.code());
        let signal = end.status.and_then(|status| status.signal());
        Self {
            code,
            signal,
            stderr_tail,
            pipes,
            survivors: end.survivors,
        }
    }

    /// Returns true if the exit code was 0.
    pub fn is_success(&self) -> bool {
        self.code == Some(0)
    }

    /// Returns true if bubblewrap could not mount a path: a socket that `sandbox` hides disappeared between the
    /// check and its mount. The child's own program was not started then, unless it printed something before.
    pub fn is_sandbox_setup_failure(&self, sandbox: Option<&SandboxSpec>) -> bool {
        sandbox.is_some_and(|sandbox| !sandbox.hidden_sockets().is_empty())
            && !self.is_success()
            && self.stderr_tail.starts_with("bwrap: Can't ")
    }
}

/// Whether a child's pipes were read to their ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PipeState {
    Closed,
    /// A process that is not known to belong to the child kept one open; the child's own output is complete.
    LeftOpen,
}

impl PipeState {
    pub(super) fn from_pipe_ends(drained: [PipeEnd; 2]) -> Self {
        if drained.contains(&PipeEnd::LeftOpen) {
            Self::LeftOpen
        } else {
            Self::Closed
        }
    }
}

/// A running child. Dropping it kills the child with its process tree.
#[derive(Debug)]
pub struct RunningChild {
    id: ProcessIdentity,
    input: InputHandle,
    batches: mpsc::Receiver<Vec<OutputEvent>>,
    ready: VecDeque<OutputEvent>,
    pacing: ReadPacing,
    exit: PendingExit,
    stop: StopHandle,
    /// The tasks for reading, writing and waiting; they end with this value.
    _tasks: JoinSet<()>,
}

#[derive(Debug)]
enum PendingExit {
    Waiting(oneshot::Receiver<ChildExit>),
    Ready(ChildExit),
}

/// Stops a child while other code reads its lines.
#[derive(Debug, Clone)]
pub struct StopHandle(mpsc::Sender<StopLadder>);

impl StopHandle {
    /// Starts a stop ladder; a later call replaces an earlier one (`StopLadder::immediate()` ends the
    /// waiting).
    pub fn start_stopping(&self, ladder: StopLadder) {
        // A full channel means that eight stop requests are already queued, a closed one that the child is
        // gone.
        let _child_is_gone_or_stopping = self.0.try_send(ladder);
    }
}

/// Starts a child whose output lines are read.
///
/// # Errors
/// The child did not start; the error says why and what to do.
pub async fn spawn(spec: &SpawnSpec) -> Result<RunningChild, SpawnError> {
    let LaunchedChild { mut child, family } = launch_child(spec, StdinMode::Piped).await?;
    let (Some(stdin), Some(stdout), Some(stderr)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        let source = std::io::Error::other("the child has no pipes");
        return Err(SpawnError::Refused {
            program: spec.program.clone(),
            cwd: spec.cwd.clone(),
            source,
        });
    };
    let id = family.root;
    Ok(RunningChild::assemble(id, stdin, stdout, stderr, |reins| {
        wait_and_sweep(child, family, reins)
    }))
}

impl RunningChild {
    /// Assembles a child from its pipes and the future that waits for its end.
    pub(super) fn assemble<W>(
        id: ProcessIdentity,
        stdin: impl AsyncWrite + Send + Unpin + 'static,
        stdout: impl AsyncRead + Send + Unpin + 'static,
        stderr: impl AsyncRead + Send + Unpin + 'static,
        wait: impl FnOnce(StopChannels) -> W,
    ) -> Self
    where
        W: Future<Output = ProcessTreeEnd> + Send + 'static,
    {
        let (close_input, ended) = (CancellationToken::new(), CancellationToken::new());
        let (ladders_in, ladders) = mpsc::channel(8);
        let (lines, batches) = mpsc::channel(MAX_QUEUED_BATCHES);
        let (input, writer) = stdin_writer(stdin, close_input.clone());
        let (told, end) = oneshot::channel();
        let tail = Arc::new(Mutex::new(HeadTailBuffer::tail_only(STDERR_TAIL_BYTES)));

        let calm = ReadPacing::default();
        let ways = (ended.clone(), lines.clone());
        let out = read_lines(
            stdout,
            OutputStream::Out,
            ways.0,
            ways.1,
            calm.clone(),
            None,
        );
        let ways = (ended.clone(), lines);
        let err = read_lines(
            stderr,
            OutputStream::Err,
            ways.0,
            ways.1,
            calm.clone(),
            Some(tail.clone()),
        );
        let wait = wait(StopChannels {
            ladders,
            close_input,
            ended,
        });
        let mut tasks = JoinSet::new();
        tasks.spawn(writer);
        tasks.spawn(async move {
            // Each of these does its own work, but none outlives the others.
            let (end, out, err) = tokio::join!(wait, out, err);
            let tail = tail
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .last_lines(STDERR_TAIL_LINES);
            let _nobody_asks = told.send(ChildExit::new(
                end,
                tail,
                PipeState::from_pipe_ends([out, err]),
            ));
        });
        Self {
            id,
            input,
            batches,
            ready: VecDeque::new(),
            pacing: calm,
            exit: PendingExit::Waiting(end),
            stop: StopHandle(ladders_in),
            _tasks: tasks,
        }
    }

    /// Returns the child's process id.
    pub fn pid(&self) -> u32 {
        self.id.pid
    }

    /// Returns the child's identity, which a later process with the same pid does not share.
    pub fn identity(&self) -> ProcessIdentity {
        self.id
    }

    /// Returns a handle on the child's standard input.
    pub fn input(&self) -> InputHandle {
        self.input.clone()
    }

    /// Returns a handle that stops the child while its lines are still read here.
    pub fn stop_handle(&self) -> StopHandle {
        self.stop.clone()
    }

    /// Waits for the next event. Cancel safe; after the end it returns the end again.
    pub async fn next_event(&mut self) -> OutputEvent {
        loop {
            if let Some(line) = self.ready.pop_front() {
                return line;
            }
            if let Some(batch) = self.batches.recv().await {
                self.ready.extend(batch);
                // Take the batches that are ready, too: a consumer that comes rarely takes everything
                // available.
                for _ in 1..MAX_QUEUED_BATCHES {
                    self.ready
                        .extend(self.batches.try_recv().into_iter().flatten());
                }
                continue;
            }
            return OutputEvent::Ended(self.exit.wait_for_exit().await);
        }
    }

    /// Sets whether the consumer can wait a little (at most 33 ms) for lines that arrive word by word.
    pub fn set_relaxed_reading(&self, is_calm: bool) {
        self.pacing.set_relaxed(is_calm);
    }

    /// Returns a line that is already available; never returns the end.
    pub fn try_next_event(&mut self) -> Option<OutputEvent> {
        self.ready.pop_front()
    }

    /// Stops the child and discards its remaining output.
    pub async fn stop(&mut self, ladder: StopLadder) -> ChildExit {
        self.stop.start_stopping(ladder);
        loop {
            if let OutputEvent::Ended(exit) = self.next_event().await {
                return exit;
            }
        }
    }
}

impl PendingExit {
    async fn wait_for_exit(&mut self) -> ChildExit {
        let exit = match self {
            Self::Ready(exit) => return exit.clone(),
            Self::Waiting(told) => told.await.unwrap_or_else(|_| {
                let lost = ProcessTreeEnd {
                    status: None,
                    survivors: Vec::new(),
                };
                ChildExit::new(lost, String::new(), PipeState::LeftOpen)
            }),
        };
        *self = Self::Ready(exit.clone());
        exit
    }
}

async fn read_lines(
    pipe: impl AsyncRead + Unpin,
    stream: OutputStream,
    ended: CancellationToken,
    lines: mpsc::Sender<Vec<OutputEvent>>,
    calm: ReadPacing,
    tail: Option<Arc<Mutex<HeadTailBuffer>>>,
) -> PipeEnd {
    let mut framer = LineFramer::new(MAX_LINE_BYTES);
    let drained = drain_pipe(pipe, ended, calm, |bytes| {
        if let Some(tail) = &tail {
            tail.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(&bytes);
        }
        let batch = to_output_events(stream, framer.push(&bytes));
        let lines = &lines;
        async move {
            let wanted = batch.is_empty() || lines.send(batch).await.is_ok();
            if wanted {
                ReadDemand::More
            } else {
                ReadDemand::Stop
            }
        }
    })
    .await;
    let last = to_output_events(stream, framer.finish());
    if !last.is_empty() {
        let _nobody_reads = lines.send(last).await;
    }
    drained
}

fn to_output_events(
    stream: OutputStream,
    framed: impl IntoIterator<Item = FramedLine>,
) -> Vec<OutputEvent> {
    framed
        .into_iter()
        .map(|framed| match (framed, stream) {
            (FramedLine::Line(line), OutputStream::Out) => OutputEvent::Stdout(line),
            (FramedLine::Line(line), OutputStream::Err) => OutputEvent::Stderr(line),
            (FramedLine::TooLong { bytes, head }, stream) => OutputEvent::TooLong {
                stream,
                bytes,
                head,
            },
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    #[tokio::test]
    async fn who_comes_late_takes_all_that_waits() {
        let (mut says, stdout) = tokio::io::duplex(64);
        let id = ProcessIdentity {
            pid: 1,
            start_time: 0,
        };
        let pipes = (tokio::io::sink(), stdout, tokio::io::empty());
        let never = |_| std::future::pending();
        let mut running = RunningChild::assemble(id, pipes.0, pipes.1, pipes.2, never);
        for n in 1..=3 {
            says.write_all(b"a line\n").await.unwrap();
            while running.batches.len() < n {
                tokio::task::yield_now().await;
            }
        }
        assert_eq!(
            running.next_event().await,
            OutputEvent::Stdout("a line".to_owned())
        );
        let ready = std::iter::from_fn(|| running.try_next_event()).count();
        assert_eq!(ready, 2);
    }
}
