//! The IPC socket of a running instance: one line of JSON in, one line out, for commands of its own user.
//!
//! Accepts no other user, no process that a run started or may have started, and no sandboxed process: the run's rules
//! decide what an agent may do, never the agent. The main loop never waits for a client: each has its own task, a line
//! of limited length and limited time.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use nix::unistd::getuid;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use crate::engine::runtime_dir::MAX_SOCKET_PATH_BYTES;
use crate::process::{KilledInstances, ProcessState, classify_peer, read_process_state};
use crate::store::{LockHolder, WorkdirLayout};

use super::startup::StartError;

/// Maximum length of a line in bytes: enough for the longest context of a discussion, quoted twice.
const MAX_LINE_BYTES: u64 = 1024 * 1024;
/// Maximum number of clients at the same time.
const MAX_CLIENTS: usize = 4;
/// Time that a client gets to send its line, and to receive the reply.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(5);
/// Time that a client waits for a reply; the main loop replies when it next reads its inputs.
const REPLY_TIMEOUT: Duration = Duration::from_secs(10);
/// Time for pending replies to reach their clients when the program ends.
const LAST_REPLIES_TIMEOUT: Duration = Duration::from_secs(1);

/// A request to the running instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IpcRequest {
    /// The name of the command, as after the slash.
    pub command: String,
    /// The argument of the command; empty if it takes none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// The reply of the instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IpcReply {
    /// Whether the command was carried out.
    pub accepted: bool,
    /// The reason if it was not carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Data about the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<Value>,
}

/// A request that waits for its reply. If dropped, the client learns that the instance is ending.
#[derive(Debug)]
pub struct PendingIpcRequest {
    pub request: IpcRequest,
    reply_sender: oneshot::Sender<IpcReply>,
}

impl PendingIpcRequest {
    /// Replies whether the command was carried out, and why not.
    pub fn reply(self, done: Result<(), String>) {
        // The client may have left; the command is carried out all the same.
        let _gone = self.reply_sender.send(IpcReply::from(done));
    }

    /// Replies that the command was carried out, with data.
    pub fn reply_with(self, told: Value) {
        let answer = IpcReply {
            told: Some(told),
            ..IpcReply::from(Ok(()))
        };
        // As above.
        let _gone = self.reply_sender.send(answer);
    }
}

impl From<Result<(), String>> for IpcReply {
    fn from(done: Result<(), String>) -> Self {
        Self {
            accepted: done.is_ok(),
            why: done.err(),
            told: None,
        }
    }
}

/// The listening socket; dropping it removes its file.
#[derive(Debug)]
pub struct IpcServer {
    path: PathBuf,
    requests: mpsc::Receiver<PendingIpcRequest>,
    /// One task per client, until it has its reply.
    clients: TaskTracker,
    accept_task: JoinHandle<()>,
}

impl IpcServer {
    /// Starts to listen (mode 0600). The caller must hold the instance lock: an existing socket file belongs to a dead
    /// instance and is removed. Processes that `killed` instances may have left are not accepted.
    ///
    /// # Errors
    /// The socket cannot be created, for example because the file system does not support sockets.
    pub fn listen(layout: &WorkdirLayout, killed: KilledInstances) -> io::Result<Self> {
        let path = layout.socket();
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let address = IpcAddress::from_layout(layout)?;
        let listener = UnixListener::bind(&address.path)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
        let (ask, asked) = mpsc::channel(MAX_CLIENTS);
        let clients = TaskTracker::new();
        let accepting = tokio::spawn(accept_clients(
            listener,
            ask,
            clients.clone(),
            Arc::new(killed),
        ));
        Ok(Self {
            path,
            requests: asked,
            clients,
            accept_task: accepting,
        })
    }

    /// Waits for the next request. Cancel safe.
    pub async fn next_request(&mut self) -> PendingIpcRequest {
        match self.requests.recv().await {
            Some(asked) => asked,
            None => std::future::pending().await,
        }
    }

    /// Stops listening; pending replies still reach their clients.
    pub async fn close(mut self) {
        self.accept_task.abort();
        self.requests.close();
        while self.requests.try_recv().is_ok() {}
        self.clients.close();
        let _late = timeout(LAST_REPLIES_TIMEOUT, self.clients.wait()).await;
    }
}

impl Drop for IpcServer {
    fn drop(&mut self) {
        self.accept_task.abort();
        // If the file remains, the next instance removes it.
        let _gone = fs::remove_file(&self.path);
    }
}

/// Waits for the next request; without a socket, forever.
pub async fn next_request_if_listening(socket: &mut Option<IpcServer>) -> PendingIpcRequest {
    match socket {
        Some(socket) => socket.next_request().await,
        None => std::future::pending().await,
    }
}

/// A path to the socket that is short enough for any depth of the repository.
struct IpcAddress {
    path: PathBuf,
    /// Kept open while the path is in use: the path goes through this directory.
    _workdir: Option<File>,
}

impl IpcAddress {
    fn from_layout(layout: &WorkdirLayout) -> io::Result<Self> {
        let path = layout.socket();
        if path.as_os_str().len() <= MAX_SOCKET_PATH_BYTES {
            return Ok(Self {
                path,
                _workdir: None,
            });
        }
        let workdir = File::open(layout.workdir())?;
        let name = path.file_name().unwrap_or_default();
        let open = format!("/proc/self/fd/{}", workdir.as_raw_fd());
        Ok(Self {
            path: PathBuf::from(open).join(name),
            _workdir: Some(workdir),
        })
    }
}

async fn accept_clients(
    listener: UnixListener,
    ask: mpsc::Sender<PendingIpcRequest>,
    clients: TaskTracker,
    killed: Arc<KilledInstances>,
) {
    let places = Arc::new(Semaphore::new(MAX_CLIENTS));
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "a client of the socket could not be accepted");
                // Probably too many open files: retrying at once would fail again.
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        match Arc::clone(&places).try_acquire_owned() {
            Ok(place) => {
                let (ask, killed) = (ask.clone(), Arc::clone(&killed));
                drop(clients.spawn(serve_client(stream, ask, killed, place)));
            }
            // The client sees that the connection closed without a reply.
            Err(_) => drop(stream),
        }
    }
}

async fn serve_client(
    mut stream: UnixStream,
    ask: mpsc::Sender<PendingIpcRequest>,
    killed: Arc<KilledInstances>,
    place: OwnedSemaphorePermit,
) {
    let answer = match read_request(&mut stream, &killed).await {
        Ok(request) => forward_request(request, &ask).await,
        Err(why) => IpcReply::from(Err(why)),
    };
    if let Some(why) = &answer.why {
        tracing::info!(why, "a command that was sent is not carried out");
    }
    // Free the slot before the reply: a client that has its reply can rely on a free slot.
    drop(place);
    let said = timeout(CLIENT_TIMEOUT, write_line(&mut stream, &answer)).await;
    if !matches!(said, Ok(Ok(()))) {
        tracing::info!("who sent a command did not wait for the answer");
    }
}

/// Checks the peer process, then reads its request.
async fn read_request(
    stream: &mut UnixStream,
    killed: &KilledInstances,
) -> Result<IpcRequest, String> {
    let refused = |why: &str| format!("this process cannot send commands: {why}");
    let peer = stream
        .peer_cred()
        .map_err(|error| refused(&error.to_string()))?;
    if peer.uid() != getuid().as_raw() {
        return Err(refused("it belongs to another user"));
    }
    let pid = peer.pid().and_then(|pid| u32::try_from(pid).ok());
    let pid = pid.ok_or_else(|| refused("the process cannot be identified"))?;
    // An agent must not decide through its own processes what it may do.
    if let Some(why) = classify_peer(pid, killed).refusal_reason() {
        return Err(refused(&why));
    }
    let line = timeout(CLIENT_TIMEOUT, read_line(stream)).await;
    let line = line.map_err(|_| "no request arrived in time".to_owned())?;
    let line = line.map_err(|error| error.to_string())?;
    serde_json::from_slice(&line).map_err(|error| format!("not a valid request: {error}"))
}

async fn forward_request(request: IpcRequest, ask: &mpsc::Sender<PendingIpcRequest>) -> IpcReply {
    let ending = || IpcReply::from(Err("the instance is ending".to_owned()));
    let (answer, answered) = oneshot::channel();
    if ask
        .send(PendingIpcRequest {
            request,
            reply_sender: answer,
        })
        .await
        .is_err()
    {
        return ending();
    }
    answered.await.unwrap_or_else(|_| ending())
}

/// Sends a request to the instance `pid` and returns its reply.
///
/// # Errors
/// No process listens, another one than that instance does, or it does not reply.
pub async fn send_request(
    layout: &WorkdirLayout,
    pid: Option<u32>,
    request: &IpcRequest,
) -> io::Result<IpcReply> {
    let address = IpcAddress::from_layout(layout)?;
    let mut stream = UnixStream::connect(&address.path).await?;
    let peer = stream.peer_cred()?;
    let listens = peer.pid().and_then(|pid| u32::try_from(pid).ok());
    // Only the instance that holds the lock may get the command.
    if peer.uid() != getuid().as_raw() || listens.is_none() || listens != pid {
        return Err(io::Error::other("another process listens there"));
    }
    let exchange = async {
        let said = write_line(&mut stream, request).await;
        // The instance may refuse the client before it has sent its line: read the reply even if writing failed.
        let line = match read_line(&mut stream).await {
            Ok(line) => line,
            Err(error) => return Err(said.err().unwrap_or(error)),
        };
        serde_json::from_slice(&line).map_err(io::Error::other)
    };
    timeout(REPLY_TIMEOUT, exchange)
        .await
        .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

/// Sends a request to the instance that holds the lock.
///
/// # Errors
/// The instance cannot be reached; the text says what it may be doing and what to do.
pub async fn send_to_lock_holder(
    layout: &WorkdirLayout,
    held: &LockHolder,
    request: &IpcRequest,
) -> Result<IpcReply, StartError> {
    // An instance suspended by Ctrl+Z would accept the request but answer only after it continues.
    if held.pid.and_then(read_process_state) == Some(ProcessState::Stopped) {
        return Err(StartError {
            problem: format!("another agent-collab runs here ({held}) and is suspended (Ctrl+Z)"),
            hint: "run `fg` in its terminal, then try again".to_owned(),
            code: 4,
        });
    }
    let answer = send_request(layout, held.pid, request).await;
    answer.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => StartError {
            problem: format!("another agent-collab runs here ({held}) and accepts no commands"),
            hint: "if it runs a single task or discussion, wait for its end or press Ctrl+C in its terminal; \
                   if it is just starting, try again in a moment"
                .to_owned(),
            code: 4,
        },
        _ => StartError::new(
            format!("cannot reach the instance here ({held}): {error}"),
            "it may be ending or busy; try again, or continue in its terminal",
        ),
    })
}

async fn write_line(stream: &mut UnixStream, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    stream.write_all(&line).await
}

async fn read_line(stream: &mut UnixStream) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    let mut stream = BufReader::new(stream);
    (&mut stream)
        .take(MAX_LINE_BYTES)
        .read_until(b'\n', &mut line)
        .await?;
    match line.pop() {
        Some(b'\n') => Ok(line),
        Some(_) if line.len() as u64 + 1 >= MAX_LINE_BYTES => {
            // If the connection closed in the middle of the line, the client would see a broken connection, not the
            // reason.
            skip_line(&mut stream).await?;
            Err(io::Error::other(
                "the line is longer than 1 MiB; shorten the text, or name a file in it",
            ))
        }
        Some(_) | None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Reads to the end of the line and discards it.
async fn skip_line(stream: &mut BufReader<&mut UnixStream>) -> io::Result<()> {
    loop {
        let read = stream.fill_buf().await?;
        if read.is_empty() {
            return Ok(());
        }
        match read.iter().position(|byte| *byte == b'\n') {
            Some(end) => {
                stream.consume(end + 1);
                return Ok(());
            }
            None => {
                let n_bytes = read.len();
                stream.consume(n_bytes);
            }
        }
    }
}
