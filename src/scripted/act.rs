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

use super::tool_server::{ToolCall, ToolServer};

/// How many things may wait in the inbox before their senders are held up.
const INBOX: usize = 256;

/// How long the pauses of a script are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// No pause at all.
    Fast,
    /// Pauses divided by this factor, above 0.
    Factor(f64),
}

impl Pace {
    /// Returns how long a pause of `ms` milliseconds lasts.
    pub fn pause(self, ms: u64) -> Duration {
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
pub type RunNumber = u64;

/// Something that happened.
#[derive(Debug)]
pub enum Heard {
    /// A line of standard input, without its line end.
    Line(String),
    /// Standard input ended.
    End,
    /// The process was told to terminate.
    Terminate,
    /// A command said something.
    Output(RunNumber, String),
    /// A command ended, with its exit code; `None` when a signal ended it.
    Ended(RunNumber, Option<i32>),
}

/// Where a scripted agent hears what happened.
pub trait Inbox: Send {
    /// Waits for the next thing to happen; `None` when nothing did until `deadline`.
    fn hear(&mut self, deadline: Option<Instant>) -> Option<Heard>;
}

impl Inbox for Receiver<Heard> {
    fn hear(&mut self, deadline: Option<Instant>) -> Option<Heard> {
        let Some(deadline) = deadline else {
            return self.recv().ok().or(Some(Heard::End));
        };
        let wait = deadline.saturating_duration_since(Instant::now());
        match self.recv_timeout(wait) {
            Ok(heard) => Some(heard),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Heard::End),
        }
    }
}

/// Where a scripted agent acts.
pub struct Stage {
    inbox: Box<dyn Inbox>,
    post: SyncSender<Heard>,
    out: Box<dyn Write + Send>,
    err: Box<dyn Write + Send>,
    pace: Pace,
    groups: BTreeMap<RunNumber, Pid>,
    n_runs: RunNumber,
    audience: Audience,
}

/// Whether somebody still reads our standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// Nothing says otherwise.
    There,
    /// A write failed.
    Gone,
}

impl Stage {
    /// Makes a stage of any input and output; `post` is where the input's lines are to be put.
    pub fn new(
        pace: Pace,
        out: Box<dyn Write + Send>,
        err: Box<dyn Write + Send>,
    ) -> (Self, SyncSender<Heard>) {
        let (post, inbox) = sync_channel(INBOX);
        let stage = Self::with_inbox(pace, out, err, (Box::new(inbox), post.clone()));
        (stage, post)
    }

    /// Makes a stage whose agent hears from this inbox; what its commands say is posted.
    pub fn with_inbox(
        pace: Pace,
        out: Box<dyn Write + Send>,
        err: Box<dyn Write + Send>,
        (inbox, post): (Box<dyn Inbox>, SyncSender<Heard>),
    ) -> Self {
        Self {
            inbox,
            post,
            out,
            err,
            pace,
            groups: BTreeMap::new(),
            n_runs: 0,
            audience: Audience::There,
        }
    }

    /// Makes the stage of this process: standard input, output and error, and SIGTERM.
    pub fn of_process(pace: Pace) -> Self {
        let (stage, post) = Self::new(
            pace,
            Box::new(std::io::stdout()),
            Box::new(std::io::stderr()),
        );
        let lines = post.clone();
        std::thread::spawn(move || read_lines(std::io::stdin().lock(), &lines));
        std::thread::spawn(move || await_terminate(&post));
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
            self.audience = Audience::Gone;
        }
    }

    /// Tells whether somebody still reads.
    pub fn audience(&self) -> Audience {
        self.audience
    }

    /// Says something on standard error; nobody there to read it is no failure.
    pub fn complain(&mut self, text: &str) {
        let _nobody_reads = writeln!(self.err, "{text}");
    }

    /// Returns how long a pause of the script lasts.
    pub fn pause(&self, ms: u64) -> Duration {
        self.pace.pause(ms)
    }

    /// Waits for the next thing to happen; `None` when nothing did until `deadline`.
    pub fn hear(&mut self, deadline: Option<Instant>) -> Option<Heard> {
        let heard = self.inbox.hear(deadline);
        if let Some(Heard::Ended(run, _)) = &heard {
            self.groups.remove(run);
        }
        heard
    }

    /// Starts a command line in `cwd`, in a process group of its own, both outputs as one.
    ///
    /// # Errors
    /// There is no `sh`, or the system can start no more processes.
    pub fn start(&mut self, line: &str, cwd: &Path) -> std::io::Result<RunNumber> {
        let mut child = Command::new("sh")
            .arg("-c")
            .arg(format!("exec 2>&1\n{line}"))
            .current_dir(cwd)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        self.n_runs += 1;
        let run = self.n_runs;
        self.groups
            .insert(run, Pid::from_raw(child.id().cast_signed()));
        let post = self.post.clone();
        let out = child.stdout.take();
        std::thread::spawn(move || {
            if let Some(out) = out {
                read_output(out, run, &post);
            }
            let code = child.wait().ok().and_then(|status| status.code());
            let _nobody_listens = post.send(Heard::Ended(run, code));
        });
        Ok(run)
    }

    /// Starts a server of tools for one call, whose answer is its one line of output.
    ///
    /// # Errors
    /// The server cannot be started.
    pub fn call(&mut self, server: &ToolServer, call: ToolCall) -> std::io::Result<RunNumber> {
        let mut child = server.command().process_group(0).spawn()?;
        self.n_runs += 1;
        let run = self.n_runs;
        self.groups
            .insert(run, Pid::from_raw(child.id().cast_signed()));
        let post = self.post.clone();
        let ends = child.stdin.take().zip(child.stdout.take());
        std::thread::spawn(move || {
            let line = ends.and_then(|(to, from)| call.make(to, from));
            let _nobody_listens = post.send(Heard::Output(run, line.unwrap_or_default()));
            let code = child.wait().ok().and_then(|status| status.code());
            let _nobody_listens = post.send(Heard::Ended(run, code));
        });
        Ok(run)
    }

    /// Kills a command and all of its group; one that has ended is left alone.
    pub fn kill(&mut self, run: RunNumber) {
        if let Some(group) = self.groups.get(&run) {
            let _already_gone = killpg(*group, Signal::SIGKILL);
        }
    }

    /// Kills every command that still runs.
    pub fn kill_all(&mut self) {
        for run in self.groups.keys().copied().collect::<Vec<_>>() {
            self.kill(run);
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.kill_all();
    }
}

/// Posts every line of `input`, invalid UTF-8 replaced, and its end.
pub fn read_lines(mut input: impl BufRead, post: &SyncSender<Heard>) {
    let mut line = Vec::new();
    loop {
        line.clear();
        match input.read_until(b'\n', &mut line) {
            Ok(n) if n > 0 => {
                let text = String::from_utf8_lossy(&line);
                let text = text.trim_end_matches(['\n', '\r']).to_owned();
                if post.send(Heard::Line(text)).is_err() {
                    return;
                }
            }
            Ok(_) | Err(_) => {
                let _nobody_listens = post.send(Heard::End);
                return;
            }
        }
    }
}

fn read_output(out: impl Read, run: RunNumber, post: &SyncSender<Heard>) {
    let mut out = BufReader::new(out);
    let mut line = Vec::new();
    while let Ok(n) = out.read_until(b'\n', &mut line) {
        let text = String::from_utf8_lossy(&line).into_owned();
        if n == 0 || post.send(Heard::Output(run, text)).is_err() {
            return;
        }
        line.clear();
    }
}

/// Posts a SIGTERM. Without a runtime the process just dies of it, as any other does.
fn await_terminate(post: &SyncSender<Heard>) {
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
            let _nobody_listens = post.send(Heard::Terminate);
        }
    });
}

/// Tells whether a line of plain words only reads, so that neither program would ask about it.
pub fn only_reads(line: &str) -> bool {
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
pub struct Change {
    /// The file, absolute.
    pub path: PathBuf,
    /// What it holds now; `None` when it does not exist.
    pub before: Option<String>,
    /// What it is to hold.
    pub after: String,
}

/// Why a change cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
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

impl Change {
    /// Works out the writing of a whole file.
    ///
    /// # Errors
    /// The file exists and is no readable text.
    pub fn write(path: PathBuf, content: String) -> Result<Self, ChangeError> {
        let before = match std::fs::read_to_string(&path) {
            Ok(before) => Some(before),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(source) => return Err(ChangeError::Read { path, source }),
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
    pub fn edit(path: PathBuf, find: &str, replace: &str) -> Result<Self, ChangeError> {
        let before = std::fs::read_to_string(&path).map_err(|source| ChangeError::Read {
            path: path.clone(),
            source,
        })?;
        if !before.contains(find) {
            return Err(ChangeError::NotFound {
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
    pub fn make(&self) -> Result<(), ChangeError> {
        let failed = |source| ChangeError::Write {
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
        assert_eq!(Pace::Fast.pause(1000), Duration::ZERO);
        assert_eq!(Pace::Factor(4.0).pause(1000), Duration::from_millis(250));
        assert_eq!(Pace::Factor(1e-300).pause(u64::MAX), Duration::MAX);
    }

    #[test]
    fn an_edit_replaces_the_first_occurrence_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        std::fs::write(&path, "x\ny\nx\n").unwrap();
        let change = Change::edit(path.clone(), "x\n", "z\n").unwrap();
        change.make().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "z\ny\nx\n");
        assert_eq!(change.hunks(), "@@ -1,3 +1,3 @@\n-x\n+z\n y\n x\n");
        assert!(Change::edit(path, "nothing of it", "").is_err());
    }

    #[test]
    fn a_killed_command_takes_its_group_along() {
        let (mut stage, _post) = Stage::new(
            Pace::Fast,
            Box::new(std::io::sink()),
            Box::new(std::io::sink()),
        );
        let run = stage
            .start("echo up; sleep 600 & wait", Path::new("/"))
            .unwrap();
        loop {
            match stage.hear(None) {
                Some(Heard::Output(..)) => stage.kill(run),
                Some(Heard::Ended(ended, code)) => break assert_eq!((ended, code), (run, None)),
                other => panic!("{other:?}"),
            }
        }
    }
}
