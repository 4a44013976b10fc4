//! Whoever comes to a door: whether it gets through, and what it then asks.
//!
//! Refuses to know where the door is.

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

use super::waiting_call::WaitingCall;
use super::{Calling, Knock, WAITING};
use crate::domain::ids::{RequestId, SessionId};
use crate::mcp::socket_protocol::{
    self, MAX_LINE_BYTES, OfferedTool, PROTOCOL_VERSION, ToolAnswer, ToolSocketMessage,
    ToolSocketRequest,
};
use crate::process::{ProcessIdentity, is_descendant, is_process_alive, read_parent};

/// How long whoever knocks may take to say who it is, and its CLI to be known.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why nobody is let in who comes from elsewhere.
const NOT_ITS: &str = "it was not started by the CLI of its session";

/// A session's CLI.
#[derive(Debug, Clone)]
pub(super) struct Cli {
    pub(super) pid: u32,
    /// The process of it that starts its servers.
    starter: Arc<Mutex<Option<ProcessIdentity>>>,
}

impl Cli {
    pub(super) fn new(pid: u32) -> Self {
        Self {
            pid,
            starter: Arc::default(),
        }
    }

    /// Tells whether a server was started by the process that starts them, which is the one that started the first,
    /// before its agent could have anything run. Another one counts once that one is gone.
    pub(super) fn started(&self, server: u32) -> bool {
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

/// What a connection needs to know of its door.
#[derive(Clone)]
pub(super) struct Post {
    pub(super) session: SessionId,
    pub(super) token: String,
    pub(super) cli: watch::Receiver<Option<Cli>>,
    pub(super) changes: watch::Receiver<u64>,
    pub(super) knock: mpsc::Sender<Knock>,
    pub(super) n_calls: Arc<AtomicU64>,
}

/// Takes in whoever comes, until the door is closed.
pub(super) async fn accept(listener: UnixListener, post: Post) {
    let mut clients = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => drop(clients.spawn(serve(stream, post.clone()))),
                Err(error) => {
                    tracing::warn!(%error, "an agent's server could not be accepted");
                    // Too many open files, most likely: at once it would fail again.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            },
            Some(_) = clients.join_next() => {}
        }
    }
}

async fn serve(stream: UnixStream, mut post: Post) {
    let peer = stream.peer_cred();
    let (from, mut to) = stream.into_split();
    let mut lines = BufReader::new(from);
    let admitted = match peer {
        Ok(peer) => timeout(PATIENCE, admit(&mut lines, &mut post, &peer)).await,
        Err(error) => Ok(Err(error.to_string())),
    };
    let admitted = admitted.unwrap_or_else(|_| Err(format!("{NOT_ITS}, or did not say who it is")));
    if let Err(why) = admitted {
        tracing::warn!(session = %post.session, why, "an agent's server is refused");
        // Whoever is refused need not listen.
        let _gone = say(&mut to, &ToolSocketMessage::Refused { why }).await;
        return;
    }
    let mut calls = Calls::default();
    let served = converse(lines, to, &post, &mut calls).await;
    if let Err(error) = served {
        tracing::info!(%error, session = %post.session, "an agent's server went");
    }
    for request in calls.open.into_values() {
        // Nobody takes it only when the program is ending.
        let _ending = post.knock.send(Knock::Forgotten(request)).await;
    }
}

/// Looks who it is: the same user, with the session's token, started by the session's CLI.
async fn admit(
    lines: &mut Lines,
    post: &mut Post,
    peer: &tokio::net::unix::UCred,
) -> Result<(), String> {
    if peer.uid() != getuid().as_raw() {
        return Err("it belongs to another user".to_owned());
    }
    match read(lines).await {
        Ok(Some(ToolSocketRequest::Hello { version, .. })) if version != PROTOCOL_VERSION => {
            return Err(
                "it is another version of agent-collab; end it and resume the run".to_owned(),
            );
        }
        Ok(Some(ToolSocketRequest::Hello { token, .. })) if is_same(&token, &post.token) => {}
        Ok(_) => return Err("it does not have the session's token".to_owned()),
        Err(error) => return Err(error.to_string()),
    }
    if !cfg!(target_os = "linux") {
        // Nobody can tell there; the token alone is what binds it.
        return Ok(());
    }
    let pid = peer.pid().and_then(|pid| u32::try_from(pid).ok());
    let pid = pid.ok_or("it cannot be seen which process it is")?;
    // The CLI may not be known yet, but it is this program's own child.
    if !is_descendant(pid, std::process::id()) {
        return Err(NOT_ITS.to_owned());
    }
    let of_session =
        |cli: &Option<Cli>| cli.as_ref().is_some_and(|cli| is_descendant(pid, cli.pid));
    let known = post.cli.wait_for(of_session).await;
    let known = known.map_err(|_| "its session is over")?;
    match known.as_ref().is_some_and(|cli| cli.started(pid)) {
        true => Ok(()),
        false => Err("it was started by a command, not by the CLI of its session".to_owned()),
    }
}

/// Compares without telling by the time taken how much was right.
fn is_same(given: &str, token: &str) -> bool {
    let differing = given
        .bytes()
        .zip(token.bytes())
        .fold(0, |differing, (a, b)| differing | (a ^ b));
    given.len() == token.len() && differing == 0
}

pub(super) type Lines = BufReader<OwnedReadHalf>;

/// The calls of one connection that are not answered yet, by the numbers that it gave them.
#[derive(Default)]
struct Calls {
    open: BTreeMap<u64, RequestId>,
}

async fn converse(
    mut lines: Lines,
    mut to: OwnedWriteHalf,
    post: &Post,
    calls: &mut Calls,
) -> io::Result<()> {
    say(&mut to, &ToolSocketMessage::Welcome).await?;
    let mut changes = post.changes.clone();
    let (tell, mut tells) = mpsc::channel(WAITING);
    let mut waiting = JoinSet::new();
    let (heard, mut asks) = mpsc::channel(WAITING);
    // A line is read whole or not at all, whatever else happens meanwhile.
    let mut hearing = JoinSet::new();
    hearing.spawn(async move {
        loop {
            let ask = read(&mut lines).await;
            let is_last = !matches!(ask, Ok(Some(_)));
            if heard.send(ask).await.is_err() || is_last {
                return;
            }
        }
    });
    loop {
        tokio::select! {
            ask = asks.recv() => match ask {
                Some(Ok(Some(ask))) => take(ask, post, calls, (&mut waiting, &tell)).await?,
                Some(Err(error)) => return Err(error),
                Some(Ok(None)) | None => return Ok(()),
            },
            Some(tell) = tells.recv() => {
                if let ToolSocketMessage::Answer { id, .. } = &tell {
                    calls.open.remove(id);
                }
                say(&mut to, &tell).await?;
            },
            Some(_) = waiting.join_next() => {}
            Ok(()) = changes.changed() => say(&mut to, &ToolSocketMessage::Changed).await?,
        }
    }
}

/// Passes on what was asked; what it comes to is told.
async fn take(
    ask: ToolSocketRequest,
    post: &Post,
    calls: &mut Calls,
    (waiting, tell): (&mut JoinSet<()>, &mpsc::Sender<ToolSocketMessage>),
) -> io::Result<()> {
    let ending = |_| io::Error::from(io::ErrorKind::BrokenPipe);
    match ask {
        ToolSocketRequest::Hello { .. } => Err(io::Error::other("it said twice who it is")),
        ToolSocketRequest::List { id } => {
            let tell = tell.clone();
            let given = list(post).await.map_err(ending)?;
            waiting.spawn(async move {
                if let Ok(tools) = given.await {
                    // Nobody takes it only when the connection is gone.
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
            let calling = Calling {
                request,
                session: post.session.clone(),
                tool,
                arguments,
                thread,
                give,
                progress,
            };
            post.knock
                .send(Knock::Call(calling))
                .await
                .map_err(ending)?;
            let progress = told;
            let call = WaitingCall {
                id,
                given,
                progress,
            };
            waiting.spawn(call.pass_on(tell.clone()));
            Ok(())
        }
        ToolSocketRequest::Forget { id } => match calls.open.remove(&id) {
            Some(request) => post
                .knock
                .send(Knock::Forgotten(request))
                .await
                .map_err(ending),
            None => Ok(()),
        },
    }
}

/// Asks which tools the session has.
async fn list(
    post: &Post,
) -> Result<oneshot::Receiver<Vec<OfferedTool>>, mpsc::error::SendError<Knock>> {
    let (give, given) = oneshot::channel();
    let session = post.session.clone();
    post.knock.send(Knock::List { session, give }).await?;
    Ok(given)
}

async fn say(to: &mut OwnedWriteHalf, tell: &ToolSocketMessage) -> io::Result<()> {
    let line = socket_protocol::encode_line(tell)?;
    match tell {
        // One answer that cannot be told must not end the connection for all others.
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

/// Reads the next line; `None` when there is none.
async fn read(lines: &mut Lines) -> io::Result<Option<ToolSocketRequest>> {
    let mut line = Vec::new();
    let mut limited = lines.take(MAX_LINE_BYTES as u64);
    limited.read_until(b'\n', &mut line).await?;
    match line.last() {
        None => Ok(None),
        Some(b'\n') => serde_json::from_slice(&line).map_err(io::Error::other),
        Some(_) => Err(io::Error::other("a line is cut off, or too long")),
    }
}
