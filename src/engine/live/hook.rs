//! The socket by which a CLI's hook asks this program, one question a connection.
//!
//! It lies in a folder of its own that only the user can enter, and only answers: whoever reaches it can ask, and
//! let nothing pass by that. Refuses to know what is asked.

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

use crate::engine::scratch;

/// The longest question, in bytes: a patch stands in it.
pub const QUESTION_BYTES: u64 = 16 * 1024 * 1024;
/// How long whoever asks may take to say it.
const PATIENCE: Duration = Duration::from_secs(30);
/// How many questions may wait to be taken.
const WAITING: usize = 64;

/// One question: its text and where its answer goes.
type Question = (String, oneshot::Sender<String>);

/// A socket that listens; it goes with this value, and with it whoever waits.
pub struct Hook {
    folder: tempfile::TempDir,
    questions: mpsc::Receiver<Question>,
    open: BTreeMap<u64, oneshot::Sender<String>>,
    n_asked: u64,
    _tasks: JoinSet<()>,
}

impl Hook {
    /// Begins to listen, for a run by its name.
    ///
    /// # Errors
    /// The folder or the socket cannot be made.
    pub fn listen(run: &str) -> io::Result<Self> {
        let folder = scratch::folder(run, &socket_in(Path::new("")))?;
        let path = socket_in(folder.path());
        let listener = UnixListener::bind(&path)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
        let (ask, questions) = mpsc::channel(WAITING);
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(listener, ask));
        Ok(Self {
            folder,
            questions,
            open: BTreeMap::new(),
            n_asked: 0,
            _tasks: tasks,
        })
    }

    /// The shell command that asks here.
    ///
    /// # Errors
    /// This program's own file is not known.
    pub fn command(&self) -> io::Result<String> {
        let pid = std::process::id();
        // By its process, so that a new version put in its place meanwhile is not what answers.
        let program = match cfg!(target_os = "linux") {
            true => PathBuf::from(format!("/proc/{pid}/exe")),
            false => std::env::current_exe()?,
        };
        let socket = socket_in(self.folder.path());
        Ok(format!(
            "{} hook --socket {} --pid {pid}",
            quoted(&program),
            quoted(&socket)
        ))
    }

    /// Waits for the next question: its number and its text. Cancel safe.
    pub async fn next(&mut self) -> (u64, String) {
        match self.questions.recv().await {
            Some((text, answer)) => {
                self.n_asked += 1;
                self.open.insert(self.n_asked, answer);
                (self.n_asked, text)
            }
            None => std::future::pending().await,
        }
    }

    /// Answers a question.
    pub fn answer(&mut self, number: u64, text: String) {
        if let Some(answer) = self.open.remove(&number) {
            // Who asked may be gone.
            let _gone = answer.send(text);
        }
    }
}

/// Waits for the next question where there is a hook.
pub(super) async fn next_question(hook: &mut Option<Hook>) -> (u64, String) {
    match hook {
        Some(hook) => hook.next().await,
        None => std::future::pending().await,
    }
}

fn socket_in(folder: &Path) -> PathBuf {
    folder.join("hook")
}

/// One word for a shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', r"'\''"))
}

async fn accept(listener: UnixListener, ask: mpsc::Sender<Question>) {
    let mut clients = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => drop(clients.spawn(serve(stream, ask.clone()))),
                Err(error) => {
                    tracing::warn!(%error, "a hook could not be accepted");
                    // Too many open files, most likely: at once it would fail again.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            },
            Some(_) = clients.join_next() => {}
        }
    }
}

async fn serve(stream: UnixStream, ask: mpsc::Sender<Question>) {
    if let Err(error) = exchange(stream, ask).await {
        tracing::warn!(%error, "a hook was not answered; it denies the call by itself");
    }
}

async fn exchange(mut stream: UnixStream, ask: mpsc::Sender<Question>) -> io::Result<()> {
    if stream.peer_cred()?.uid() != getuid().as_raw() {
        return Err(io::Error::other("it belongs to another user"));
    }
    let mut text = Vec::new();
    let mut limited = (&mut stream).take(QUESTION_BYTES + 1);
    let read = timeout(PATIENCE, limited.read_to_end(&mut text)).await;
    read.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
    if text.len() as u64 > QUESTION_BYTES {
        return Err(io::Error::other("its question is too long"));
    }
    let (answer, answered) = oneshot::channel();
    let text = String::from_utf8_lossy(&text).into_owned();
    ask.send((text, answer)).await.map_err(io::Error::other)?;
    let answer = answered.await.map_err(io::Error::other)?;
    // Said even where it is empty, so that silence is never taken for an answer.
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
        let mut hook = Hook::listen("run_1").unwrap();
        let path = socket_in(hook.folder.path());
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
                let (number, text) = hook.next().await;
                hook.answer(number, text.to_uppercase());
            }
        };
        let ((first, second), ()) = tokio::join!(both, answers);
        assert_eq!(first.unwrap(), "FIRST\nQUESTION\n");
        assert_eq!(second.unwrap(), "SECOND\n");
    }

    #[tokio::test]
    async fn whoever_waits_when_it_goes_hears_nothing() {
        let mut hook = Hook::listen("run_1").unwrap();
        let path = socket_in(hook.folder.path());
        let asking = tokio::spawn(ask(path.clone(), "anything"));
        hook.next().await;
        drop(hook);
        let heard = asking.await.unwrap();
        assert!(heard.is_err() || heard.unwrap().is_empty());
        assert!(!path.exists());
    }
}
