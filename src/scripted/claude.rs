//! A scripted agent that imitates `claude -p --input-format stream-json`.
//!
//! One process plays many turns; requests and answers of the control protocol use the same two pipes.
//! The only supported hook is the one before each call, and the only supported rules are `permissions.ask`. Edits and
//! commands that do more than read are asked about, as in the default mode.

pub mod flags;
pub mod frames;
mod hook_callback;
mod interrupt;
mod script_actions;
#[cfg(test)]
mod tests;
mod tool_calls;

use std::collections::VecDeque;
use std::time::Instant;

use serde_json::{Value, json};

use self::flags::{ClaudeConversationStart, ScriptedClaudeFlags};
use self::frames::{
    ClaudeFrameBuilder, ScriptedClaudeToolCall, ScriptedClaudeTurnResult, new_uuid,
};
use self::script_actions::{ScriptedClaudeFailure, turn_failure};
use crate::scripted::conversation_store::{
    ScriptConversation, ScriptConversationStore, ScriptPlaceholders,
};
use crate::scripted::runtime::{InboxEvent, ScriptRuntime};
use crate::scripted::script::{AgentScript, ScriptAction};
use crate::scripted::script_actor::{
    ScriptedProtocol, ScriptedTurnEvent, ScriptedTurnFailure, ScriptedTurnStop, perform_actions,
};
use crate::scripted::{ScriptedAgentOptions, ScriptedProgram};

/// The exit code after SIGTERM.
const EXIT_CODE_SIGTERM: i32 = 143;

/// A live `claude` process.
pub struct ScriptedClaude {
    runtime: ScriptRuntime,
    script: AgentScript,
    conversations: ScriptConversationStore,
    flags: ScriptedClaudeFlags,
    frame_builder: ClaudeFrameBuilder,
    /// The id of the host's hook that runs before each call.
    hook_callback_id: Option<String>,
    conversation: ScriptConversation,
    input: StdinState,
    prompt_queue: VecDeque<QueuedUserLine>,
    unsolicited_turns: VecDeque<Vec<ScriptAction>>,
    active_turn: Option<ActiveClaudeTurn>,
    n_results: u64,
    last_result: LastTurnResult,
}

/// Whether more input can arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StdinState {
    Open,
    Closed,
}

/// How the last turn ended, which determines the exit code at the end of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LastTurnResult {
    Succeeded,
    Failed,
}

/// A user line that waits for its turn.
struct QueuedUserLine {
    content: Value,
    uuid: Option<String>,
}

/// The turn that is being played.
struct ActiveClaudeTurn {
    started: Instant,
    placeholders: ScriptPlaceholders,
    message: Option<ScriptedMessage>,
    phase: ScriptedTurnPhase,
    denials: Vec<Value>,
    n_turns: u64,
    final_text: String,
    usage: Option<(u64, u64)>,
    origin: Option<Value>,
}

/// The message of the model that is being streamed.
#[derive(Clone)]
struct ScriptedMessage {
    id: String,
    n_blocks: usize,
}

/// The current activity of the turn.
enum ScriptedTurnPhase {
    Idle,
    StreamingText {
        text: String,
    },
    AwaitingDecision {
        request: String,
        tool: ScriptedClaudeToolCall,
    },
    RunningTool {
        tool: ScriptedClaudeToolCall,
    },
}

/// The result of handling a line of the host.
enum ClaudeInputOutcome {
    Nothing,
    Interrupt,
    Answer { request: String, answer: Value },
    Exit(i32),
}

impl ScriptedClaude {
    /// Builds the agent; nothing is played yet.
    pub fn new(casting: ScriptedAgentOptions, stage: ScriptRuntime) -> Self {
        let flags = ScriptedClaudeFlags::parse(&casting.arguments);
        let recorded = ScriptedProgram::Claude.recorded_version();
        let model = casting.script.model.clone().or_else(|| flags.model.clone());
        let stamp = ClaudeFrameBuilder {
            session_id: match &flags.start {
                ClaudeConversationStart::NewWithId(id) | ClaudeConversationStart::Resume(id) => {
                    id.clone()
                }
                ClaudeConversationStart::NewWithAnyId => new_uuid(),
            },
            model: model.unwrap_or_else(|| "claude-opus-5-5".to_owned()),
            version: casting
                .script
                .version
                .clone()
                .unwrap_or_else(|| recorded.to_owned()),
            cwd: casting.cwd.to_string_lossy().into_owned(),
            permission_mode: flags.permission_mode.clone(),
        };
        Self {
            runtime: stage,
            script: casting.script,
            conversations: casting.conversations,
            flags,
            frame_builder: stamp,
            hook_callback_id: None,
            conversation: ScriptConversation::new(),
            input: StdinState::Open,
            prompt_queue: VecDeque::new(),
            unsolicited_turns: VecDeque::new(),
            active_turn: None,
            n_results: 0,
            last_result: LastTurnResult::Succeeded,
        }
    }

    fn send(&mut self, build: impl FnOnce(&ClaudeFrameBuilder) -> Value) {
        self.runtime.send(&build(&self.frame_builder));
    }

    /// Plays until the input ends; returns the exit code.
    pub fn play(mut self) -> i32 {
        let code = match self.open_conversation() {
            Ok(()) => self.play_turns(),
            Err(code) => code,
        };
        self.runtime.kill_all();
        code
    }

    /// Opens the conversation that the flags name; an error is the exit code.
    fn open_conversation(&mut self) -> Result<(), i32> {
        if let Some(server) = self.flags.mcp_server.clone() {
            server.start_client(&self.script.tool_client);
        }
        let id = self.frame_builder.session_id.clone();
        let remembered = self.conversations.load(&id).map_err(|error| {
            self.runtime.write_stderr(&format!("Error: {error}"));
            1
        })?;
        match (&self.flags.start, remembered) {
            (ClaudeConversationStart::NewWithAnyId, _)
            | (ClaudeConversationStart::NewWithId(_), None) => Ok(()),
            (ClaudeConversationStart::NewWithId(_), Some(_)) => {
                self.runtime
                    .write_stderr(&format!("Error: Session ID {id} is already in use."));
                Err(1)
            }
            (ClaudeConversationStart::Resume(_), Some(conversation)) => {
                self.conversation = conversation;
                Ok(())
            }
            (ClaudeConversationStart::Resume(_), None) => {
                self.send(|frames| frames.unknown_conversation(&id));
                self.runtime
                    .write_stderr(&format!("No conversation found with session ID: {id}"));
                Err(1)
            }
        }
    }

    fn play_turns(&mut self) -> i32 {
        loop {
            let played = if let Some(actions) = self.unsolicited_turns.pop_front() {
                self.play_unsolicited_turn(&actions)
            } else if let Some(prompt) = self.prompt_queue.pop_front() {
                self.play_prompt(prompt)
            } else if self.input == StdinState::Closed {
                return if self.last_result == LastTurnResult::Failed {
                    1
                } else {
                    0
                };
            } else {
                match self.wait_for_event(None) {
                    Err(ScriptedTurnStop::Exit(code)) => Err(code),
                    Ok(_) | Err(ScriptedTurnStop::Interrupted | ScriptedTurnStop::Failed(_)) => {
                        Ok(())
                    }
                }
            };
            if let Err(code) = played {
                return code;
            }
        }
    }

    /// Handles an event of the inbox.
    fn on_event(&mut self, heard: InboxEvent) -> Result<ScriptedTurnEvent, ScriptedTurnStop> {
        match heard {
            InboxEvent::Line(line) => match self.on_line(&line) {
                ClaudeInputOutcome::Nothing => Ok(ScriptedTurnEvent::Other),
                ClaudeInputOutcome::Interrupt => Err(ScriptedTurnStop::Interrupted),
                ClaudeInputOutcome::Answer { request, answer } => {
                    Ok(ScriptedTurnEvent::Answer { request, answer })
                }
                ClaudeInputOutcome::Exit(code) => Err(ScriptedTurnStop::Exit(code)),
            },
            InboxEvent::CommandOutput(run, text) => Ok(ScriptedTurnEvent::CommandOutput(run, text)),
            InboxEvent::CommandEnded(run, code) => Ok(ScriptedTurnEvent::CommandEnded(run, code)),
            InboxEvent::InputClosed => {
                self.input = StdinState::Closed;
                Ok(ScriptedTurnEvent::InputClosed)
            }
            InboxEvent::Terminate => Err(ScriptedTurnStop::Exit(EXIT_CODE_SIGTERM)),
        }
    }

    /// Handles one line of the host. A line that is not JSON ends the process, as in the real program.
    fn on_line(&mut self, line: &str) -> ClaudeInputOutcome {
        if line.is_empty() {
            return ClaudeInputOutcome::Nothing;
        }
        let frame: Value = match serde_json::from_str(line) {
            Ok(frame) => frame,
            Err(error) => {
                self.runtime
                    .write_stderr(&format!("Error parsing streaming input line: {error}"));
                return ClaudeInputOutcome::Exit(1);
            }
        };
        match frame["type"].as_str() {
            Some("user") => self.on_user_message(&frame),
            Some("control_request") => {
                self.on_control_request(&frame["request_id"], &frame["request"])
            }
            Some("control_response") => self.on_control_response(frame),
            _ => ClaudeInputOutcome::Nothing,
        }
    }

    fn on_user_message(&mut self, frame: &Value) -> ClaudeInputOutcome {
        if frame["message"]["role"] != "user" {
            self.runtime
                .write_stderr("Error parsing streaming input line: expected message role 'user'");
            return ClaudeInputOutcome::Exit(1);
        }
        let uuid = frame["uuid"].as_str().map(str::to_owned);
        if let Some(uuid) = &uuid {
            self.send(|frames| frames.command_lifecycle(uuid, "queued"));
        }
        self.prompt_queue.push_back(QueuedUserLine {
            content: frame["message"]["content"].clone(),
            uuid,
        });
        ClaudeInputOutcome::Nothing
    }

    fn on_control_request(&mut self, id: &Value, request: &Value) -> ClaudeInputOutcome {
        let subtype = request["subtype"].as_str().unwrap_or_default();
        let answer = match subtype {
            "initialize" => self.on_initialize(&request["hooks"]),
            "interrupt" => return self.on_interrupt(id),
            "set_permission_mode" => {
                self.frame_builder.permission_mode =
                    request["mode"].as_str().unwrap_or("default").to_owned();
                json!({"mode": self.frame_builder.permission_mode})
            }
            _ => {
                let text = format!("Unsupported control request subtype: {subtype}");
                self.runtime
                    .send(&frames::control_error(id, &text, "unsupported_request"));
                return ClaudeInputOutcome::Nothing;
            }
        };
        self.runtime.send(&frames::control_success(id, answer));
        ClaudeInputOutcome::Nothing
    }

    fn on_interrupt(&mut self, id: &Value) -> ClaudeInputOutcome {
        if let Some(ActiveClaudeTurn {
            phase: ScriptedTurnPhase::AwaitingDecision { request, .. },
            ..
        }) = &self.active_turn
        {
            let cancel = frames::control_cancel(request);
            self.runtime.send(&cancel);
        }
        self.runtime
            .send(&frames::control_success(id, json!({"still_queued": []})));
        if self.active_turn.is_some() {
            ClaudeInputOutcome::Interrupt
        } else {
            ClaudeInputOutcome::Nothing
        }
    }

    fn on_control_response(&mut self, frame: Value) -> ClaudeInputOutcome {
        let asked = match &self.active_turn {
            Some(ActiveClaudeTurn {
                phase: ScriptedTurnPhase::AwaitingDecision { request, .. },
                ..
            }) => request.clone(),
            _ => return ClaudeInputOutcome::Nothing,
        };
        if frame["response"]["request_id"] != asked.as_str() {
            return ClaudeInputOutcome::Nothing;
        }
        if self.flags.replay_user_messages {
            self.runtime.send(&frame);
        }
        ClaudeInputOutcome::Answer {
            request: asked,
            answer: frame["response"].clone(),
        }
    }

    fn play_prompt(&mut self, prompt: QueuedUserLine) -> Result<(), i32> {
        if let Some(uuid) = &prompt.uuid {
            self.send(|frames| frames.command_lifecycle(uuid, "started"));
        }
        let text = prompt_text(&prompt.content);
        self.begin_turn(ScriptPlaceholders::from_prompt(&text), None);
        if self.flags.replay_user_messages {
            let uuid = prompt.uuid.clone().unwrap_or_else(new_uuid);
            self.send(|frames| frames.user_message_replay(&prompt.content, &uuid));
        }
        let ended = self
            .select_turn(&text)
            .and_then(|actions| perform_actions(self, &actions));
        self.end_turn(ended)?;
        if let Some(uuid) = &prompt.uuid {
            self.send(|frames| frames.command_lifecycle(uuid, "completed"));
        }
        Ok(())
    }

    fn play_unsolicited_turn(&mut self, actions: &[ScriptAction]) -> Result<(), i32> {
        let origin =
            json!({"kind": "task-notification", "producer": "session-task", "runId": new_uuid()});
        self.begin_turn(ScriptPlaceholders::default(), Some(origin));
        let ended = perform_actions(self, actions);
        self.end_turn(ended)
    }

    fn begin_turn(&mut self, words: ScriptPlaceholders, origin: Option<Value>) {
        self.active_turn = Some(ActiveClaudeTurn {
            started: Instant::now(),
            placeholders: words,
            message: None,
            phase: ScriptedTurnPhase::Idle,
            denials: Vec::new(),
            n_turns: 0,
            final_text: String::new(),
            usage: None,
            origin,
        });
        self.send(|frames| frames.system_init());
    }

    /// Selects the script's turn for the prompt and records that it is used.
    fn select_turn(&mut self, prompt: &str) -> Result<Vec<ScriptAction>, ScriptedTurnStop> {
        let conversation = (
            self.frame_builder.session_id.as_str(),
            &mut self.conversation,
        );
        (self.conversations)
            .select_turn(conversation.0, conversation.1, &self.script, prompt)
            .map_err(|text| ScriptedTurnStop::Failed(ScriptedTurnFailure::NoTurn(text)))
    }

    /// Ends the turn with its result; an error is the exit code of the process.
    fn end_turn(&mut self, ended: Result<(), ScriptedTurnStop>) -> Result<(), i32> {
        match ended {
            Ok(()) => {
                self.close_message("end_turn");
                self.send_result("success", "completed", ScriptedTurnOutcome::Completed);
            }
            Err(ScriptedTurnStop::Interrupted) => self.end_interrupted_turn(),
            Err(ScriptedTurnStop::Exit(code)) => return Err(code),
            Err(ScriptedTurnStop::Failed(failure)) => {
                let ScriptedClaudeFailure {
                    text,
                    error,
                    status,
                } = turn_failure(failure);
                self.close_message("end_turn");
                self.send(|frames| frames.api_error_message(&text, error));
                self.send_result(
                    "success",
                    "api_error",
                    ScriptedTurnOutcome::ApiError { text, status },
                );
            }
        }
        self.active_turn = None;
        Ok(())
    }

    fn send_result(
        &mut self,
        subtype: &'static str,
        terminal_reason: &'static str,
        outcome: ScriptedTurnOutcome,
    ) {
        let Some(playing) = self.active_turn.take() else {
            return;
        };
        let turn = playing
            .usage
            .unwrap_or((100 * playing.n_turns, 20 * playing.n_turns));
        self.conversation.input_tokens += turn.0;
        self.conversation.output_tokens += turn.1;
        if let Err(error) = self
            .conversations
            .save(&self.frame_builder.session_id, &self.conversation)
        {
            self.runtime.write_stderr(&format!("Error: {error}"));
        }
        let (is_error, text, stop_reason, status) = match outcome {
            ScriptedTurnOutcome::Completed => {
                (false, playing.final_text, json!("end_turn"), Value::Null)
            }
            ScriptedTurnOutcome::Aborted => {
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
            ScriptedTurnOutcome::ApiError { text, status } => {
                (true, text, json!("stop_sequence"), status)
            }
        };
        self.last_result = if is_error {
            LastTurnResult::Failed
        } else {
            LastTurnResult::Succeeded
        };
        let end = ScriptedClaudeTurnResult {
            subtype,
            terminal_reason,
            is_error,
            text,
            stop_reason,
            api_error_status: status,
            denials: playing.denials,
            n_turns: playing.n_turns,
            turn_tokens: turn,
            total_tokens: (
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
        self.send(|frames| frames.result(&end));
    }
}

/// The outcome of a turn.
enum ScriptedTurnOutcome {
    Completed,
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
