//! A scripted agent in the guise of `claude -p --input-format stream-json`.
//!
//! One process, many turns; requests and answers of the control protocol on the same two pipes.
//! Knows no hooks but one before each call, no MCP servers and no rules but `permissions.ask`: edits and every
//! command that does more than read are asked about, as in the default mode.

mod call;
pub mod flags;
pub mod frames;
mod hook;
mod interrupt;
mod perform;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::time::Instant;

use serde_json::{Value, json};

use self::flags::{Begin, Flags};
use self::frames::{Stamp, Tool, TurnResult, fresh};
use crate::scripted::act::{Heard, RunNumber, Stage};
use crate::scripted::cursor::{Conversation, Memory, Words};
use crate::scripted::script::{Action, Script};
use crate::scripted::{Casting, Guise};

/// The exit code after SIGTERM.
const TERMINATED: i32 = 143;

/// A live `claude` process.
pub struct Claude {
    stage: Stage,
    script: Script,
    memory: Memory,
    flags: Flags,
    stamp: Stamp,
    /// The id of the host's hook before each call.
    hook: Option<String>,
    conversation: Conversation,
    input: Input,
    queue: VecDeque<Prompt>,
    uninvited: VecDeque<Vec<Action>>,
    playing: Option<Playing>,
    n_results: u64,
    last: Last,
}

/// Whether more input can come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Input {
    Open,
    Closed,
}

/// How the last turn ended; the exit code at the end of input tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    Fine,
    Failed,
}

/// A user line that waits for its turn.
struct Prompt {
    content: Value,
    uuid: Option<String>,
}

/// The turn that is being played.
struct Playing {
    started: Instant,
    words: Words,
    message: Option<Message>,
    phase: Phase,
    denials: Vec<Value>,
    n_turns: u64,
    final_text: String,
    usage: Option<(u64, u64)>,
    origin: Option<Value>,
}

/// The message of the model that is being streamed.
#[derive(Clone)]
struct Message {
    id: String,
    n_blocks: usize,
}

/// What the turn is in the middle of.
enum Phase {
    Between,
    Speaking { text: String },
    Asking { request: String, tool: Tool },
    Running { tool: Tool },
}

/// What a line of the host comes to.
enum Cue {
    Nothing,
    Interrupt,
    Answer { request: String, answer: Value },
    Exit(i32),
}

/// What a wait within a turn comes to.
enum Wake {
    Timeout,
    Output(RunNumber, String),
    Ended(RunNumber, Option<i32>),
    Answer { request: String, answer: Value },
    InputClosed,
    Other,
}

/// Why a turn ends before its script does.
enum Stop {
    Interrupted,
    Failed {
        text: String,
        error: &'static str,
        status: Value,
    },
    Exit(i32),
}

impl Claude {
    /// Takes its place on the stage.
    pub fn new(casting: Casting, stage: Stage) -> Self {
        let flags = Flags::parse(&casting.arguments);
        let recorded = Guise::Claude.recorded_version();
        let model = casting.script.model.clone().or_else(|| flags.model.clone());
        let stamp = Stamp {
            session: match &flags.begin {
                Begin::Fresh(id) | Begin::Resume(id) => id.clone(),
                Begin::Any => fresh(),
            },
            model: model.unwrap_or_else(|| "claude-opus-5-5".to_owned()),
            version: casting
                .script
                .version
                .clone()
                .unwrap_or_else(|| recorded.to_owned()),
            cwd: casting.cwd.to_string_lossy().into_owned(),
            mode: flags.mode.clone(),
        };
        Self {
            stage,
            script: casting.script,
            memory: casting.memory,
            flags,
            stamp,
            hook: None,
            conversation: Conversation::new(),
            input: Input::Open,
            queue: VecDeque::new(),
            uninvited: VecDeque::new(),
            playing: None,
            n_results: 0,
            last: Last::Fine,
        }
    }

    /// Plays until the input ends; returns the exit code.
    pub fn play(mut self) -> i32 {
        let code = match self.open() {
            Ok(()) => self.play_turns(),
            Err(code) => code,
        };
        self.stage.kill_all();
        code
    }

    /// Takes up the conversation that the flags name; an error is the exit code.
    fn open(&mut self) -> Result<(), i32> {
        if let Some(server) = self.flags.tools.clone() {
            server.start_behind(&self.script.tool_client);
        }
        let id = self.stamp.session.clone();
        let remembered = self.memory.load(&id).map_err(|error| {
            self.stage.complain(&format!("Error: {error}"));
            1
        })?;
        match (&self.flags.begin, remembered) {
            (Begin::Any, _) | (Begin::Fresh(_), None) => Ok(()),
            (Begin::Fresh(_), Some(_)) => {
                self.stage
                    .complain(&format!("Error: Session ID {id} is already in use."));
                Err(1)
            }
            (Begin::Resume(_), Some(conversation)) => {
                self.conversation = conversation;
                Ok(())
            }
            (Begin::Resume(_), None) => {
                self.stage.send(&self.stamp.unknown_conversation(&id));
                self.stage
                    .complain(&format!("No conversation found with session ID: {id}"));
                Err(1)
            }
        }
    }

    fn play_turns(&mut self) -> i32 {
        loop {
            let played = if let Some(actions) = self.uninvited.pop_front() {
                self.play_uninvited(&actions)
            } else if let Some(prompt) = self.queue.pop_front() {
                self.play_prompt(prompt)
            } else if self.input == Input::Closed {
                return if self.last == Last::Failed { 1 } else { 0 };
            } else {
                match self.listen(None) {
                    Err(Stop::Exit(code)) => Err(code),
                    Ok(_) | Err(Stop::Interrupted | Stop::Failed { .. }) => Ok(()),
                }
            };
            if let Err(code) = played {
                return code;
            }
        }
    }

    /// Waits until something happens or `deadline` passes.
    fn listen(&mut self, deadline: Option<Instant>) -> Result<Wake, Stop> {
        let Some(heard) = self.stage.hear(deadline) else {
            return Ok(Wake::Timeout);
        };
        match heard {
            Heard::Line(line) => match self.on_line(&line) {
                Cue::Nothing => Ok(Wake::Other),
                Cue::Interrupt => Err(Stop::Interrupted),
                Cue::Answer { request, answer } => Ok(Wake::Answer { request, answer }),
                Cue::Exit(code) => Err(Stop::Exit(code)),
            },
            Heard::Output(run, text) => Ok(Wake::Output(run, text)),
            Heard::Ended(run, code) => Ok(Wake::Ended(run, code)),
            Heard::End => {
                self.input = Input::Closed;
                Ok(Wake::InputClosed)
            }
            Heard::Terminate => Err(Stop::Exit(TERMINATED)),
        }
    }

    /// Takes one line of the host. One that is no JSON ends the process, as it does the real one.
    fn on_line(&mut self, line: &str) -> Cue {
        if line.is_empty() {
            return Cue::Nothing;
        }
        let frame: Value = match serde_json::from_str(line) {
            Ok(frame) => frame,
            Err(error) => {
                self.stage
                    .complain(&format!("Error parsing streaming input line: {error}"));
                return Cue::Exit(1);
            }
        };
        match frame["type"].as_str() {
            Some("user") => self.on_user(&frame),
            Some("control_request") => self.on_control(&frame["request_id"], &frame["request"]),
            Some("control_response") => self.on_answer(frame),
            _ => Cue::Nothing,
        }
    }

    fn on_user(&mut self, frame: &Value) -> Cue {
        if frame["message"]["role"] != "user" {
            self.stage
                .complain("Error parsing streaming input line: expected message role 'user'");
            return Cue::Exit(1);
        }
        let uuid = frame["uuid"].as_str().map(str::to_owned);
        if let Some(uuid) = &uuid {
            self.stage.send(&self.stamp.lifecycle(uuid, "queued"));
        }
        self.queue.push_back(Prompt {
            content: frame["message"]["content"].clone(),
            uuid,
        });
        Cue::Nothing
    }

    fn on_control(&mut self, id: &Value, request: &Value) -> Cue {
        let subtype = request["subtype"].as_str().unwrap_or_default();
        let answer = match subtype {
            "initialize" => self.on_initialize(&request["hooks"]),
            "interrupt" => return self.on_interrupt(id),
            "set_permission_mode" => {
                self.stamp.mode = request["mode"].as_str().unwrap_or("default").to_owned();
                json!({"mode": self.stamp.mode})
            }
            _ => {
                let text = format!("Unsupported control request subtype: {subtype}");
                self.stage
                    .send(&frames::control_error(id, &text, "unsupported_request"));
                return Cue::Nothing;
            }
        };
        self.stage.send(&frames::control_success(id, answer));
        Cue::Nothing
    }

    fn on_interrupt(&mut self, id: &Value) -> Cue {
        if let Some(Playing {
            phase: Phase::Asking { request, .. },
            ..
        }) = &self.playing
        {
            let cancel = frames::control_cancel(request);
            self.stage.send(&cancel);
        }
        self.stage
            .send(&frames::control_success(id, json!({"still_queued": []})));
        if self.playing.is_some() {
            Cue::Interrupt
        } else {
            Cue::Nothing
        }
    }

    fn on_answer(&mut self, frame: Value) -> Cue {
        let asked = match &self.playing {
            Some(Playing {
                phase: Phase::Asking { request, .. },
                ..
            }) => request.clone(),
            _ => return Cue::Nothing,
        };
        if frame["response"]["request_id"] != asked.as_str() {
            return Cue::Nothing;
        }
        if self.flags.replays {
            self.stage.send(&frame);
        }
        Cue::Answer {
            request: asked,
            answer: frame["response"].clone(),
        }
    }

    fn play_prompt(&mut self, prompt: Prompt) -> Result<(), i32> {
        if let Some(uuid) = &prompt.uuid {
            self.stage.send(&self.stamp.lifecycle(uuid, "started"));
        }
        let text = prompt_text(&prompt.content);
        self.begin(Words::of_prompt(&text), None);
        if self.flags.replays {
            let uuid = prompt.uuid.clone().unwrap_or_else(fresh);
            self.stage.send(&self.stamp.replay(&prompt.content, &uuid));
        }
        let ended = self
            .take_turn(&text)
            .and_then(|actions| self.perform(&actions));
        self.end(ended)?;
        if let Some(uuid) = &prompt.uuid {
            self.stage.send(&self.stamp.lifecycle(uuid, "completed"));
        }
        Ok(())
    }

    fn play_uninvited(&mut self, actions: &[Action]) -> Result<(), i32> {
        let origin =
            json!({"kind": "task-notification", "producer": "session-task", "runId": fresh()});
        self.begin(Words::default(), Some(origin));
        let ended = self.perform(actions);
        self.end(ended)
    }

    fn begin(&mut self, words: Words, origin: Option<Value>) {
        self.playing = Some(Playing {
            started: Instant::now(),
            words,
            message: None,
            phase: Phase::Between,
            denials: Vec::new(),
            n_turns: 0,
            final_text: String::new(),
            usage: None,
            origin,
        });
        self.stage.send(&self.stamp.init());
    }

    /// Takes the script's turn for the prompt and remembers that it is used.
    fn take_turn(&mut self, prompt: &str) -> Result<Vec<Action>, Stop> {
        let conversation = (self.stamp.session.as_str(), &mut self.conversation);
        (self.memory)
            .take_turn(conversation, &self.script, prompt)
            .map_err(|text| Stop::Failed {
                text,
                error: "unknown",
                status: Value::Null,
            })
    }

    /// Ends the turn with its result; an error is the exit code of the process.
    fn end(&mut self, ended: Result<(), Stop>) -> Result<(), i32> {
        match ended {
            Ok(()) => {
                self.close_message("end_turn");
                self.send_result("success", "completed", Outcome::Done);
            }
            Err(Stop::Interrupted) => self.end_interrupted(),
            Err(Stop::Exit(code)) => return Err(code),
            Err(Stop::Failed {
                text,
                error,
                status,
            }) => {
                self.close_message("end_turn");
                self.stage.send(&self.stamp.synthetic(&text, error));
                self.send_result("success", "api_error", Outcome::ApiError { text, status });
            }
        }
        self.playing = None;
        Ok(())
    }

    fn send_result(
        &mut self,
        subtype: &'static str,
        terminal_reason: &'static str,
        outcome: Outcome,
    ) {
        let Some(playing) = self.playing.take() else {
            return;
        };
        let turn = playing
            .usage
            .unwrap_or((100 * playing.n_turns, 20 * playing.n_turns));
        self.conversation.input_tokens += turn.0;
        self.conversation.output_tokens += turn.1;
        if let Err(error) = self.memory.save(&self.stamp.session, &self.conversation) {
            self.stage.complain(&format!("Error: {error}"));
        }
        let (is_error, text, stop_reason, status) = match outcome {
            Outcome::Done => (false, playing.final_text, json!("end_turn"), Value::Null),
            Outcome::Aborted => {
                let in_tools = terminal_reason == "aborted_tools";
                let reason = if in_tools {
                    json!("tool_use")
                } else {
                    Value::Null
                };
                (
                    true,
                    "[ede_diagnostic] scripted".to_owned(),
                    reason,
                    Value::Null,
                )
            }
            Outcome::ApiError { text, status } => (true, text, json!("stop_sequence"), status),
        };
        self.last = if is_error { Last::Failed } else { Last::Fine };
        let end = TurnResult {
            subtype,
            terminal_reason,
            is_error,
            text,
            stop_reason,
            api_error_status: status,
            denials: playing.denials,
            n_turns: playing.n_turns,
            turn,
            total: (
                self.conversation.input_tokens,
                self.conversation.output_tokens,
            ),
            cost_usd: self.conversation.cost_usd,
            duration_ms: playing
                .started
                .elapsed()
                .as_millis()
                .try_into()
                .unwrap_or(u64::MAX),
            index: self.n_results,
            origin: playing.origin,
        };
        self.n_results += 1;
        self.stage.send(&self.stamp.result(&end));
    }
}

/// What a turn came to.
enum Outcome {
    Done,
    Aborted,
    ApiError { text: String, status: Value },
}

/// Returns the text of a user line, whether it came as a string or as blocks.
fn prompt_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks
            .iter()
            .filter_map(|block| block["text"].as_str())
            .collect::<Vec<_>>()
            .join("\n"),
        _ => String::new(),
    }
}
