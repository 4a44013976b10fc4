//! Runs one program with a hard time limit and collects what it prints.
//!
//! It refuses to know what the program is. A program over its limit is ended together with every
//! process of its scenario, and the scenario fails.

use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::leftovers::find_leftovers;

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

    /// The lines of standard output that are JSON.
    pub fn json_lines(&self) -> Vec<serde_json::Value> {
        self.stdout
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }
}

/// Runs a program to its end with this input; `root` is the scenario's folder.
///
/// # Panics
/// When the limit is over.
pub fn run(mut command: Command, input: &str, root: &Path, limit: Duration) -> Finished {
    let started = Instant::now();
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
    // A program that does not read its input is its own affair.
    let writer = thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let stdout = collect(child.stdout.take().expect("a piped output"));
    let stderr = collect(child.stderr.take().expect("a piped error output"));
    let status = loop {
        if let Some(status) = child.try_wait().expect("the program's status") {
            break status;
        }
        if started.elapsed() > limit {
            end_all(root);
            let _ = child.wait();
            let (stdout, stderr) = (
                stdout.join().unwrap_or_default(),
                stderr.join().unwrap_or_default(),
            );
            panic!(
                "{command:?} was not done in {limit:?}\n{}\n{}",
                tail(&stdout),
                tail(&stderr)
            );
        }
        thread::sleep(Duration::from_millis(10));
    };
    let took = started.elapsed();
    let _ = writer.join();
    let (stdout, stderr) = (
        stdout.join().unwrap_or_default(),
        stderr.join().unwrap_or_default(),
    );
    Finished {
        status,
        stdout,
        stderr,
        took,
    }
}

fn collect(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<String> {
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
