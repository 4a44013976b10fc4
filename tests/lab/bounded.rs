//! Runs one program with a hard time limit and collects its output.
//!
//! A program over its limit is stopped together with every process of its scenario, and the scenario fails.

use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::leftovers::{assert_none_left, find_leftovers};

/// What a program did.
#[derive(Debug)]
pub struct Finished {
    /// How it ended.
    pub status: ExitStatus,
    /// Everything on its standard output.
    pub stdout: String,
    /// Everything on its standard error.
    pub stderr: String,
    /// How long it took.
    pub took: Duration,
}

impl Finished {
    /// The exit code; a signal counts as 128 and its number, as in a shell.
    pub fn code(&self) -> i32 {
        self.status
            .code()
            .or(self.status.signal().map(|signal| 128 + signal))
            .unwrap_or(-1)
    }

    /// Returns the lines of standard output that are JSON.
    pub fn json_lines(&self) -> Vec<serde_json::Value> {
        self.stdout
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }
}

/// Runs a program to its end with this input and checks that it leaves no process; `root` is the scenario's folder.
///
/// # Panics
/// When the limit is over, or a process is left.
pub fn run(command: Command, input: &str, root: &Path, limit: Duration) -> Finished {
    let finished = Started::start(command, input).finish(root, limit);
    assert_none_left(root);
    finished
}

/// A program that runs.
pub struct Started {
    child: Child,
    command: String,
    at: Instant,
    stdout: JoinHandle<String>,
    stderr: JoinHandle<String>,
}

impl Started {
    /// Starts a program with this input.
    pub fn start(mut command: Command, input: &str) -> Started {
        let at = Instant::now();
        command
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
        let mut stdin = child.stdin.take().expect("a piped input");
        let input = input.to_owned();
        // If the program does not read its input, that is not an error here.
        thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
        let stdout = collect(child.stdout.take().expect("a piped output"));
        let stderr = collect(child.stderr.take().expect("a piped error output"));
        Started {
            child,
            command: format!("{command:?}"),
            at,
            stdout,
            stderr,
        }
    }

    /// The program's own process.
    pub fn pid(&self) -> i32 {
        self.child.id().cast_signed()
    }

    /// Returns whether the program has ended.
    pub fn is_over(&mut self) -> bool {
        let status = self.child.try_wait().expect("the program's status");
        status.is_some()
    }

    /// Sends the program itself a signal.
    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.pid()), signal).expect("the program runs");
    }

    /// Waits until the program, which was already told to stop, has ended.
    pub fn wait(&mut self) {
        self.child.wait().expect("the program's status");
    }

    /// Waits for the end; `root` is the scenario's folder.
    ///
    /// # Panics
    /// When the limit, counted from the start, is over.
    pub fn finish(mut self, root: &Path, limit: Duration) -> Finished {
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("the program's status") {
                break status;
            }
            if self.at.elapsed() > limit {
                end_all(root);
                let _ = self.child.wait();
                panic!(
                    "{} was not done in {limit:?}\n{}\n{}",
                    self.command,
                    tail(&self.stdout.join().unwrap_or_default()),
                    tail(&self.stderr.join().unwrap_or_default())
                );
            }
            thread::sleep(Duration::from_millis(10));
        };
        Finished {
            status,
            took: self.at.elapsed(),
            stdout: self.stdout.join().unwrap_or_default(),
            stderr: self.stderr.join().unwrap_or_default(),
        }
    }
}

fn collect(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Ends every process of a scenario, by its id.
pub fn end_all(root: &Path) {
    for (pid, _) in find_leftovers(root) {
        let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
    }
}

/// The last 4,000 characters of a text, for messages.
pub fn tail(text: &str) -> String {
    let n_characters = text.chars().count();
    text.chars()
        .skip(n_characters.saturating_sub(4000))
        .collect()
}
