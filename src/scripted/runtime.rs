//! What a scripted agent does in the world: lines in and out, pauses, commands, files.
//!
//! Knows neither protocol nor script. Everything that can happen arrives in one inbox, so that an
//! interrupt is heard in the middle of a pause, a command or an open request alike.

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

/// How many things may wait in the inbox before their senders are held up.
const INBOX_CAPACITY: usize = 256;

/// How long the pauses of a script are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PlaybackSpeed {
    /// No pause at all.
    Fast,
    /// Pauses divided by this factor, above 0.
    Factor(f64),
}

impl PlaybackSpeed {
    /// Returns how long a pause of `ms` milliseconds lasts.
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

/// The number of a command that was started, unique in this process.
pub type ScriptCommandId = u64;

/// Something that happened.
#[derive(Debug)]
pub enum InboxEvent {
    /// A line of standard input, without its line end.
    Line(String),
    /// Standard input ended.
    InputClosed,
    /// The process was told to terminate.
    Terminate,
    /// A command said something.
    CommandOutput(ScriptCommandId, String),
    /// A command ended, with its exit code; `None` when a signal ended it.
    CommandEnded(ScriptCommandId, Option<i32>),
}

/// Where a scripted agent hears what happened.
pub trait EventInbox: Send {
    /// Waits for the next thing to happen; `None` when nothing did until `deadline`.
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

/// Where a scripted agent acts.
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

/// Whether somebody still reads our standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StdoutState {
    /// Nothing says otherwise.
    Open,
    /// A write failed.
    Closed,
}

impl ScriptRuntime {
    /// Makes a stage of any input and output; `events` is where the input's lines are to be put.
    pub fn new(
        pace: PlaybackSpeed,
        out: Box<dyn Write + Send>,
        err: Box<dyn Write + Send>,
    ) -> (Self, SyncSender<InboxEvent>) {
        let (post, inbox) = sync_channel(INBOX_CAPACITY);
        let stage = Self::with_inbox(pace, out, err, Box::new(inbox), post.clone());
        (stage, post)
    }

    /// Makes a stage whose agent hears from this inbox; what its commands say is posted.
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

    /// Makes the stage of this process: standard input, output and error, and SIGTERM.
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

    /// Sends one frame.
    pub fn send(&mut self, frame: &Value) {
        self.send_line(&frame.to_string());
    }

    /// Sends one line as it stands.
    pub fn send_line(&mut self, line: &str) {
        let sent = writeln!(self.out, "{line}").and_then(|()| self.out.flush());
        if sent.is_err() {
            self.stdout_state = StdoutState::Closed;
        }
    }

    /// Tells whether somebody still reads.
    pub fn stdout_state(&self) -> StdoutState {
        self.stdout_state
    }

    /// Says something on standard error; nobody there to read it is no failure.
    pub fn write_stderr(&mut self, text: &str) {
        let _nobody_reads = writeln!(self.err, "{text}");
    }

    /// Returns how long a pause of the script lasts.
    pub fn pause_duration(&self, ms: u64) -> Duration {
        self.speed.pause_duration(ms)
    }

    /// Waits for the next thing to happen; `None` when nothing did until `deadline`.
    pub fn wait_for_event(&mut self, deadline: Option<Instant>) -> Option<InboxEvent> {
        let heard = self.inbox.wait_for_event(deadline);
        if let Some(InboxEvent::CommandEnded(run, _)) = &heard {
            self.process_groups.remove(run);
        }
        heard
    }

    /// Starts a command line in `cwd`, in a process group of its own, both outputs as one.
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

    /// Starts a server of tools for one call, whose answer is its one line of output.
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

    /// Kills a command and all of its group; one that has ended is left alone.
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

/// Posts a SIGTERM. Without a runtime the process just dies of it, as any other does.
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

/// Tells whether a line of plain words only reads, so that neither program would ask about it.
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

/// A change of one file, worked out and not made yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptedFileChange {
    /// The file, absolute.
    pub path: PathBuf,
    /// What it holds now; `None` when it does not exist.
    pub before: Option<String>,
    /// What it is to hold.
    pub after: String,
}

/// Why a change cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ScriptedFileChangeError {
    /// The file could not be read.
    #[error("read {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file could not be written.
    #[error("write {path}: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The passage is not in the file.
    #[error("String to replace not found in {path}: {find}")]
    NotFound {
        /// The file.
        path: PathBuf,
        /// The passage.
        find: String,
    },
}

impl ScriptedFileChange {
    /// Works out the writing of a whole file.
    ///
    /// # Errors
    /// The file exists and is no readable text.
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

    /// Works out the replacing of the first occurrence of a passage.
    ///
    /// # Errors
    /// The file is no readable text, or the passage is not in it.
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

    /// Makes the change, and the folders above the file.
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
