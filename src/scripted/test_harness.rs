//! Runs a scripted agent in memory for tests: frames in, frames out, no process.

use std::io::Write;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

use super::conversation_store::ScriptConversationStore;
use super::runtime::{InboxEvent, PlaybackSpeed, ScriptRuntime};
use super::script::AgentScript;
use super::{ScriptedAgentOptions, ScriptedProgram, play_script};

/// How long a test waits for a frame before it fails.
const FRAME_TIMEOUT: Duration = Duration::from_secs(20);

/// A scripted agent on a thread of its own, and the lines that it writes.
pub struct ScriptedAgentHarness {
    events: SyncSender<InboxEvent>,
    lines: Receiver<String>,
    errors: Arc<Mutex<Vec<u8>>>,
    agent: JoinHandle<i32>,
}

/// How a scripted agent ended.
pub struct ScriptedAgentExit {
    pub code: i32,
    pub lines: Vec<String>,
    pub errors: String,
}

impl ScriptedAgentHarness {
    /// Starts a scripted agent that works and stores its state in `folder`.
    pub fn new(guise: ScriptedProgram, script: &str, arguments: &[&str], folder: &Path) -> Self {
        let script = AgentScript::parse(script, Path::new("script.toml"), guise).unwrap();
        let (send, lines) = channel();
        let errors = Arc::new(Mutex::new(Vec::new()));
        let out = Box::new(ChannelLineWriter {
            partial: Vec::new(),
            send,
        });
        let (stage, post) = ScriptRuntime::new(
            PlaybackSpeed::Factor(1000.0),
            out,
            Box::new(SharedBuffer(errors.clone())),
        );
        let casting = ScriptedAgentOptions {
            program: guise,
            script,
            conversations: ScriptConversationStore::new(folder.join("memory"), "script.toml"),
            cwd: folder.to_owned(),
            arguments: arguments
                .iter()
                .map(|argument| (*argument).to_owned())
                .collect(),
        };
        let agent = std::thread::spawn(move || play_script(casting, stage));
        Self {
            events: post,
            lines,
            errors,
            agent,
        }
    }

    pub fn send_frame(&self, frame: Value) {
        self.send_line(&frame.to_string());
    }

    pub fn send_line(&self, line: &str) {
        self.events.send(InboxEvent::Line(line.to_owned())).unwrap();
    }

    /// Returns the frames up to and including the first for which `is_it` is true.
    pub fn read_until(&self, is_it: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut frames = Vec::new();
        loop {
            let line = match self.lines.recv_timeout(FRAME_TIMEOUT) {
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
        self.events.send(InboxEvent::Terminate).unwrap();
    }

    /// Closes the input and waits for the exit.
    pub fn close_input(self) -> ScriptedAgentExit {
        let _it_may_be_over = self.events.send(InboxEvent::InputClosed);
        self.wait_for_exit()
    }

    /// Waits for the exit.
    pub fn wait_for_exit(self) -> ScriptedAgentExit {
        let code = self.agent.join().unwrap();
        let lines = self.lines.try_iter().collect();
        let errors = String::from_utf8(self.errors.lock().unwrap().clone()).unwrap();
        ScriptedAgentExit {
            code,
            lines,
            errors,
        }
    }
}

struct ChannelLineWriter {
    partial: Vec<u8>,
    send: Sender<String>,
}

impl Write for ChannelLineWriter {
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

struct SharedBuffer(Arc<Mutex<Vec<u8>>>);

impl Write for SharedBuffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Completes the handshake with codex and opens a thread; returns its id.
pub fn start_codex_thread(codex: &ScriptedAgentHarness, sandbox: &str) -> String {
    codex.send_frame(json!({"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "t", "version": "1"}}}));
    codex.send_frame(json!({"method": "initialized"}));
    codex.send_frame(json!({"id": 2, "method": "thread/start", "params": {"sandbox": sandbox}}));
    let opened = codex.read_until(|frame| frame["method"] == "thread/started");
    opened[1]["result"]["thread"]["id"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// Starts a turn of codex.
pub fn start_codex_turn(codex: &ScriptedAgentHarness, thread: &str, prompt: &str) {
    let input = json!([{"type": "text", "text": prompt}]);
    codex.send_frame(
        json!({"id": 3, "method": "turn/start", "params": {"threadId": thread, "input": input}}),
    );
}

/// Starts a turn of claude.
pub fn start_claude_turn(claude: &ScriptedAgentHarness, prompt: &str) {
    claude.send_frame(
        json!({"type": "user", "message": {"role": "user", "content": prompt}, "uuid": "u-1"}),
    );
}

/// Answers claude's `can_use_tool`.
pub fn answer_claude_request(claude: &ScriptedAgentHarness, request: &Value, response: Value) {
    let id = &request["request_id"];
    claude.send_frame(json!({"type": "control_response", "response": {"subtype": "success", "request_id": id, "response": response}}));
}
