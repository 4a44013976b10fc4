//! Listens on the socket where a CLI's hook asks this program, one question per connection.
//!
//! It is in a folder of its own that only the user can enter. A process that reaches it can only ask; it cannot
//! allow anything.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::unistd::getuid;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::engine::runtime_dir;

/// The longest question, in bytes; it may contain a patch.
pub const MAX_HOOK_CALL_BYTES: u64 = 16 * 1024 * 1024;
/// How long a client may take to send its question.
const HOOK_READ_TIMEOUT: Duration = Duration::from_secs(30);
/// How many questions can be queued.
const HOOK_CALL_CAPACITY: usize = 64;

/// One question: its text and the channel for its answer.
type HookSocketCall = (String, oneshot::Sender<String>);

/// A listening socket; dropping it closes it, with all waiting connections.
pub struct HookSocket {
    folder: tempfile::TempDir,
    calls: mpsc::Receiver<HookSocketCall>,
    pending_replies: BTreeMap<u64, oneshot::Sender<String>>,
    n_calls: u64,
    _tasks: JoinSet<()>,
}

impl HookSocket {
    /// Starts listening; the folder is named after the run.
    ///
    /// # Errors
    /// The folder or the socket cannot be created.
    pub fn listen(run: &str) -> io::Result<Self> {
        let folder = runtime_dir::create_run_dir(run, &socket_path(Path::new("")))?;
        let path = socket_path(folder.path());
        let listener = UnixListener::bind(&path)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
        let (ask, questions) = mpsc::channel(HOOK_CALL_CAPACITY);
        let mut tasks = JoinSet::new();
        tasks.spawn(accept_connections(listener, ask));
        Ok(Self {
            folder,
            calls: questions,
            pending_replies: BTreeMap::new(),
            n_calls: 0,
            _tasks: tasks,
        })
    }

    /// Returns the shell command with which the hook of this CLI asks here.
    ///
    /// # Errors
    /// The path of this program is unknown.
    pub fn hook_command(&self, cli: &str) -> io::Result<String> {
        let pid = std::process::id();
        // The path goes through the process, so that a new version installed in the meantime does not answer.
        let program = if cfg!(target_os = "linux") {
            PathBuf::from(format!("/proc/{pid}/exe"))
        } else {
            std::env::current_exe()?
        };
        let socket = socket_path(self.folder.path());
        Ok(format!(
            "{} hook --cli {cli} --socket {} --pid {pid}",
            shell_quote(&program),
            shell_quote(&socket)
        ))
    }

    /// Waits for the next question: its number and its text. Cancel safe.
    pub async fn next_call(&mut self) -> (u64, String) {
        match self.calls.recv().await {
            Some((text, answer)) => {
                self.n_calls += 1;
                self.pending_replies.insert(self.n_calls, answer);
                (self.n_calls, text)
            }
            None => std::future::pending().await,
        }
    }

    pub fn reply_to_call(&mut self, number: u64, text: String) {
        if let Some(answer) = self.pending_replies.remove(&number) {
            // The client may be gone.
            let _gone = answer.send(text);
        }
    }
}

/// Waits for the next question if there is a hook.
pub(super) async fn next_hook_call(hook: &mut Option<HookSocket>) -> (u64, String) {
    match hook {
        Some(hook) => hook.next_call().await,
        None => std::future::pending().await,
    }
}

fn socket_path(folder: &Path) -> PathBuf {
    folder.join("hook")
}

/// Quotes a path as one word for a shell.
fn shell_quote(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', r"'\''"))
}

async fn accept_connections(listener: UnixListener, ask: mpsc::Sender<HookSocketCall>) {
    let mut clients = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => drop(clients.spawn(serve_connection(stream, ask.clone()))),
                Err(error) => {
                    tracing::warn!(%error, "a hook could not be accepted");
                    // Most likely there are too many open files: an immediate retry would fail again.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            },
            Some(_) = clients.join_next() => {}
        }
    }
}

async fn serve_connection(stream: UnixStream, ask: mpsc::Sender<HookSocketCall>) {
    if let Err(error) = exchange_call(stream, ask).await {
        tracing::warn!(%error, "a hook was not answered; it denies the call by itself");
    }
}

async fn exchange_call(
    mut stream: UnixStream,
    ask: mpsc::Sender<HookSocketCall>,
) -> io::Result<()> {
    if stream.peer_cred()?.uid() != getuid().as_raw() {
        return Err(io::Error::other("it belongs to another user"));
    }
    let mut text = Vec::new();
    let mut limited = (&mut stream).take(MAX_HOOK_CALL_BYTES + 1);
    let read = timeout(HOOK_READ_TIMEOUT, limited.read_to_end(&mut text)).await;
    read.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
    if text.len() as u64 > MAX_HOOK_CALL_BYTES {
        return Err(io::Error::other("its question is too long"));
    }
    let (answer, answered) = oneshot::channel();
    let text = String::from_utf8_lossy(&text).into_owned();
    ask.send((text, answer)).await.map_err(io::Error::other)?;
    let answer = answered.await.map_err(io::Error::other)?;
    // A newline is sent even for an empty answer, so that a closed connection is never taken for an answer.
    stream.write_all(format!("{answer}\n").as_bytes()).await
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn ask(path: PathBuf, text: &str) -> io::Result<String> {
        let mut stream = UnixStream::connect(path).await?;
        stream.write_all(text.as_bytes()).await?;
        stream.shutdown().await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        Ok(answer)
    }

    #[tokio::test]
    async fn each_question_gets_its_own_answer_and_the_socket_is_private() {
        let mut hook = HookSocket::listen("run_1").unwrap();
        let path = socket_path(hook.folder.path());
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(hook.folder.path())), (0o600, 0o700));
        let both = async {
            tokio::join!(
                ask(path.clone(), "first\nquestion"),
                ask(path.clone(), "second")
            )
        };
        let answers = async {
            for _ in 0..2 {
                let (number, text) = hook.next_call().await;
                hook.reply_to_call(number, text.to_uppercase());
            }
        };
        let ((first, second), ()) = tokio::join!(both, answers);
        assert_eq!(first.unwrap(), "FIRST\nQUESTION\n");
        assert_eq!(second.unwrap(), "SECOND\n");
    }

    #[tokio::test]
    async fn whoever_waits_when_it_goes_hears_nothing() {
        let mut hook = HookSocket::listen("run_1").unwrap();
        let path = socket_path(hook.folder.path());
        let asking = tokio::spawn(ask(path.clone(), "anything"));
        hook.next_call().await;
        drop(hook);
        let heard = asking.await.unwrap();
        assert!(heard.is_err() || heard.unwrap().is_empty());
        assert!(!path.exists());
    }
}
