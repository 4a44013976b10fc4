//! The doors by which agents' servers reach this program: for each session a socket and a token of its own.
//!
//! Both lie in a folder that only the user can enter, and where the kernel holds a session's processes, they see
//! none but their own. Who knocks must be the same user's, know the session's token, descend from the session's own
//! CLI, and have been started by the very process that started the CLI's first server: what an agent has its CLI run
//! comes from further below. Refuses to know tools.

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

/// How many knocks may wait to be taken.
const REQUEST_CHANNEL_CAPACITY: usize = 64;

/// Somebody wants something.
#[derive(Debug)]
pub enum ToolRequest {
    /// Which tools a session has.
    ListTools {
        /// The session.
        session: SessionId,
        /// Where the answer goes.
        give: oneshot::Sender<Vec<OfferedTool>>,
    },
    /// A tool is called.
    CallTool(IncomingToolCall),
    /// Nobody waits for that call any more.
    CallCancelled(RequestId),
}

/// A call of a tool, as it came in.
#[derive(Debug)]
pub struct IncomingToolCall {
    /// Its name among all requests.
    pub request: RequestId,
    /// Whose token it came under.
    pub session: SessionId,
    /// The tool's name.
    pub tool: String,
    /// Its arguments.
    pub arguments: serde_json::Value,
    /// The CLI's id of the conversation that calls, where it tells one.
    pub thread: Option<String>,
    /// Where the answer goes.
    pub reply_sender: oneshot::Sender<ToolAnswer>,
    /// Where it is told meanwhile what it waits for; `None` where its CLI does not want to know.
    pub progress: Option<watch::Sender<String>>,
}

/// All doors of a run.
pub struct ToolSockets {
    /// The run whose they are, by its name.
    run: String,
    folder: OnceLock<(tempfile::TempDir, PathBuf)>,
    sockets: BTreeMap<SessionId, ToolSocket>,
    request_sender: mpsc::Sender<ToolRequest>,
    requests: mpsc::Receiver<ToolRequest>,
    n_calls: Arc<AtomicU64>,
}

/// One session's.
struct ToolSocket {
    folder: PathBuf,
    /// The session's CLI, once it runs.
    cli: watch::Sender<Option<SessionCliProcess>>,
    /// Rises when the session's tools are others.
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
    /// The doors of a run; none is open yet.
    pub fn new(run: &RunId) -> Self {
        Self {
            run: run.to_string(),
            ..Self::default()
        }
    }

    /// Opens a session's door, or finds it open, and tells how the session's CLI starts the server behind it.
    ///
    /// # Errors
    /// The folder, the token or the socket cannot be made.
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

    /// Takes note of the process of a session's CLI: who knocks must come from it.
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

    /// Lets a session's server know that its tools are others now.
    pub fn notify_tools_changed(&self, session: &SessionId) {
        if let Some(door) = self.sockets.get(session) {
            door.changes.send_modify(|n_changes| *n_changes += 1);
        }
    }

    /// Closes a session's door for good; its token opens nothing any more.
    pub fn close_socket(&mut self, session: &SessionId) {
        if let Some(door) = self.sockets.remove(session)
            && let Err(error) = fs::remove_dir_all(&door.folder)
        {
            tracing::warn!(%error, "the folder of a closed door stays");
        }
    }

    /// Waits for the next knock. Cancel safe.
    pub async fn next_request(&mut self) -> ToolRequest {
        match self.requests.recv().await {
            Some(knock) => knock,
            None => std::future::pending().await,
        }
    }

    /// The folder in which all of them lie.
    fn root_folder(&self) -> io::Result<&Path> {
        if self.folder.get().is_none() {
            let longest = socket_path(Path::new("123456789012"));
            let folder = runtime_dir::create_run_dir(&self.run, &longest)?;
            let path = folder.path().canonicalize()?;
            // Whoever was faster made as good a one.
            let _theirs = self.folder.set((folder, path));
        }
        let made = self.folder.get().map(|(_, path)| path.as_path());
        made.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Makes a session's folder, by a short name.
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

/// This program's file; by its process where the file is gone, because a new version was put in its place.
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
