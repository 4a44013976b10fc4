//! The MCP server that an agent's CLI starts, on standard input and output; it forwards everything to the running
//! program.
//!
//! It has no state of its own: the program lists the tools and answers the calls, over a socket and with a token that
//! is bound to one session. If the program is gone, each call fails and says so.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    Implementation, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
    ProgressToken, ServerCapabilities, ServerConfig, Tool as Shown,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, RoleServer};
use rmcp::{ServerHandler, ServiceExt};
use serde_json::Value;
use thiserror::Error;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::socket_protocol::{
    self, MAX_LINE_BYTES, OfferedTool, PROTOCOL_VERSION, ToolAnswer, ToolAnswerStatus,
    ToolSocketMessage, ToolSocketRequest,
};

/// How many requests may wait to be written.
const OUTGOING_CAPACITY: usize = 64;

/// How many progress messages of a call may wait for the CLI to read them.
const PROGRESS_CAPACITY: usize = 4;

/// What the CLI's agents read about the server as a whole.
const INSTRUCTIONS: &str = "The tools of the program that runs this session: lists of todos, plans and reviews \
    handed in as data, questions to the user. What its prompts ask for can be done by them. `task` gives work to an \
    agent of its own, a sub-agent, several side by side; `group_discuss` has several agents discuss a question; \
    `session_manage` looks at the tasks that you gave. A session has those of them that its turn allows.";

/// Why the server cannot run.
#[derive(Debug, Error)]
pub enum McpServerError {
    /// The token cannot be read.
    #[error("failed to read the token {path}: {source}")]
    Token {
        /// The path of the token file.
        path: PathBuf,
        source: io::Error,
    },
    /// The running program does not accept the connection.
    #[error("failed to reach the running program at {path}: {source}; did it end?")]
    Reach {
        /// The path of the socket.
        path: PathBuf,
        source: io::Error,
    },
    /// The program rejects the connection.
    #[error("the running program refused it: {0}")]
    Refused(String),
    /// The CLI does not follow the protocol.
    #[error("the CLI's handshake failed: {0}")]
    Handshake(String),
}

/// Serves the CLI on standard input and output until it disconnects.
///
/// # Errors
/// The program cannot be reached or rejects the connection, or the CLI's handshake fails.
pub async fn serve(socket: &Path, token: &Path) -> Result<(), McpServerError> {
    let word = std::fs::read_to_string(token).map_err(|source| McpServerError::Token {
        path: token.to_owned(),
        source,
    })?;
    let reach = |source| McpServerError::Reach {
        path: socket.to_owned(),
        source,
    };
    let stream = UnixStream::connect(socket).await.map_err(reach)?;
    let (mut lines, mut ends) = send_hello(stream, word.trim()).await.map_err(reach)?;
    match read_message(&mut lines).await.map_err(reach)? {
        ToolSocketMessage::Welcome => {}
        ToolSocketMessage::Refused { why } => return Err(McpServerError::Refused(why)),
        other => return Err(McpServerError::Refused(format!("it said {other:?}"))),
    }
    let (to, mut asks) = mpsc::channel::<Vec<u8>>(OUTGOING_CAPACITY);
    let link = Arc::new(ProgramLink::new(to));
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        while let Some(ask) = asks.recv().await {
            if ends.write_all(&ask).await.is_err() {
                break;
            }
        }
    });
    tasks.spawn(receive_messages(lines, Arc::clone(&link)));
    let failed = |error: String| McpServerError::Handshake(error);
    let server = McpServer(link).serve(rmcp::transport::stdio()).await;
    let server = server.map_err(|error| failed(error.to_string()))?;
    let ended = server.waiting().await;
    ended.map(drop).map_err(|error| failed(error.to_string()))
}

type SocketReader = BufReader<OwnedReadHalf>;

async fn send_hello(stream: UnixStream, token: &str) -> io::Result<(SocketReader, OwnedWriteHalf)> {
    let (from, mut to) = stream.into_split();
    let hello = ToolSocketRequest::Hello {
        version: PROTOCOL_VERSION,
        token: token.to_owned(),
    };
    to.write_all(&socket_protocol::encode_line(&hello)?).await?;
    Ok((BufReader::new(from), to))
}

async fn read_message(lines: &mut SocketReader) -> io::Result<ToolSocketMessage> {
    let mut line = Vec::new();
    let mut limited = lines.take(MAX_LINE_BYTES as u64);
    limited.read_until(b'\n', &mut line).await?;
    if line.last() != Some(&b'\n') {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    serde_json::from_slice(&line).map_err(io::Error::other)
}

/// Handles the messages of the program until it is gone.
async fn receive_messages(mut lines: SocketReader, link: Arc<ProgramLink>) {
    loop {
        match read_message(&mut lines).await {
            Ok(ToolSocketMessage::Answer { id, answer }) => {
                link.deliver_reply(id, ProgramReply::Answer(answer))
            }
            Ok(ToolSocketMessage::Progress { id, text }) => link.forward_progress(id, text),
            Ok(ToolSocketMessage::Tools { id, tools }) => {
                link.deliver_reply(id, ProgramReply::Tools(tools))
            }
            Ok(ToolSocketMessage::Changed) => {
                if let Some(peer) = link.peer.get() {
                    // A CLI that ignores the notification keeps its old list; each call is checked anyway.
                    let _deaf = peer.notify_tool_list_changed().await;
                }
            }
            Ok(ToolSocketMessage::Welcome | ToolSocketMessage::Refused { .. }) => {}
            Err(error) => {
                tracing::warn!(%error, "the running program has ended");
                return link.close();
            }
        }
    }
}

/// The program's reply to a request.
#[derive(Debug)]
enum ProgramReply {
    Answer(ToolAnswer),
    Tools(Vec<OfferedTool>),
}

/// A caller that waits for an answer.
#[derive(Debug)]
struct ReplyWaiter {
    reply: oneshot::Sender<ProgramReply>,
    /// Receives messages about what the call waits for.
    progress: mpsc::Sender<String>,
}

/// A pending request: its number, the receiver of its answer, and the receiver of its progress.
#[derive(Debug)]
struct PendingReply {
    id: u64,
    reply: oneshot::Receiver<ProgramReply>,
    progress: mpsc::Receiver<String>,
}

/// The connection to the program.
#[derive(Debug)]
struct ProgramLink {
    /// Complete lines to write.
    outgoing: mpsc::Sender<Vec<u8>>,
    n_requests: AtomicU64,
    /// The waiting callers; `None` once the program is gone.
    waiters: Mutex<Option<BTreeMap<u64, ReplyWaiter>>>,
    peer: OnceLock<Peer<RoleServer>>,
}

impl ProgramLink {
    fn new(to: mpsc::Sender<Vec<u8>>) -> Self {
        Self {
            outgoing: to,
            n_requests: AtomicU64::new(0),
            waiters: Mutex::new(Some(BTreeMap::new())),
            peer: OnceLock::new(),
        }
    }

    /// Registers a request; `None` if the program is gone.
    fn register_waiter(&self) -> Option<PendingReply> {
        let id = self.n_requests.fetch_add(1, Ordering::Relaxed) + 1;
        let (give, given) = oneshot::channel();
        let (to_waiter, progress) = mpsc::channel(PROGRESS_CAPACITY);
        let waiter = ReplyWaiter {
            reply: give,
            progress: to_waiter,
        };
        let mut open = self.waiters.lock().unwrap_or_else(PoisonError::into_inner);
        open.as_mut()?.insert(id, waiter);
        Some(PendingReply {
            id,
            reply: given,
            progress,
        })
    }

    /// Forwards a progress message to the waiting caller.
    fn forward_progress(&self, id: u64, text: String) {
        let open = self.waiters.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(waiter) = open.as_ref().and_then(|open| open.get(&id)) {
            // A CLI that does not read does not need old progress messages, so a full queue is no problem.
            let _unread = waiter.progress.try_send(text);
        }
    }

    /// Removes the caller that waits for an answer.
    fn remove_waiter(&self, id: u64) -> Option<ReplyWaiter> {
        let mut open = self.waiters.lock().unwrap_or_else(PoisonError::into_inner);
        open.as_mut()?.remove(&id)
    }

    fn deliver_reply(&self, id: u64, given: ProgramReply) {
        if let Some(waiter) = self.remove_waiter(id) {
            // The caller may have given up already.
            let _gone = waiter.reply.send(given);
        }
    }

    /// Drops all waiting callers, because no answer can come any more.
    fn close(&self) {
        *self.waiters.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Sends a request.
    ///
    /// # Errors
    /// The program is gone, or too many requests wait to be written; then nothing is sent.
    async fn send_request(
        &self,
        ask: impl FnOnce(u64) -> ToolSocketRequest,
    ) -> Result<PendingReply, ErrorData> {
        let asked = self.register_waiter().ok_or_else(program_ended_error)?;
        let id = asked.id;
        let line = socket_protocol::encode_line(&ask(id));
        let line = line.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        if line.len() > MAX_LINE_BYTES {
            self.remove_waiter(id);
            return Err(request_too_long_error(line.len()));
        }
        self.outgoing
            .send(line)
            .await
            .map_err(|_| program_ended_error())?;
        Ok(asked)
    }

    async fn cancel_request(&self, id: u64) {
        self.remove_waiter(id);
        if let Ok(line) = socket_protocol::encode_line(&ToolSocketRequest::Forget { id }) {
            // The program may be gone at the same time as the call.
            let _gone = self.outgoing.send(line).await;
        }
    }
}

fn program_ended_error() -> ErrorData {
    ErrorData::internal_error("agent-collab has ended; end your turn", None)
}

fn request_too_long_error(bytes: usize) -> ErrorData {
    let told = format!(
        "nothing was done: the call has {bytes} bytes, and at most {MAX_LINE_BYTES} are taken; say less at once"
    );
    ErrorData::invalid_params(told, None)
}

/// The MCP handler for the CLI.
struct McpServer(Arc<ProgramLink>);

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let tools = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        let name = Implementation::new("agent-collab", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(tools)
            .with_server_info(name)
            .with_instructions(INSTRUCTIONS)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        // A CLI that initialises twice is still the same peer.
        let _again = self.0.peer.set(context.peer);
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let asked = self
            .0
            .send_request(|id| ToolSocketRequest::List { id })
            .await?;
        match asked.reply.await {
            Ok(ProgramReply::Tools(tools)) => {
                let tools = tools.into_iter().map(to_rmcp_tool).collect();
                Ok(ListToolsResult::with_all_items(tools))
            }
            Ok(ProgramReply::Answer(_)) | Err(_) => Err(program_ended_error()),
        }
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let thread = calling_thread_id(&request, &context);
        let mut progress = requested_progress(&request, &context);
        let asked = self.0.send_request(|id| ToolSocketRequest::Call {
            id,
            tool: request.name.into_owned(),
            arguments: Value::Object(request.arguments.unwrap_or_default()),
            thread,
            wants_progress: progress.is_some(),
        });
        let mut asked = asked.await?;
        loop {
            tokio::select! {
                biased;
                given = &mut asked.reply => return match given {
                    Ok(ProgramReply::Answer(answer)) => Ok(to_call_result(answer).into()),
                    Ok(ProgramReply::Tools(_)) | Err(_) => Err(program_ended_error()),
                },
                () = context.ct.cancelled() => {
                    self.0.cancel_request(asked.id).await;
                    return Err(ErrorData::internal_error("the call was cancelled", None));
                }
                Some(text) = asked.progress.recv() => {
                    if let Some(progress) = &mut progress {
                        progress.send_progress(text, &context.peer).await;
                    }
                }
            }
        }
    }
}

/// Sends the progress of one call to its CLI, in the form that the CLI asked for.
struct CallProgress {
    token: ProgressToken,
    n_sent: u32,
}

impl CallProgress {
    /// Sends one progress message and waits until it is written, because nothing may follow the answer.
    async fn send_progress(&mut self, text: String, peer: &Peer<RoleServer>) {
        self.n_sent += 1;
        let told = ProgressNotificationParam::new(self.token.clone(), f64::from(self.n_sent));
        // If the CLI is gone, its call is cancelled anyway.
        let _gone = peer.notify_progress(told.with_message(text)).await;
    }
}

/// Returns how a call wants to receive progress; `None` if it does not.
fn requested_progress(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Option<CallProgress> {
    let of_request = request.meta.as_ref();
    let token = context.meta.get_progress_token();
    let token = token.or_else(|| of_request.and_then(|meta| meta.get_progress_token()))?;
    Some(CallProgress { token, n_sent: 0 })
}

/// Returns the calling conversation, which codex names; a sub-agent of codex has a conversation of its own.
fn calling_thread_id(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Option<String> {
    let named = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let of_request = request.meta.as_ref();
    named(context.meta.0.0.get("threadId"))
        .or_else(|| named(of_request.and_then(|meta| meta.0.0.get("threadId"))))
}

fn to_rmcp_tool(offered: OfferedTool) -> Shown {
    Shown::new(offered.name, offered.description, offered.schema)
}

fn to_call_result(answer: ToolAnswer) -> CallToolResult {
    let content = vec![ContentBlock::text(answer.text)];
    let mut result = match answer.outcome {
        ToolAnswerStatus::Done => CallToolResult::success(content),
        ToolAnswerStatus::Failed => CallToolResult::error(content),
    };
    result.structured_content = answer.data;
    result
}
