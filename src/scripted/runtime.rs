//! Performs a scripted agent's input and output: lines, pauses, commands, files.
//!
//! It is independent of protocol and script. All events arrive in one inbox, so that an interrupt is noticed during a
//! pause, a command or an open request alike.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde_json::Value;
use similar::TextDiff;

use super::mcp_client::{ScriptedToolCall, ToolServerCommand};

/// How many events may wait in the inbox before their senders block.
const INBOX_CAPACITY: usize = 256;

/// The length of a script's pauses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PlaybackSpeed {
    /// No pause at all.
    Fast,
    /// Pauses divided by this factor, above 0.
    Factor(f64),
}

impl PlaybackSpeed {
    /// Returns the duration of a pause of `ms` milliseconds.
    pub fn pause_duration(self, ms: u64) -> Duration {
        match self {
            Self::Fast => Duration::ZERO,
            Self::Factor(factor) => {
                Duration::try_from_secs_f64(Duration::from_millis(ms).as_secs_f64() / factor)
                    .unwrap_or(Duration::MAX)
            }
        }
    }
}

/// The number of a started command, unique in this process.
pub type ScriptCommandId = u64;

/// An event in the inbox.
#[derive(Debug)]
pub enum InboxEvent {
    /// A line of standard input, without its line end.
    Line(String),
    InputClosed,
    /// The process was told to terminate.
    Terminate,
    /// A command wrote a line.
    CommandOutput(ScriptCommandId, String),
    /// A command ended with this exit code; `None` if a signal ended it.
    CommandEnded(ScriptCommandId, Option<i32>),
}

/// The source of a scripted agent's events.
pub trait EventInbox: Send {
    /// Waits for the next event; `None` if there is none until `deadline`.
    fn wait_for_event(&mut self, deadline: Option<Instant>) -> Option<InboxEvent>;
}

impl EventInbox for Receiver<InboxEvent> {
    fn wait_for_event(&mut self, deadline: Option<Instant>) -> Option<InboxEvent> {
        let Some(deadline) = deadline else {
            return self.recv().ok().or(Some(InboxEvent::InputClosed));
        };
        let wait = deadline.saturating_duration_since(Instant::now());
        match self.recv_timeout(wait) {
            Ok(heard) => Some(heard),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(InboxEvent::InputClosed),
        }
    }
}

/// The input, output, commands and pauses of a scripted agent.
pub struct ScriptRuntime {
    inbox: Box<dyn EventInbox>,
    events: SyncSender<InboxEvent>,
    out: Box<dyn Write + Send>,
    err: Box<dyn Write + Send>,
    speed: PlaybackSpeed,
    process_groups: BTreeMap<ScriptCommandId, Pid>,
    n_commands: ScriptCommandId,
    stdout_state: StdoutState,
}

/// Whether standard output still has a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StdoutState {
    /// No write has failed.
    Open,
    Closed,
}

impl ScriptRuntime {
    /// Builds a runtime for any input and output; `events` receives the lines of the input.
    pub fn new(
        pace: PlaybackSpeed,
        out: Box<dyn Write + Send>,
        err: Box<dyn Write + Send>,
    ) -> (Self, SyncSender<InboxEvent>) {
        let (post, inbox) = sync_channel(INBOX_CAPACITY);
        let stage = Self::with_inbox(pace, out, err, Box::new(inbox), post.clone());
        (stage, post)
    }

    /// Builds a runtime that reads events from this inbox; the output of its commands is posted to it.
    pub fn with_inbox(
        pace: PlaybackSpeed,
        out: Box<dyn Write + Send>,
        err: Box<dyn Write + Send>,
        inbox: Box<dyn EventInbox>,
        post: SyncSender<InboxEvent>,
    ) -> Self {
        Self {
            inbox,
            events: post,
            out,
            err,
            speed: pace,
            process_groups: BTreeMap::new(),
            n_commands: 0,
            stdout_state: StdoutState::Open,
        }
    }

    /// Builds the runtime of this process: standard input, output and error, and SIGTERM.
    pub fn from_stdio(pace: PlaybackSpeed) -> Self {
        let (stage, post) = Self::new(
            pace,
            Box::new(std::io::stdout()),
            Box::new(std::io::stderr()),
        );
        let lines = post.clone();
        std::thread::spawn(move || forward_lines(std::io::stdin().lock(), &lines));
        std::thread::spawn(move || forward_sigterm(&post));
        stage
    }

    pub fn send(&mut self, frame: &Value) {
        self.send_line(&frame.to_string());
    }

    /// Sends one line unchanged.
    pub fn send_line(&mut self, line: &str) {
        let sent = writeln!(self.out, "{line}").and_then(|()| self.out.flush());
        if sent.is_err() {
            self.stdout_state = StdoutState::Closed;
        }
    }

    /// Returns whether standard output still has a reader.
    pub fn stdout_state(&self) -> StdoutState {
        self.stdout_state
    }

    /// Writes to standard error; a missing reader is not an error.
    pub fn write_stderr(&mut self, text: &str) {
        let _nobody_reads = writeln!(self.err, "{text}");
    }

    /// Returns the duration of a pause of the script.
    pub fn pause_duration(&self, ms: u64) -> Duration {
        self.speed.pause_duration(ms)
    }

    /// Waits for the next event; `None` if there is none until `deadline`.
    pub fn wait_for_event(&mut self, deadline: Option<Instant>) -> Option<InboxEvent> {
        let heard = self.inbox.wait_for_event(deadline);
        if let Some(InboxEvent::CommandEnded(run, _)) = &heard {
            self.process_groups.remove(run);
        }
        heard
    }

    /// Starts a command line in `cwd`, in its own process group, with both outputs combined.
    ///
    /// # Errors
    /// There is no `sh`, or the system can start no more processes.
    pub fn start_command(&mut self, line: &str, cwd: &Path) -> std::io::Result<ScriptCommandId> {
        let mut child = Command::new("sh")
            .arg("-c")
            .arg(format!("exec 2>&1\n{line}"))
            .current_dir(cwd)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        self.n_commands += 1;
        let run = self.n_commands;
        self.process_groups
            .insert(run, Pid::from_raw(child.id().cast_signed()));
        let post = self.events.clone();
        let out = child.stdout.take();
        std::thread::spawn(move || {
            if let Some(out) = out {
                forward_output(out, run, &post);
            }
            let code = child.wait().ok().and_then(|status| status.code());
            let _nobody_listens = post.send(InboxEvent::CommandEnded(run, code));
        });
        Ok(run)
    }

    /// Starts a tool server for one call; its one line of output is the answer.
    ///
    /// # Errors
    /// The server cannot be started.
    pub fn start_tool_call(
        &mut self,
        server: &ToolServerCommand,
        call: ScriptedToolCall,
    ) -> std::io::Result<ScriptCommandId> {
        let mut child = server.to_command().process_group(0).spawn()?;
        self.n_commands += 1;
        let run = self.n_commands;
        self.process_groups
            .insert(run, Pid::from_raw(child.id().cast_signed()));
        let post = self.events.clone();
        let ends = child.stdin.take().zip(child.stdout.take());
        std::thread::spawn(move || {
            let line = ends.and_then(|(to, from)| call.send_and_receive(to, from));
            let _nobody_listens =
                post.send(InboxEvent::CommandOutput(run, line.unwrap_or_default()));
            let code = child.wait().ok().and_then(|status| status.code());
            let _nobody_listens = post.send(InboxEvent::CommandEnded(run, code));
        });
        Ok(run)
    }

    /// Kills a command and its whole process group; does nothing if the command has ended.
    pub fn kill_command(&mut self, run: ScriptCommandId) {
        if let Some(group) = self.process_groups.get(&run) {
            let _already_gone = killpg(*group, Signal::SIGKILL);
        }
    }

    /// Kills every command that still runs.
    pub fn kill_all(&mut self) {
        for run in self.process_groups.keys().copied().collect::<Vec<_>>() {
            self.kill_command(run);
        }
    }
}

impl Drop for ScriptRuntime {
    fn drop(&mut self) {
        self.kill_all();
    }
}

/// Posts every line of `input`, invalid UTF-8 replaced, and its end.
pub fn forward_lines(mut input: impl BufRead, post: &SyncSender<InboxEvent>) {
    let mut line = Vec::new();
    loop {
        line.clear();
        match input.read_until(b'\n', &mut line) {
            Ok(n) if n > 0 => {
                let text = String::from_utf8_lossy(&line);
                let text = text.trim_end_matches(['\n', '\r']).to_owned();
                if post.send(InboxEvent::Line(text)).is_err() {
                    return;
                }
            }
            Ok(_) | Err(_) => {
                let _nobody_listens = post.send(InboxEvent::InputClosed);
                return;
            }
        }
    }
}

fn forward_output(out: impl Read, run: ScriptCommandId, post: &SyncSender<InboxEvent>) {
    let mut out = BufReader::new(out);
    let mut line = Vec::new();
    while let Ok(n) = out.read_until(b'\n', &mut line) {
        let text = String::from_utf8_lossy(&line).into_owned();
        if n == 0 || post.send(InboxEvent::CommandOutput(run, text)).is_err() {
            return;
        }
        line.clear();
    }
}

/// Posts a SIGTERM. Without a runtime the process just dies of it, as any other process does.
fn forward_sigterm(post: &SyncSender<InboxEvent>) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    else {
        return;
    };
    runtime.block_on(async {
        let kind = tokio::signal::unix::SignalKind::terminate();
        if let Ok(mut signals) = tokio::signal::unix::signal(kind)
            && signals.recv().await.is_some()
        {
            let _nobody_listens = post.send(InboxEvent::Terminate);
        }
    });
}

/// Returns whether a line of plain words only reads, so that neither program would ask about it.
pub fn is_read_only_command(line: &str) -> bool {
    let plain_words = line
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || " ./_-:=,+@%".contains(c));
    let words: Vec<&str> = line.split_whitespace().collect();
    let reads = match words.as_slice() {
        ["git", verb, ..] => ["status", "log", "diff", "show"].contains(verb),
        [word, ..] => ["ls", "cat", "head", "tail", "wc", "grep", "pwd"].contains(word),
        [] => false,
    };
    plain_words && reads && !line.contains("--output")
}

/// A change of one file that is not applied yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptedFileChange {
    /// The absolute path of the file.
    pub path: PathBuf,
    /// The current content; `None` if the file does not exist.
    pub before: Option<String>,
    pub after: String,
}

/// Why a change cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ScriptedFileChangeError {
    /// The file could not be read.
    #[error("read {path}: {source}")]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    /// The file could not be written.
    #[error("write {path}: {source}")]
    Write {
        path: PathBuf,
        source: std::io::Error,
    },
    /// The text to replace is not in the file.
    #[error("String to replace not found in {path}: {find}")]
    NotFound {
        path: PathBuf,
        /// The text to replace.
        find: String,
    },
}

impl ScriptedFileChange {
    /// Prepares writing a whole file.
    ///
    /// # Errors
    /// The file exists and cannot be read as text.
    pub fn from_content(path: PathBuf, content: String) -> Result<Self, ScriptedFileChangeError> {
        let before = match std::fs::read_to_string(&path) {
            Ok(before) => Some(before),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(source) => return Err(ScriptedFileChangeError::Read { path, source }),
        };
        Ok(Self {
            path,
            before,
            after: content,
        })
    }

    /// Prepares replacing the first occurrence of a text.
    ///
    /// # Errors
    /// The file cannot be read as text, or does not contain the text.
    pub fn from_replacement(
        path: PathBuf,
        find: &str,
        replace: &str,
    ) -> Result<Self, ScriptedFileChangeError> {
        let before =
            std::fs::read_to_string(&path).map_err(|source| ScriptedFileChangeError::Read {
                path: path.clone(),
                source,
            })?;
        if !before.contains(find) {
            return Err(ScriptedFileChangeError::NotFound {
                path,
                find: find.to_owned(),
            });
        }
        let after = before.replacen(find, replace, 1);
        Ok(Self {
            path,
            before: Some(before),
            after,
        })
    }

    /// Applies the change and creates missing parent folders.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn apply(&self) -> Result<(), ScriptedFileChangeError> {
        let failed = |source| ScriptedFileChangeError::Write {
            path: self.path.clone(),
            source,
        };
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        std::fs::write(&self.path, &self.after).map_err(failed)
    }

    /// Returns the hunks of a change, without file headers.
    pub fn hunks(&self) -> String {
        let before = self.before.as_deref().unwrap_or_default();
        TextDiff::from_lines(before, &self.after)
            .unified_diff()
            .context_radius(3)
            .to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_divided_by_the_factor() {
        assert_eq!(PlaybackSpeed::Fast.pause_duration(1000), Duration::ZERO);
        assert_eq!(
            PlaybackSpeed::Factor(4.0).pause_duration(1000),
            Duration::from_millis(250)
        );
        assert_eq!(
            PlaybackSpeed::Factor(1e-300).pause_duration(u64::MAX),
            Duration::MAX
        );
    }

    #[test]
    fn an_edit_replaces_the_first_occurrence_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        std::fs::write(&path, "x\ny\nx\n").unwrap();
        let change = ScriptedFileChange::from_replacement(path.clone(), "x\n", "z\n").unwrap();
        change.apply().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "z\ny\nx\n");
        assert_eq!(change.hunks(), "@@ -1,3 +1,3 @@\n-x\n+z\n y\n x\n");
        assert!(ScriptedFileChange::from_replacement(path, "nothing of it", "").is_err());
    }

    #[test]
    fn a_killed_command_takes_its_group_along() {
        let (mut stage, _post) = ScriptRuntime::new(
            PlaybackSpeed::Fast,
            Box::new(std::io::sink()),
            Box::new(std::io::sink()),
        );
        let run = stage
            .start_command("echo up; sleep 600 & wait", Path::new("/"))
            .unwrap();
        loop {
            match stage.wait_for_event(None) {
                Some(InboxEvent::CommandOutput(..)) => stage.kill_command(run),
                Some(InboxEvent::CommandEnded(ended, code)) => {
                    break assert_eq!((ended, code), (run, None));
                }
                other => panic!("{other:?}"),
            }
        }
    }
}
