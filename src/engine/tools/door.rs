//! The doors by which agents' servers reach this program: for each session a socket and a token of its own.
//!
//! Both lie in a folder that only the user can enter, and where the kernel holds a session's processes, they see
//! none but their own. Who knocks must be the same user's, know the session's token, and have been started by the
//! session's own CLI. Refuses to know tools.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use nix::unistd::getuid;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::adapter::ToolServer;
use crate::domain::ids::{RequestId, SessionId};
use crate::mcp::wire::{self, Answer, Ask, LINE_BYTES, Offered, Tell, VERSION};
use crate::process::is_below;

/// How long whoever knocks may take to say who it is, and its CLI to be known.
const PATIENCE: Duration = Duration::from_secs(10);
/// How many knocks may wait to be taken.
const WAITING: usize = 64;
/// Longer paths do not fit into a socket's address everywhere, in bytes.
const ADDRESS_BYTES: usize = 100;

/// Somebody wants something.
#[derive(Debug)]
pub enum Knock {
    /// Which tools a session has.
    List {
        /// The session.
        session: SessionId,
        /// Where the answer goes.
        give: oneshot::Sender<Vec<Offered>>,
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
    pub give: oneshot::Sender<Answer>,
}

/// All doors of a run.
pub struct Doors {
    folder: Option<tempfile::TempDir>,
    doors: BTreeMap<SessionId, Door>,
    knock: mpsc::Sender<Knock>,
    knocks: mpsc::Receiver<Knock>,
    n_calls: Arc<AtomicU64>,
}

/// One session's.
struct Door {
    folder: PathBuf,
    /// The process of the session's CLI, once it runs.
    cli: watch::Sender<Option<u32>>,
    /// Rises when the session's tools are others.
    changes: watch::Sender<u64>,
    _listening: JoinSet<()>,
}

/// What a connection needs to know of its door.
#[derive(Clone)]
struct Post {
    session: SessionId,
    token: String,
    cli: watch::Receiver<Option<u32>>,
    changes: watch::Receiver<u64>,
    knock: mpsc::Sender<Knock>,
    n_calls: Arc<AtomicU64>,
}

impl Default for Doors {
    fn default() -> Self {
        let (knock, knocks) = mpsc::channel(WAITING);
        Self {
            folder: None,
            doors: BTreeMap::new(),
            knock,
            knocks,
            n_calls: Arc::default(),
        }
    }
}

impl Doors {
    /// Opens a session's door, or finds it open, and tells how the session's CLI starts the server behind it.
    ///
    /// # Errors
    /// The folder, the token or the socket cannot be made.
    pub fn open(&mut self, session: &SessionId, patience: Duration) -> io::Result<ToolServer> {
        if !self.doors.contains_key(session) {
            let folder = self.place(session)?;
            let door = self.listen(session, folder)?;
            self.doors.insert(session.clone(), door);
        }
        let door = self.doors.get(session).map(|door| &door.folder);
        let folder = door.ok_or(io::ErrorKind::NotFound)?;
        let word = |path: &Path| path.to_string_lossy().into_owned();
        Ok(ToolServer {
            program: word(&program()?),
            args: vec![
                "mcp".to_owned(),
                "--socket".to_owned(),
                word(&socket_in(folder)),
                "--token".to_owned(),
                word(&token_in(folder)),
            ],
            folder: folder.clone(),
            seconds: u32::try_from(patience.as_secs()).unwrap_or(u32::MAX),
        })
    }

    /// Takes note of the process of a session's CLI: who knocks must come from it.
    pub fn expect(&self, session: &SessionId, pid: u32) {
        if let Some(door) = self.doors.get(session) {
            door.cli.send_replace(Some(pid));
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

    /// Makes a session's folder, by a short name.
    fn place(&mut self, session: &SessionId) -> io::Result<PathBuf> {
        let of_all = match &self.folder {
            Some(folder) => folder.path().to_owned(),
            None => {
                let folder = private_folder()?;
                let path = folder.path().canonicalize()?;
                self.folder = Some(folder);
                path
            }
        };
        let at = session.as_str().len().saturating_sub(12);
        let folder = of_all.join(session.as_str().get(at..).unwrap_or("session"));
        fs::create_dir(&folder)?;
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
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

/// A folder in the user's place for temporary files, or in the system's where its name would be too long.
fn private_folder() -> io::Result<tempfile::TempDir> {
    let mut named = tempfile::Builder::new();
    let named = named
        .prefix("agent-collab-")
        .permissions(fs::Permissions::from_mode(0o700));
    let folder = named.tempdir()?;
    let longest = socket_in(&folder.path().join("123456789012"));
    match longest.as_os_str().len() <= ADDRESS_BYTES {
        true => Ok(folder),
        false => named.tempdir_in("/tmp"),
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

async fn accept(listener: UnixListener, post: Post) {
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
    let admitted = admitted.unwrap_or_else(|_| {
        Err("it was not started by the CLI of its session, or did not say who it is".to_owned())
    });
    if let Err(why) = admitted {
        tracing::warn!(session = %post.session, why, "an agent's server is refused");
        // Whoever is refused need not listen.
        let _gone = say(&mut to, &Tell::Refused { why }).await;
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
        Ok(Some(Ask::Hello { version, .. })) if version != VERSION => {
            return Err(
                "it is another version of agent-collab; end it and resume the run".to_owned(),
            );
        }
        Ok(Some(Ask::Hello { token, .. })) if is_same(&token, &post.token) => {}
        Ok(_) => return Err("it does not have the session's token".to_owned()),
        Err(error) => return Err(error.to_string()),
    }
    if !cfg!(target_os = "linux") {
        // Nobody can tell there; the token alone is what binds it.
        return Ok(());
    }
    let pid = peer.pid().and_then(|pid| u32::try_from(pid).ok());
    let pid = pid.ok_or("it cannot be seen which process it is")?;
    let of_session = |cli: &Option<u32>| cli.is_some_and(|cli| is_below(pid, cli));
    let known = post.cli.wait_for(of_session).await;
    known
        .map(drop)
        .map_err(|_| "its session is over".to_owned())
}

/// Compares without telling by the time taken how much was right.
fn is_same(given: &str, token: &str) -> bool {
    let differing = given
        .bytes()
        .zip(token.bytes())
        .fold(0, |differing, (a, b)| differing | (a ^ b));
    given.len() == token.len() && differing == 0
}

type Lines = BufReader<OwnedReadHalf>;

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
    say(&mut to, &Tell::Welcome).await?;
    let mut changes = post.changes.clone();
    let mut answers: JoinSet<Option<Tell>> = JoinSet::new();
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
                Some(Ok(Some(ask))) => take(ask, post, calls, &mut answers).await?,
                Some(Err(error)) => return Err(error),
                Some(Ok(None)) | None => return Ok(()),
            },
            Some(answer) = answers.join_next() => {
                if let Ok(Some(tell)) = answer {
                    if let Tell::Answer { id, .. } = &tell {
                        calls.open.remove(id);
                    }
                    say(&mut to, &tell).await?;
                }
            },
            Ok(()) = changes.changed() => say(&mut to, &Tell::Changed).await?,
        }
    }
}

/// Passes on what was asked; its answer comes out of `answers`.
async fn take(
    ask: Ask,
    post: &Post,
    calls: &mut Calls,
    answers: &mut JoinSet<Option<Tell>>,
) -> io::Result<()> {
    let ending = |_| io::Error::from(io::ErrorKind::BrokenPipe);
    match ask {
        Ask::Hello { .. } => Err(io::Error::other("it said twice who it is")),
        Ask::List { id } => {
            let (give, given) = oneshot::channel();
            let session = post.session.clone();
            let knock = Knock::List { session, give };
            post.knock.send(knock).await.map_err(ending)?;
            answers.spawn(async move {
                let tools = given.await.ok()?;
                Some(Tell::Tools { id, tools })
            });
            Ok(())
        }
        Ask::Call {
            id,
            tool,
            arguments,
            thread,
        } => {
            let (give, given) = oneshot::channel();
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
            };
            post.knock
                .send(Knock::Call(calling))
                .await
                .map_err(ending)?;
            answers.spawn(async move {
                let nobody = || Answer::failed("agent-collab did not answer; end your turn");
                let answer = given.await.unwrap_or_else(|_| nobody());
                Some(Tell::Answer { id, answer })
            });
            Ok(())
        }
        Ask::Forget { id } => match calls.open.remove(&id) {
            Some(request) => post
                .knock
                .send(Knock::Forgotten(request))
                .await
                .map_err(ending),
            None => Ok(()),
        },
    }
}

async fn say(to: &mut OwnedWriteHalf, tell: &Tell) -> io::Result<()> {
    to.write_all(&wire::line(tell)?).await
}

/// Reads the next line; `None` when there is none.
async fn read(lines: &mut Lines) -> io::Result<Option<Ask>> {
    let mut line = Vec::new();
    let mut limited = lines.take(LINE_BYTES as u64);
    limited.read_until(b'\n', &mut line).await?;
    match line.last() {
        None => Ok(None),
        Some(b'\n') => serde_json::from_slice(&line).map_err(io::Error::other),
        Some(_) => Err(io::Error::other("a line is cut off, or too long")),
    }
}

#[cfg(test)]
mod tests;
