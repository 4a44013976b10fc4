//! The doors by which agents' servers reach this program: for each session a socket and a token of its own.
//!
//! Both lie in a folder that only the user can enter, and where the kernel holds a session's processes, they see
//! none but their own. Who knocks must be the same user's, know the session's token, descend from the session's own
//! CLI, and have been started by the very process that started the CLI's first server: what an agent has its CLI run
//! comes from further below. Refuses to know tools.

mod visitor;
mod waiting_call;

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
use crate::engine::scratch;
use crate::mcp::socket_protocol::{OfferedTool, ToolAnswer};
use visitor::{Cli, Post, accept};

/// How many knocks may wait to be taken.
const WAITING: usize = 64;

/// Somebody wants something.
#[derive(Debug)]
pub enum Knock {
    /// Which tools a session has.
    List {
        /// The session.
        session: SessionId,
        /// Where the answer goes.
        give: oneshot::Sender<Vec<OfferedTool>>,
    },
    /// A tool is called.
    Call(Calling),
    /// Nobody waits for that call any more.
    Forgotten(RequestId),
}

/// A call of a tool, as it came in.
#[derive(Debug)]
pub struct Calling {
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
    pub give: oneshot::Sender<ToolAnswer>,
    /// Where it is told meanwhile what it waits for; `None` where its CLI does not want to know.
    pub progress: Option<watch::Sender<String>>,
}

/// All doors of a run.
pub struct Doors {
    /// The run whose they are, by its name.
    run: String,
    folder: OnceLock<(tempfile::TempDir, PathBuf)>,
    doors: BTreeMap<SessionId, Door>,
    knock: mpsc::Sender<Knock>,
    knocks: mpsc::Receiver<Knock>,
    n_calls: Arc<AtomicU64>,
}

/// One session's.
struct Door {
    folder: PathBuf,
    /// The session's CLI, once it runs.
    cli: watch::Sender<Option<Cli>>,
    /// Rises when the session's tools are others.
    changes: watch::Sender<u64>,
    _listening: JoinSet<()>,
}

impl Default for Doors {
    fn default() -> Self {
        let (knock, knocks) = mpsc::channel(WAITING);
        Self {
            run: String::new(),
            folder: OnceLock::new(),
            doors: BTreeMap::new(),
            knock,
            knocks,
            n_calls: Arc::default(),
        }
    }
}

impl Doors {
    /// The doors of a run; none is open yet.
    pub fn of(run: &RunId) -> Self {
        Self {
            run: run.to_string(),
            ..Self::default()
        }
    }

    /// Opens a session's door, or finds it open, and tells how the session's CLI starts the server behind it.
    ///
    /// # Errors
    /// The folder, the token or the socket cannot be made.
    pub fn open(&mut self, session: &SessionId, patience: Duration) -> io::Result<ToolServerSpec> {
        if !self.doors.contains_key(session) {
            let folder = self.place(session)?;
            let door = self.listen(session, folder)?;
            self.doors.insert(session.clone(), door);
        }
        let door = self.doors.get(session).map(|door| &door.folder);
        let folder = door.ok_or(io::ErrorKind::NotFound)?;
        let word = |path: &Path| path.to_string_lossy().into_owned();
        Ok(ToolServerSpec {
            program: word(&program()?),
            args: vec![
                "mcp".to_owned(),
                "--socket".to_owned(),
                word(&socket_in(folder)),
                "--token".to_owned(),
                word(&token_in(folder)),
            ],
            folder: folder.clone(),
            timeout_seconds: u32::try_from(patience.as_secs()).unwrap_or(u32::MAX),
        })
    }

    /// Takes note of the process of a session's CLI: who knocks must come from it.
    pub fn expect(&self, session: &SessionId, pid: u32) {
        if let Some(door) = self.doors.get(session) {
            door.cli.send_if_modified(|cli| {
                let is_new = cli.as_ref().is_none_or(|cli| cli.pid != pid);
                cli.take_if(|_| is_new);
                cli.get_or_insert_with(|| Cli::new(pid));
                is_new
            });
        }
    }

    /// Lets a session's server know that its tools are others now.
    pub fn changed(&self, session: &SessionId) {
        if let Some(door) = self.doors.get(session) {
            door.changes.send_modify(|n_changes| *n_changes += 1);
        }
    }

    /// Closes a session's door for good; its token opens nothing any more.
    pub fn close(&mut self, session: &SessionId) {
        if let Some(door) = self.doors.remove(session)
            && let Err(error) = fs::remove_dir_all(&door.folder)
        {
            tracing::warn!(%error, "the folder of a closed door stays");
        }
    }

    /// Waits for the next knock. Cancel safe.
    pub async fn next(&mut self) -> Knock {
        match self.knocks.recv().await {
            Some(knock) => knock,
            None => std::future::pending().await,
        }
    }

    /// The folder in which all of them lie.
    fn of_all(&self) -> io::Result<&Path> {
        if self.folder.get().is_none() {
            let longest = socket_in(Path::new("123456789012"));
            let folder = scratch::folder(&self.run, &longest)?;
            let path = folder.path().canonicalize()?;
            // Whoever was faster made as good a one.
            let _theirs = self.folder.set((folder, path));
        }
        let made = self.folder.get().map(|(_, path)| path.as_path());
        made.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Makes a session's folder, by a short name.
    fn place(&self, session: &SessionId) -> io::Result<PathBuf> {
        let of_all = self.of_all()?;
        let at = session.as_str().len().saturating_sub(12);
        let folder = of_all.join(session.as_str().get(at..).unwrap_or("session"));
        fs::DirBuilder::new().mode(0o700).create(&folder)?;
        Ok(folder)
    }

    fn listen(&self, session: &SessionId, folder: PathBuf) -> io::Result<Door> {
        let token = format!(
            "{}{}",
            uuid::Uuid::new_v4().simple(),
            uuid::Uuid::new_v4().simple()
        );
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(token_in(&folder))?;
        file.write_all(token.as_bytes())?;
        let socket = socket_in(&folder);
        let listener = UnixListener::bind(&socket)?;
        fs::set_permissions(&socket, fs::Permissions::from_mode(0o600))?;
        let (cli, expected) = watch::channel(None);
        let (changes, changed) = watch::channel(0);
        let post = Post {
            session: session.clone(),
            token,
            cli: expected,
            changes: changed,
            knock: self.knock.clone(),
            n_calls: Arc::clone(&self.n_calls),
        };
        let mut listening = JoinSet::new();
        listening.spawn(accept(listener, post));
        Ok(Door {
            folder,
            cli,
            changes,
            _listening: listening,
        })
    }
}

fn socket_in(folder: &Path) -> PathBuf {
    folder.join("tools")
}

fn token_in(folder: &Path) -> PathBuf {
    folder.join("token")
}

/// This program's file; by its process where the file is gone, because a new version was put in its place.
fn program() -> io::Result<PathBuf> {
    let program = std::env::current_exe()?;
    match program.exists() || !cfg!(target_os = "linux") {
        true => Ok(program),
        false => Ok(PathBuf::from(format!("/proc/{}/exe", std::process::id()))),
    }
}

#[cfg(test)]
mod tests;
