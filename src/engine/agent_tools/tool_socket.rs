//! Manages the sockets through which agents' servers reach this program: each session has its own socket and token.
//!
//! Sockets and tokens are in a folder that only the user can enter, and sandboxed processes see only their own
//! session's folder. A peer must belong to the same user, know the session's token, descend from the session's own
//! CLI, and be started by the same process that started the CLI's first server: a process that an agent makes its
//! CLI run is started further down. The tools themselves are performed in `agent_tools`.

mod call_forwarder;
mod tool_connection;

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::net::UnixListener;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;

use crate::adapter::ToolServerSpec;
use crate::domain::ids::{RequestId, RunId, SessionId};
use crate::engine::runtime_dir;
use crate::mcp::socket_protocol::{OfferedTool, ToolAnswer};
use tool_connection::{ConnectionContext, SessionCliProcess, accept_connections};

/// How many requests can be queued.
const REQUEST_CHANNEL_CAPACITY: usize = 64;

/// A request from an agent's server.
#[derive(Debug)]
pub enum ToolRequest {
    /// The list of a session's tools.
    ListTools {
        session: SessionId,
        /// The channel for the answer.
        give: oneshot::Sender<Vec<OfferedTool>>,
    },
    CallTool(IncomingToolCall),
    /// The call's server no longer waits for it.
    CallCancelled(RequestId),
}

/// A tool call as it was received.
#[derive(Debug)]
pub struct IncomingToolCall {
    /// Its id among all requests.
    pub request: RequestId,
    /// The session whose token it used.
    pub session: SessionId,
    pub tool: String,
    pub arguments: serde_json::Value,
    /// The CLI's id of the conversation that calls, if it sends one.
    pub thread: Option<String>,
    /// The channel for the answer.
    pub reply_sender: oneshot::Sender<ToolAnswer>,
    /// The channel for progress messages; `None` if the CLI does not want any.
    pub progress: Option<watch::Sender<String>>,
}

/// The tool sockets of a run, one for each session.
pub struct ToolSockets {
    /// The name of the run.
    run: String,
    folder: OnceLock<(tempfile::TempDir, PathBuf)>,
    sockets: BTreeMap<SessionId, ToolSocket>,
    request_sender: mpsc::Sender<ToolRequest>,
    requests: mpsc::Receiver<ToolRequest>,
    n_calls: Arc<AtomicU64>,
}

/// The socket of one session.
struct ToolSocket {
    folder: PathBuf,
    /// The session's CLI, once it runs.
    cli: watch::Sender<Option<SessionCliProcess>>,
    /// A counter that increases when the session's tools change.
    changes: watch::Sender<u64>,
    _listening: JoinSet<()>,
}

impl Default for ToolSockets {
    fn default() -> Self {
        let (knock, knocks) = mpsc::channel(REQUEST_CHANNEL_CAPACITY);
        Self {
            run: String::new(),
            folder: OnceLock::new(),
            sockets: BTreeMap::new(),
            request_sender: knock,
            requests: knocks,
            n_calls: Arc::default(),
        }
    }
}

impl ToolSockets {
    /// Creates the tool sockets of a run; none is open yet.
    pub fn new(run: &RunId) -> Self {
        Self {
            run: run.to_string(),
            ..Self::default()
        }
    }

    /// Opens a session's socket if it is not open, and returns how the session's CLI starts the server that
    /// connects to it.
    ///
    /// # Errors
    /// The folder, the token or the socket cannot be created.
    pub fn open_socket(
        &mut self,
        session: &SessionId,
        patience: Duration,
    ) -> io::Result<ToolServerSpec> {
        if !self.sockets.contains_key(session) {
            let folder = self.create_session_folder(session)?;
            let door = self.start_listening(session, folder)?;
            self.sockets.insert(session.clone(), door);
        }
        let door = self.sockets.get(session).map(|door| &door.folder);
        let folder = door.ok_or(io::ErrorKind::NotFound)?;
        let word = |path: &Path| path.to_string_lossy().into_owned();
        Ok(ToolServerSpec {
            program: word(&program_path()?),
            args: vec![
                "mcp".to_owned(),
                "--socket".to_owned(),
                word(&socket_path(folder)),
                "--token".to_owned(),
                word(&token_path(folder)),
            ],
            folder: folder.clone(),
            timeout_seconds: u32::try_from(patience.as_secs()).unwrap_or(u32::MAX),
        })
    }

    /// Sets the process of a session's CLI: peers must descend from it.
    pub fn expect_process(&self, session: &SessionId, pid: u32) {
        if let Some(door) = self.sockets.get(session) {
            door.cli.send_if_modified(|cli| {
                let is_new = cli.as_ref().is_none_or(|cli| cli.pid != pid);
                cli.take_if(|_| is_new);
                cli.get_or_insert_with(|| SessionCliProcess::new(pid));
                is_new
            });
        }
    }

    /// Informs a session's server that its tools have changed.
    pub fn notify_tools_changed(&self, session: &SessionId) {
        if let Some(door) = self.sockets.get(session) {
            door.changes.send_modify(|n_changes| *n_changes += 1);
        }
    }

    /// Closes a session's socket permanently; its token is no longer valid.
    pub fn close_socket(&mut self, session: &SessionId) {
        if let Some(door) = self.sockets.remove(session)
            && let Err(error) = fs::remove_dir_all(&door.folder)
        {
            tracing::warn!(%error, "the folder of a closed socket was left behind");
        }
    }

    /// Waits for the next request. Cancel safe.
    pub async fn next_request(&mut self) -> ToolRequest {
        match self.requests.recv().await {
            Some(knock) => knock,
            None => std::future::pending().await,
        }
    }

    /// Returns the folder that contains all sessions' folders.
    fn root_folder(&self) -> io::Result<&Path> {
        if self.folder.get().is_none() {
            let longest = socket_path(Path::new("123456789012"));
            let folder = runtime_dir::create_run_dir(&self.run, &longest)?;
            let path = folder.path().canonicalize()?;
            // If another thread was faster, its folder is used.
            let _theirs = self.folder.set((folder, path));
        }
        let made = self.folder.get().map(|(_, path)| path.as_path());
        made.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Creates a session's folder with a short name, because a socket's address is limited.
    fn create_session_folder(&self, session: &SessionId) -> io::Result<PathBuf> {
        let of_all = self.root_folder()?;
        let at = session.as_str().len().saturating_sub(12);
        let folder = of_all.join(session.as_str().get(at..).unwrap_or("session"));
        fs::DirBuilder::new().mode(0o700).create(&folder)?;
        Ok(folder)
    }

    fn start_listening(&self, session: &SessionId, folder: PathBuf) -> io::Result<ToolSocket> {
        let token = format!(
            "{}{}",
            uuid::Uuid::new_v4().simple(),
            uuid::Uuid::new_v4().simple()
        );
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(token_path(&folder))?;
        file.write_all(token.as_bytes())?;
        let socket = socket_path(&folder);
        let listener = UnixListener::bind(&socket)?;
        fs::set_permissions(&socket, fs::Permissions::from_mode(0o600))?;
        let (cli, expected) = watch::channel(None);
        let (changes, changed) = watch::channel(0);
        let post = ConnectionContext {
            session: session.clone(),
            token,
            cli: expected,
            changes: changed,
            request_sender: self.request_sender.clone(),
            n_calls: Arc::clone(&self.n_calls),
        };
        let mut listening = JoinSet::new();
        listening.spawn(accept_connections(listener, post));
        Ok(ToolSocket {
            folder,
            cli,
            changes,
            _listening: listening,
        })
    }
}

fn socket_path(folder: &Path) -> PathBuf {
    folder.join("tools")
}

fn token_path(folder: &Path) -> PathBuf {
    folder.join("token")
}

/// Returns the path of this program; if its file was replaced by a new version, the path through its process.
fn program_path() -> io::Result<PathBuf> {
    let program = std::env::current_exe()?;
    if program.exists() || !cfg!(target_os = "linux") {
        Ok(program)
    } else {
        Ok(PathBuf::from(format!("/proc/{}/exe", std::process::id())))
    }
}

#[cfg(test)]
mod tests;
