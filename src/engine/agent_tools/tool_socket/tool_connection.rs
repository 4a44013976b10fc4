//! Serves one connection to a tool socket: authenticates the peer, then handles its requests.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nix::unistd::getuid;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::call_forwarder::ToolCallForwarder;
use super::{IncomingToolCall, REQUEST_CHANNEL_CAPACITY, ToolRequest};
use crate::domain::ids::{RequestId, SessionId};
use crate::mcp::socket_protocol::{
    self, MAX_LINE_BYTES, OfferedTool, PROTOCOL_VERSION, ToolAnswer, ToolSocketMessage,
    ToolSocketRequest,
};
use crate::process::{ProcessIdentity, is_descendant, is_process_alive, read_parent};

/// How long a peer may take to authenticate, and its CLI to be registered.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// The reason for refusing a process that the session's CLI did not start.
const FOREIGN_PROCESS_MESSAGE: &str = "it was not started by the CLI of its session";

/// The CLI process of a session.
#[derive(Debug, Clone)]
pub(super) struct SessionCliProcess {
    pub(super) pid: u32,
    /// The CLI's process that starts its servers.
    starter: Arc<Mutex<Option<ProcessIdentity>>>,
}

impl SessionCliProcess {
    pub(super) fn new(pid: u32) -> Self {
        Self {
            pid,
            starter: Arc::default(),
        }
    }

    /// Returns whether a server was started by the process that starts the CLI's servers. That is the one that
    /// started the first server, before the agent could run anything. Another one is accepted only after that one
    /// has exited.
    pub(super) fn has_started_server(&self, server: u32) -> bool {
        let Some(parent) = read_parent(server) else {
            return false;
        };
        let mut starter = self.starter.lock().unwrap_or_else(PoisonError::into_inner);
        match *starter {
            Some(starter) if starter != parent && is_process_alive(starter) => false,
            _ => {
                *starter = Some(parent);
                true
            }
        }
    }
}

/// What a connection needs to know about its socket.
#[derive(Clone)]
pub(super) struct ConnectionContext {
    pub(super) session: SessionId,
    pub(super) token: String,
    pub(super) cli: watch::Receiver<Option<SessionCliProcess>>,
    pub(super) changes: watch::Receiver<u64>,
    pub(super) request_sender: mpsc::Sender<ToolRequest>,
    pub(super) n_calls: Arc<AtomicU64>,
}

/// Accepts connections until the socket is closed.
pub(super) async fn accept_connections(listener: UnixListener, post: ConnectionContext) {
    let mut clients = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => drop(clients.spawn(serve_connection(stream, post.clone()))),
                Err(error) => {
                    tracing::warn!(%error, "an agent's server could not be accepted");
                    // Most likely there are too many open files: an immediate retry would fail again.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            },
            Some(_) = clients.join_next() => {}
        }
    }
}

async fn serve_connection(stream: UnixStream, mut post: ConnectionContext) {
    let peer = stream.peer_cred();
    let (from, mut to) = stream.into_split();
    let mut lines = BufReader::new(from);
    let admitted = match peer {
        Ok(peer) => {
            timeout(
                HANDSHAKE_TIMEOUT,
                authenticate_peer(&mut lines, &mut post, &peer),
            )
            .await
        }
        Err(error) => Ok(Err(error.to_string())),
    };
    let admitted = admitted.unwrap_or_else(|_| {
        Err(format!(
            "{FOREIGN_PROCESS_MESSAGE}, or did not say who it is"
        ))
    });
    if let Err(why) = admitted {
        tracing::warn!(session = %post.session, why, "an agent's server was rejected");
        // A refused peer may not read the message.
        let _gone = write_message(&mut to, &ToolSocketMessage::Refused { why }).await;
        return;
    }
    let mut calls = ConnectionCalls::default();
    let served = serve_requests(lines, to, &post, &mut calls).await;
    if let Err(error) = served {
        tracing::info!(%error, session = %post.session, "an agent's server disconnected");
    }
    for request in calls.open.into_values() {
        // The receiver is gone only if the program is ending.
        let _ending = post
            .request_sender
            .send(ToolRequest::CallCancelled(request))
            .await;
    }
}

/// Checks the peer: it must have the same user and the session's token, and be started by the session's CLI.
async fn authenticate_peer(
    lines: &mut ToolSocketLines,
    post: &mut ConnectionContext,
    peer: &tokio::net::unix::UCred,
) -> Result<(), String> {
    if peer.uid() != getuid().as_raw() {
        return Err("it belongs to another user".to_owned());
    }
    match read_request(lines).await {
        Ok(Some(ToolSocketRequest::Hello { version, .. })) if version != PROTOCOL_VERSION => {
            return Err(
                "it is another version of agent-collab; end it and resume the run".to_owned(),
            );
        }
        Ok(Some(ToolSocketRequest::Hello { token, .. })) if is_same_token(&token, &post.token) => {}
        Ok(_) => return Err("it does not have the session's token".to_owned()),
        Err(error) => return Err(error.to_string()),
    }
    if !cfg!(target_os = "linux") {
        // The origin of a process is unknown there; only the token ties it to the session.
        return Ok(());
    }
    let pid = peer.pid().and_then(|pid| u32::try_from(pid).ok());
    let pid = pid.ok_or("its process cannot be identified")?;
    // The CLI may not be registered yet, but it is a child of this program.
    if !is_descendant(pid, std::process::id()) {
        return Err(FOREIGN_PROCESS_MESSAGE.to_owned());
    }
    let of_session = |cli: &Option<SessionCliProcess>| {
        cli.as_ref().is_some_and(|cli| is_descendant(pid, cli.pid))
    };
    let known = post.cli.wait_for(of_session).await;
    let known = known.map_err(|_| "its session has ended")?;
    if known
        .as_ref()
        .is_some_and(|cli| cli.has_started_server(pid))
    {
        Ok(())
    } else {
        Err("it was started by a command, not by the CLI of its session".to_owned())
    }
}

/// Compares in constant time, so that the duration does not reveal how much was right.
fn is_same_token(given: &str, token: &str) -> bool {
    let differing = given
        .bytes()
        .zip(token.bytes())
        .fold(0, |differing, (a, b)| differing | (a ^ b));
    given.len() == token.len() && differing == 0
}

pub(super) type ToolSocketLines = BufReader<OwnedReadHalf>;

/// The unanswered calls of one connection, by the numbers that the connection gave them.
#[derive(Default)]
struct ConnectionCalls {
    open: BTreeMap<u64, RequestId>,
}

async fn serve_requests(
    mut lines: ToolSocketLines,
    mut to: OwnedWriteHalf,
    post: &ConnectionContext,
    calls: &mut ConnectionCalls,
) -> io::Result<()> {
    write_message(&mut to, &ToolSocketMessage::Welcome).await?;
    let mut changes = post.changes.clone();
    let (tell, mut tells) = mpsc::channel(REQUEST_CHANNEL_CAPACITY);
    let mut waiting = JoinSet::new();
    let (heard, mut asks) = mpsc::channel(REQUEST_CHANNEL_CAPACITY);
    // A separate task reads the lines, because a cancelled read would lose part of a line.
    let mut hearing = JoinSet::new();
    hearing.spawn(async move {
        loop {
            let ask = read_request(&mut lines).await;
            let is_last = !matches!(ask, Ok(Some(_)));
            if heard.send(ask).await.is_err() || is_last {
                return;
            }
        }
    });
    loop {
        tokio::select! {
            ask = asks.recv() => match ask {
                Some(Ok(Some(ask))) => dispatch_request(ask, post, calls, &mut waiting, &tell).await?,
                Some(Err(error)) => return Err(error),
                Some(Ok(None)) | None => return Ok(()),
            },
            Some(tell) = tells.recv() => {
                if let ToolSocketMessage::Answer { id, .. } = &tell {
                    calls.open.remove(id);
                }
                write_message(&mut to, &tell).await?;
            },
            Some(_) = waiting.join_next() => {}
            Ok(()) = changes.changed() => write_message(&mut to, &ToolSocketMessage::Changed).await?,
        }
    }
}

/// Forwards a request to the engine; a spawned task sends its answer.
async fn dispatch_request(
    ask: ToolSocketRequest,
    post: &ConnectionContext,
    calls: &mut ConnectionCalls,
    waiting: &mut JoinSet<()>,
    tell: &mpsc::Sender<ToolSocketMessage>,
) -> io::Result<()> {
    let ending = |_| io::Error::from(io::ErrorKind::BrokenPipe);
    match ask {
        ToolSocketRequest::Hello { .. } => Err(io::Error::other("it identified itself twice")),
        ToolSocketRequest::List { id } => {
            let tell = tell.clone();
            let given = request_tool_list(post).await.map_err(ending)?;
            waiting.spawn(async move {
                if let Ok(tools) = given.await {
                    // The receiver is gone only if the connection is.
                    let _gone = tell.send(ToolSocketMessage::Tools { id, tools }).await;
                }
            });
            Ok(())
        }
        ToolSocketRequest::Call {
            id,
            tool,
            arguments,
            thread,
            wants_progress,
        } => {
            let (give, given) = oneshot::channel();
            let (progress, told) = wants_progress
                .then(|| watch::channel(String::new()))
                .unzip();
            let number = post.n_calls.fetch_add(1, Ordering::Relaxed) + 1;
            let request = RequestId::new(format!("tool-{number}"));
            calls.open.insert(id, request.clone());
            let calling = IncomingToolCall {
                request,
                session: post.session.clone(),
                tool,
                arguments,
                thread,
                reply_sender: give,
                progress,
            };
            post.request_sender
                .send(ToolRequest::CallTool(calling))
                .await
                .map_err(ending)?;
            let progress = told;
            let call = ToolCallForwarder {
                id,
                given,
                progress,
            };
            waiting.spawn(call.forward_until_answer(tell.clone()));
            Ok(())
        }
        ToolSocketRequest::Forget { id } => match calls.open.remove(&id) {
            Some(request) => post
                .request_sender
                .send(ToolRequest::CallCancelled(request))
                .await
                .map_err(ending),
            None => Ok(()),
        },
    }
}

/// Requests the list of the session's tools.
async fn request_tool_list(
    post: &ConnectionContext,
) -> Result<oneshot::Receiver<Vec<OfferedTool>>, mpsc::error::SendError<ToolRequest>> {
    let (give, given) = oneshot::channel();
    let session = post.session.clone();
    post.request_sender
        .send(ToolRequest::ListTools { session, give })
        .await?;
    Ok(given)
}

async fn write_message(to: &mut OwnedWriteHalf, tell: &ToolSocketMessage) -> io::Result<()> {
    let line = socket_protocol::encode_line(tell)?;
    match tell {
        // One answer that is too long must not end the connection for all other calls.
        ToolSocketMessage::Answer { id, .. } if line.len() > MAX_LINE_BYTES => {
            let answer = ToolAnswer::failed(format!(
                "it was done, but the answer has {} bytes, and at most {MAX_LINE_BYTES} can be told; ask for less",
                line.len()
            ));
            to.write_all(&socket_protocol::encode_line(&ToolSocketMessage::Answer {
                id: *id,
                answer,
            })?)
            .await
        }
        _ => to.write_all(&line).await,
    }
}

/// Reads the next request; `None` at the end of the connection.
async fn read_request(lines: &mut ToolSocketLines) -> io::Result<Option<ToolSocketRequest>> {
    let mut line = Vec::new();
    let mut limited = lines.take(MAX_LINE_BYTES as u64);
    limited.read_until(b'\n', &mut line).await?;
    match line.last() {
        None => Ok(None),
        Some(b'\n') => serde_json::from_slice(&line).map_err(io::Error::other),
        Some(_) => Err(io::Error::other("a line is cut off, or too long")),
    }
}
