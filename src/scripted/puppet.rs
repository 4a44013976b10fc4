//! A scripted agent on strings, for tests: frames in, frames out, no process.

use std::io::Write;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

use super::act::{Heard, Pace, Stage};
use super::cursor::Memory;
use super::script::Script;
use super::{Casting, Guise, play};

/// How long a test waits for a frame before it fails.
const PATIENCE: Duration = Duration::from_secs(20);

pub struct Puppet {
    post: SyncSender<Heard>,
    lines: Receiver<String>,
    errors: Arc<Mutex<Vec<u8>>>,
    agent: JoinHandle<i32>,
}

/// How a scripted agent ended.
pub struct Curtain {
    pub code: i32,
    pub lines: Vec<String>,
    pub errors: String,
}

impl Puppet {
    /// Starts a scripted agent that works and remembers in `folder`.
    pub fn new(guise: Guise, script: &str, arguments: &[&str], folder: &Path) -> Self {
        let script = Script::parse(script, Path::new("script.toml"), guise).unwrap();
        let (send, lines) = channel();
        let errors = Arc::new(Mutex::new(Vec::new()));
        let out = Box::new(Lines {
            partial: Vec::new(),
            send,
        });
        let (stage, post) = Stage::new(Pace::Factor(1000.0), out, Box::new(Shared(errors.clone())));
        let casting = Casting {
            guise,
            script,
            memory: Memory::new(folder.join("memory"), "script.toml"),
            cwd: folder.to_owned(),
            arguments: arguments
                .iter()
                .map(|argument| (*argument).to_owned())
                .collect(),
        };
        let agent = std::thread::spawn(move || play(casting, stage));
        Self {
            post,
            lines,
            errors,
            agent,
        }
    }

    pub fn tell(&self, frame: Value) {
        self.tell_line(&frame.to_string());
    }

    pub fn tell_line(&self, line: &str) {
        self.post.send(Heard::Line(line.to_owned())).unwrap();
    }

    /// Returns the frames up to and with the first that `is_it`.
    pub fn until(&self, is_it: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut frames = Vec::new();
        loop {
            let line = match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => line,
                Err(error) => panic!("{error}; so far: {frames:#?}"),
            };
            let frame: Value = serde_json::from_str(&line).unwrap_or(json!({"malformed": line}));
            frames.push(frame);
            if frames.last().is_some_and(&is_it) {
                return frames;
            }
        }
    }

    pub fn terminate(&self) {
        self.post.send(Heard::Terminate).unwrap();
    }

    /// Ends the input and waits for the end.
    pub fn close(self) -> Curtain {
        let _it_may_be_over = self.post.send(Heard::End);
        self.wait()
    }

    /// Waits for the end.
    pub fn wait(self) -> Curtain {
        let code = self.agent.join().unwrap();
        let lines = self.lines.try_iter().collect();
        let errors = String::from_utf8(self.errors.lock().unwrap().clone()).unwrap();
        Curtain {
            code,
            lines,
            errors,
        }
    }
}

struct Lines {
    partial: Vec<u8>,
    send: Sender<String>,
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.partial.extend_from_slice(bytes);
        while let Some(end) = self.partial.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.partial.drain(..=end).collect();
            let line = String::from_utf8(line).unwrap().trim_end().to_owned();
            self.send
                .send(line)
                .map_err(|_| std::io::ErrorKind::BrokenPipe)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Shakes hands with codex and opens a thread; returns its id.
pub fn codex_thread(codex: &Puppet, sandbox: &str) -> String {
    codex.tell(json!({"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "t", "version": "1"}}}));
    codex.tell(json!({"method": "initialized"}));
    codex.tell(json!({"id": 2, "method": "thread/start", "params": {"sandbox": sandbox}}));
    let opened = codex.until(|frame| frame["method"] == "thread/started");
    opened[1]["result"]["thread"]["id"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// Begins a turn of codex.
pub fn codex_turn(codex: &Puppet, thread: &str, prompt: &str) {
    let input = json!([{"type": "text", "text": prompt}]);
    codex.tell(
        json!({"id": 3, "method": "turn/start", "params": {"threadId": thread, "input": input}}),
    );
}

/// Begins a turn of claude.
pub fn claude_turn(claude: &Puppet, prompt: &str) {
    claude.tell(
        json!({"type": "user", "message": {"role": "user", "content": prompt}, "uuid": "u-1"}),
    );
}

/// Answers claude's `can_use_tool`.
pub fn claude_answer(claude: &Puppet, request: &Value, response: Value) {
    let id = &request["request_id"];
    claude.tell(json!({"type": "control_response", "response": {"subtype": "success", "request_id": id, "response": response}}));
}
