//! A conversation with a program that uses JSON lines on both pipes.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// A running program; it is ended with this value.
pub struct Dialogue {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
    deadline: Instant,
}

impl Dialogue {
    /// Starts a program with a time limit for the whole conversation; its standard error goes to a file.
    pub fn start(mut command: Command, errors: &Path, limit: Duration) -> Dialogue {
        let errors = File::create(errors).expect("a file for the program's errors");
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors);
        let mut child = command
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
        let input = child.stdin.take();
        let output = child.stdout.take().expect("a piped output");
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let Ok(value) = serde_json::from_str(&line) else {
                    continue;
                };
                if sender.send(value).is_err() {
                    return;
                }
            }
        });
        Dialogue {
            child,
            input,
            lines,
            deadline: Instant::now() + limit,
        }
    }

    /// Sends one line.
    pub fn send(&mut self, line: &Value) {
        let input = self.input.as_mut().expect("an open input");
        writeln!(input, "{line}").expect("the program reads its input");
    }

    /// Reads on until a line fits, and returns it.
    ///
    /// # Panics
    /// When none comes in time.
    pub fn wait_for(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let mut seen = Vec::new();
        loop {
            let left = self.deadline.saturating_duration_since(Instant::now());
            let Ok(line) = self.lines.recv_timeout(left) else {
                panic!("no {what} came; before it came {seen:#?}")
            };
            if fits(&line) {
                return line;
            }
            seen.push(line);
        }
    }

    /// Closes the input and waits for the end.
    pub fn close(mut self) {
        drop(self.input.take());
        while self
            .child
            .try_wait()
            .expect("the program's status")
            .is_none()
        {
            assert!(
                Instant::now() < self.deadline,
                "the program outlives its input"
            );
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Dialogue {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
