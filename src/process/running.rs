//! A long-lived child: lines out of it, texts into it, an end.
//!
//! Refuses to know the protocol. Lines arrive on a bounded channel: whoever is slow to take them
//! slows the child.

use std::collections::VecDeque;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::capture::Capture;
use super::drain::{Calm, Drained, Wanted, drain};
use super::error::SpawnError;
use super::frame::{Framed, Framer, LINE_CAP};
use super::input::{InputHandle, input};
use super::launch::{Input, Launched, launch};
use super::spec::Spec;
use super::stop::{End, Ladder, Reins, wait_and_sweep};
use super::table::ProcessIdentity;

/// How many batches of lines may wait; one batch is what one read of a pipe finished.
const BATCHES: usize = 4;
const TAIL_BYTES: usize = 8 * 1024;
const TAIL_LINES: usize = 40;

/// What comes out of a child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A line of standard output, without its line end, invalid UTF-8 replaced.
    Out(String),
    /// A line of standard error, likewise.
    Err(String),
    /// A line of more than 32 MiB.
    TooLong {
        /// Where it came.
        stream: Stream,
        /// Its length in bytes.
        bytes: u64,
        /// Its first KiB.
        head: String,
    },
    /// The child has ended, its family is gone and all it said was given.
    Ended(Exit),
}

/// One of a child's two outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// How a child ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// The exit code, where it ended by itself.
    pub code: Option<i32>,
    /// The signal, where one ended it.
    pub signal: Option<i32>,
    /// The last 40 lines of standard error, 8 KiB at the most, cleaned by nobody.
    pub stderr_tail: String,
    /// Whether its pipes were read to their ends.
    pub pipes: Pipes,
    /// Processes that even KILL did not end; nearly always none.
    pub survivors: Vec<u32>,
}

impl Exit {
    pub(super) fn new(end: End, stderr_tail: String, pipes: Pipes) -> Self {
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

    /// Tells whether the exit code was 0.
    pub fn is_success(&self) -> bool {
        self.code == Some(0)
    }
}

/// Whether a child's pipes were read to their ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pipes {
    /// Yes.
    Closed,
    /// A process that is not known as the child's kept one open; what the child said is complete.
    LeftOpen,
}

impl Pipes {
    pub(super) fn of(drained: [Drained; 2]) -> Self {
        if drained.contains(&Drained::LeftOpen) {
            Self::LeftOpen
        } else {
            Self::Closed
        }
    }
}

/// A child that runs. Dropped, it is killed with its family.
#[derive(Debug)]
pub struct Running {
    id: ProcessIdentity,
    input: InputHandle,
    batches: mpsc::Receiver<Vec<Line>>,
    ready: VecDeque<Line>,
    calm: Calm,
    end: EndOf,
    stop: StopHandle,
    /// Readers, writer and waiter; they go with this value.
    _tasks: JoinSet<()>,
}

#[derive(Debug)]
enum EndOf {
    Awaited(oneshot::Receiver<Exit>),
    Known(Exit),
}

/// Stops a child while somebody else takes its lines.
#[derive(Debug, Clone)]
pub struct StopHandle(mpsc::Sender<Ladder>);

impl StopHandle {
    /// Begins to climb a ladder; a later call replaces an earlier one (`Ladder::now()` ends all patience).
    pub fn begin(&self, ladder: Ladder) {
        // Full means that eight orders wait already, closed that the child is gone.
        let _child_is_gone_or_stopping = self.0.try_send(ladder);
    }
}

/// Starts a child whose lines are wanted.
///
/// # Errors
/// The child did not start; the error says why and what to do.
pub async fn spawn(spec: &Spec) -> Result<Running, SpawnError> {
    let Launched { mut child, family } = launch(spec, Input::Piped).await?;
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
    Ok(Running::assemble(id, (stdin, stdout, stderr), |reins| {
        wait_and_sweep(child, family, reins)
    }))
}

impl Running {
    /// Puts a child together from its pipes and from what waits for its end.
    pub(super) fn assemble<W>(
        id: ProcessIdentity,
        (stdin, stdout, stderr): (
            impl AsyncWrite + Send + Unpin + 'static,
            impl AsyncRead + Send + Unpin + 'static,
            impl AsyncRead + Send + Unpin + 'static,
        ),
        wait: impl FnOnce(Reins) -> W,
    ) -> Self
    where
        W: Future<Output = End> + Send + 'static,
    {
        let (close_input, ended) = (CancellationToken::new(), CancellationToken::new());
        let (ladders_in, ladders) = mpsc::channel(8);
        let (lines, batches) = mpsc::channel(BATCHES);
        let (input, writer) = input(stdin, close_input.clone());
        let (told, end) = oneshot::channel();
        let tail = Arc::new(Mutex::new(Capture::tail_only(TAIL_BYTES)));

        let calm = Calm::default();
        let ways = (ended.clone(), lines.clone());
        let out = read(stdout, Stream::Out, ways, calm.clone(), None);
        let ways = (ended.clone(), lines);
        let err = read(stderr, Stream::Err, ways, calm.clone(), Some(tail.clone()));
        let wait = wait(Reins {
            ladders,
            close_input,
            ended,
        });
        let mut tasks = JoinSet::new();
        tasks.spawn(writer);
        tasks.spawn(async move {
            // Each is a task's work of its own, but none outlives the others.
            let (end, out, err) = tokio::join!(wait, out, err);
            let tail = tail
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .last_lines(TAIL_LINES);
            let _nobody_asks = told.send(Exit::new(end, tail, Pipes::of([out, err])));
        });
        Self {
            id,
            input,
            batches,
            ready: VecDeque::new(),
            calm,
            end: EndOf::Awaited(end),
            stop: StopHandle(ladders_in),
            _tasks: tasks,
        }
    }

    /// The child's process number.
    pub fn pid(&self) -> u32 {
        self.id.pid
    }

    /// The child, told apart from a later process of the same number.
    pub fn started(&self) -> ProcessIdentity {
        self.id
    }

    /// A handle on the child's standard input.
    pub fn input(&self) -> InputHandle {
        self.input.clone()
    }

    /// A handle that stops the child while its lines go on being taken here.
    pub fn stop_handle(&self) -> StopHandle {
        self.stop.clone()
    }

    /// Waits for what comes next. Cancel safe; after the end it gives the end again.
    pub async fn next(&mut self) -> Line {
        loop {
            if let Some(line) = self.ready.pop_front() {
                return line;
            }
            if let Some(batch) = self.batches.recv().await {
                self.ready.extend(batch);
                // Those behind it, too: whoever comes seldom takes all that is there.
                for _ in 1..BATCHES {
                    self.ready
                        .extend(self.batches.try_recv().into_iter().flatten());
                }
                continue;
            }
            return Line::Ended(self.end.wait().await);
        }
    }

    /// Says whether whoever takes the lines can wait a little (33 ms at the most) for those that come word by word.
    pub fn set_calm(&self, is_calm: bool) {
        self.calm.set(is_calm);
    }

    /// Takes a line that is here already; the end is never given so.
    pub fn take_ready(&mut self) -> Option<Line> {
        self.ready.pop_front()
    }

    /// Stops the child and throws away what it still says.
    pub async fn stop(&mut self, ladder: Ladder) -> Exit {
        self.stop.begin(ladder);
        loop {
            if let Line::Ended(exit) = self.next().await {
                return exit;
            }
        }
    }
}

impl EndOf {
    async fn wait(&mut self) -> Exit {
        let exit = match self {
            Self::Known(exit) => return exit.clone(),
            Self::Awaited(told) => told.await.unwrap_or_else(|_| {
                let lost = End {
                    status: None,
                    survivors: Vec::new(),
                };
                Exit::new(lost, String::new(), Pipes::LeftOpen)
            }),
        };
        *self = Self::Known(exit.clone());
        exit
    }
}

async fn read(
    pipe: impl AsyncRead + Unpin,
    stream: Stream,
    (ended, lines): (CancellationToken, mpsc::Sender<Vec<Line>>),
    calm: Calm,
    tail: Option<Arc<Mutex<Capture>>>,
) -> Drained {
    let mut framer = Framer::new(LINE_CAP);
    let drained = drain(pipe, ended, calm, |bytes| {
        if let Some(tail) = &tail {
            tail.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(&bytes);
        }
        let batch = named(stream, framer.push(&bytes));
        let lines = &lines;
        async move {
            let wanted = batch.is_empty() || lines.send(batch).await.is_ok();
            if wanted {
                Wanted::More
            } else {
                Wanted::Nothing
            }
        }
    })
    .await;
    let last = named(stream, framer.finish());
    if !last.is_empty() {
        let _nobody_reads = lines.send(last).await;
    }
    drained
}

fn named(stream: Stream, framed: impl IntoIterator<Item = Framed>) -> Vec<Line> {
    framed
        .into_iter()
        .map(|framed| match (framed, stream) {
            (Framed::Line(line), Stream::Out) => Line::Out(line),
            (Framed::Line(line), Stream::Err) => Line::Err(line),
            (Framed::TooLong { bytes, head }, stream) => Line::TooLong {
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
        let mut running = Running::assemble(id, pipes, never);
        for n in 1..=3 {
            says.write_all(b"a line\n").await.unwrap();
            while running.batches.len() < n {
                tokio::task::yield_now().await;
            }
        }
        assert_eq!(running.next().await, Line::Out("a line".to_owned()));
        let ready = std::iter::from_fn(|| running.take_ready()).count();
        assert_eq!(ready, 2);
    }
}
