//! The frames with which claude says what it does; those around every tool call are in `tool_calls.rs`.
//!
//! It knows the order of the frames around an action; their format is in `frames.rs`.

use std::path::PathBuf;
use std::time::Instant;

use serde_json::{Value, json};

use super::frames::{ScriptedClaudeToolCall, ScriptedClaudeToolResult, new_uuid};
use super::tool_calls::{
    ApprovalRequirement, accepted_meta, file_change_result, file_path_from_input, text_from_input,
};
use super::{ScriptedClaude, ScriptedMessage, ScriptedTurnPhase};
use crate::scripted::conversation_store::ScriptPlaceholders;
use crate::scripted::mcp_client::{ScriptedToolCall, ScriptedToolOutcome, ToolServerCommand};
use crate::scripted::runtime::{ScriptRuntime, is_read_only_command};
use crate::scripted::script::{
    ScriptAction, ScriptAskPolicy, ScriptCommand, ScriptFailure, ScriptFailureKind, ScriptQuestion,
    ScriptUsage,
};
use crate::scripted::script_actor::{
    ScriptedFileText, ScriptedProtocol, ScriptedTurnEvent, ScriptedTurnFailure, ScriptedTurnStop,
    SpeechKind, wait_for_command,
};

/// A block of a message that is being streamed.
pub struct ScriptedSpeechBlock {
    message: ScriptedMessage,
    kind: SpeechKind,
}

impl ScriptedProtocol for ScriptedClaude {
    type Speech = ScriptedSpeechBlock;
    type Call = ScriptedClaudeToolCall;

    fn runtime(&mut self) -> &mut ScriptRuntime {
        &mut self.runtime
    }

    fn placeholders(&mut self) -> Option<&mut ScriptPlaceholders> {
        let playing = self.active_turn.as_mut();
        playing.map(|playing| &mut playing.placeholders)
    }

    fn cwd(&self) -> PathBuf {
        PathBuf::from(&self.frame_builder.cwd)
    }

    fn wait_for_event(
        &mut self,
        deadline: Option<Instant>,
    ) -> Result<ScriptedTurnEvent, ScriptedTurnStop> {
        match self.runtime.wait_for_event(deadline) {
            Some(heard) => self.on_event(heard),
            None => Ok(ScriptedTurnEvent::Timeout),
        }
    }

    fn open_speech(&mut self, kind: SpeechKind) -> ScriptedSpeechBlock {
        let message = self.open_message();
        let block = match kind {
            SpeechKind::Message => json!({"type": "text", "text": ""}),
            SpeechKind::Thinking => json!({"type": "thinking", "thinking": "", "signature": ""}),
        };
        let event = json!({"type": "content_block_start", "index": message.n_blocks, "content_block": block});
        self.send_stream_event(&message, event);
        if kind == SpeechKind::Message {
            let text = String::new();
            self.set_phase(ScriptedTurnPhase::StreamingText { text });
        }
        ScriptedSpeechBlock { message, kind }
    }

    fn send_delta(&mut self, speech: &ScriptedSpeechBlock, spoken: &str, delta: &str) {
        let delta_event = match speech.kind {
            SpeechKind::Message => json!({"type": "text_delta", "text": delta}),
            SpeechKind::Thinking => {
                self.send(|frames| frames.thinking_tokens(spoken.len() / 4, delta.len() / 4));
                json!({"type": "thinking_delta", "thinking": delta})
            }
        };
        self.send_block_delta(&speech.message, &delta_event);
        if speech.kind == SpeechKind::Message {
            let text = spoken.to_owned();
            self.set_phase(ScriptedTurnPhase::StreamingText { text });
        }
    }

    fn close_speech(&mut self, speech: ScriptedSpeechBlock, text: String) {
        let ScriptedSpeechBlock { message, kind } = speech;
        match kind {
            SpeechKind::Message => {
                self.end_block(&message, &json!({"type": "text", "text": text}));
                if let Some(playing) = &mut self.active_turn {
                    playing.final_text = text;
                }
            }
            SpeechKind::Thinking => {
                let signature = json!({"type": "signature_delta", "signature": "c2NyaXB0ZWQ="});
                self.send_block_delta(&message, &signature);
                let block =
                    json!({"type": "thinking", "thinking": text, "signature": "c2NyaXB0ZWQ="});
                self.end_block(&message, &block);
            }
        }
    }

    fn withdraw_speech(&mut self, speech: ScriptedSpeechBlock) {
        let message = speech.message;
        self.send_stream_event(
            &message,
            json!({"type": "content_block_stop", "index": message.n_blocks}),
        );
        self.send(|frames| frames.message_stop(&message.id, Some(message.n_blocks)));
        self.send(|frames| frames.api_retry(1, 4, 500, Value::Null, "unknown"));
        if let Some(playing) = &mut self.active_turn {
            playing.message = None;
            playing.phase = ScriptedTurnPhase::Idle;
        }
    }

    fn announce_command(
        &mut self,
        line: String,
        command: &ScriptCommand,
    ) -> Result<Option<ScriptedClaudeToolCall>, ScriptedTurnStop> {
        let description = command.reason.clone().unwrap_or_else(|| line.clone());
        let input = json!({"command": line, "description": description});
        let ruled = self.flags.ask_tools.iter().any(|rule| rule == "Bash");
        let ask = if command.ask == ScriptAskPolicy::Always || ruled || !is_read_only_command(&line)
        {
            ApprovalRequirement::Required
        } else {
            ApprovalRequirement::NotRequired
        };
        self.start_tool_call("Bash", input, description, ask)
    }

    /// An interrupt kills the command and everything it started.
    fn run_command(&mut self, tool: ScriptedClaudeToolCall) -> Result<(), ScriptedTurnStop> {
        let line = tool.input["command"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let cwd = self.cwd();
        let run = match self.runtime.start_command(&line, &cwd) {
            Ok(run) => run,
            Err(error) => {
                self.send_command_result(&tool, &error.to_string(), None);
                return Ok(());
            }
        };
        self.set_phase(ScriptedTurnPhase::RunningTool { tool: tool.clone() });
        let (output, code) = wait_for_command(self, run)?;
        self.set_phase(ScriptedTurnPhase::Idle);
        self.send_command_result(&tool, output.trim_end(), code);
        Ok(())
    }

    fn read_file(&mut self, path: PathBuf) -> Result<(), ScriptedTurnStop> {
        let text = std::fs::read(&path).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        let described = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let input = json!({"file_path": path});
        let ask = ApprovalRequirement::NotRequired;
        let Some(tool) = self.start_tool_call("Read", input, described, ask)? else {
            return Ok(());
        };
        let numbered = text.lines().enumerate();
        let numbered: Vec<String> = numbered
            .map(|(at, line)| format!("{:>6}\u{2192}{line}", at + 1))
            .collect();
        let n_lines = numbered.len();
        let result = ScriptedClaudeToolResult {
            content: numbered.join("\n"),
            is_error: None,
            detail: json!({"type": "text", "file": {
                "filePath": path, "content": text, "numLines": n_lines, "startLine": 1, "totalLines": n_lines,
            }}),
            meta: accepted_meta(),
        };
        self.send(|frames| frames.tool_result(&tool, &result));
        Ok(())
    }

    fn change_file(
        &mut self,
        path: PathBuf,
        text: ScriptedFileText,
        ask: ScriptAskPolicy,
    ) -> Result<bool, ScriptedTurnStop> {
        let (name, input) = match text {
            ScriptedFileText::Whole(content) => {
                ("Write", json!({"file_path": path, "content": content}))
            }
            ScriptedFileText::Replacement { find, replace } => (
                "Edit",
                json!({
                    "file_path": path, "old_string": find, "new_string": replace, "replace_all": false,
                }),
            ),
        };
        let described = input["file_path"].as_str().unwrap_or_default();
        let described = described.rsplit('/').next().unwrap_or_default().to_owned();
        let ruled = self.flags.ask_tools.iter().any(|rule| rule == name);
        let unasked = self.frame_builder.permission_mode == "acceptEdits"
            && !ruled
            && ask == ScriptAskPolicy::AsReal;
        let ask = if unasked {
            ApprovalRequirement::NotRequired
        } else {
            ApprovalRequirement::Required
        };
        let Some(tool) = self.start_tool_call(name, input, described, ask)? else {
            return Ok(false);
        };
        let path = file_path_from_input(&tool.input, &path);
        let change = text_from_input(name, &tool.input).prepare_change(path);
        let made = change.and_then(|change| change.apply().map(|()| change));
        let is_changed = made.is_ok();
        let result = match made {
            Ok(change) => file_change_result(&change),
            Err(error) => {
                let content = format!("<tool_use_error>{error}</tool_use_error>");
                let detail = json!(format!("Error: {error}"));
                ScriptedClaudeToolResult {
                    content,
                    is_error: Some(true),
                    detail,
                    meta: accepted_meta(),
                }
            }
        };
        self.send(|frames| frames.tool_result(&tool, &result));
        Ok(is_changed)
    }

    fn announce_tool(
        &mut self,
        name: &str,
        input: Value,
    ) -> Result<Option<(ScriptedClaudeToolCall, ScriptedToolCall)>, ScriptedTurnStop> {
        let tool = self.start_tool_call(
            &format!("mcp__agent_collab__{name}"),
            input,
            name.to_owned(),
            ApprovalRequirement::NotRequired,
        )?;
        Ok(tool.map(|tool| {
            let call = ScriptedToolCall {
                tool: name.to_owned(),
                input: tool.input.clone(),
                thread: None,
            };
            self.set_phase(ScriptedTurnPhase::RunningTool { tool: tool.clone() });
            (tool, call)
        }))
    }

    fn tool_server(&self) -> Option<ToolServerCommand> {
        let server = self.flags.mcp_server.clone()?;
        Some(server.through_client(&self.script.tool_client))
    }

    fn end_tool(&mut self, tool: ScriptedClaudeToolCall, outcome: &ScriptedToolOutcome) {
        self.set_phase(ScriptedTurnPhase::Idle);
        let result = ScriptedClaudeToolResult {
            content: outcome.text.clone(),
            is_error: Some(outcome.is_error),
            detail: json!(outcome.text),
            meta: accepted_meta(),
        };
        self.send(|frames| frames.tool_result(&tool, &result));
    }

    fn ask_user(&mut self, question: &ScriptQuestion) -> Result<Option<String>, ScriptedTurnStop> {
        let text = question.question.clone();
        let options: Vec<Value> = question
            .options
            .iter()
            .map(|label| json!({"label": label, "description": ""}))
            .collect();
        let header = if question.header.is_empty() {
            "Question"
        } else {
            &question.header
        };
        let asked =
            json!({"question": text, "header": header, "options": options, "multiSelect": false});
        let input = json!({"questions": [asked]});
        let tool = self.start_tool_call(
            "AskUserQuestion",
            input,
            text.clone(),
            ApprovalRequirement::Required,
        )?;
        let Some(tool) = tool else {
            return Ok(None);
        };
        let Some(answer) = tool.input["answers"][&text].as_str() else {
            return Ok(None);
        };
        let result = ScriptedClaudeToolResult {
            content: format!(
                "Your questions have been answered: \"{text}\"=\"{answer}\". You can now continue with these answers in mind."
            ),
            is_error: None,
            detail: json!({"questions": tool.input["questions"], "answers": tool.input["answers"]}),
            meta: accepted_meta(),
        };
        self.send(|frames| frames.tool_result(&tool, &result));
        Ok(Some(answer.to_owned()))
    }

    fn send_retry(&mut self, failing: &ScriptFailure, attempt: u32) {
        let failure = turn_failure(ScriptedTurnFailure::Service(failing.kind));
        let (of, delay_ms) = (failing.retries, failing.pause_ms);
        self.send(|frames| frames.api_retry(attempt, of, delay_ms, failure.status, failure.error));
    }

    fn send_limit_reset(&mut self, resets_at: i64) {
        self.send(|frames| frames.rate_limit_rejected(resets_at));
    }

    fn add_usage(&mut self, tokens: ScriptUsage) {
        self.conversation.cost_usd += tokens.cost_usd;
        if let Some(playing) = &mut self.active_turn {
            let (input, output) = playing.usage.unwrap_or_default();
            playing.usage = Some((input + tokens.input, output + tokens.output));
        }
    }

    fn queue_unsolicited_turn(&mut self, actions: &[ScriptAction]) {
        self.unsolicited_turns.push_back(actions.to_vec());
    }
}

impl ScriptedClaude {
    pub(super) fn set_phase(&mut self, phase: ScriptedTurnPhase) {
        if let Some(playing) = &mut self.active_turn {
            playing.phase = phase;
        }
    }

    /// Returns the message that is being streamed, starting one if there is none.
    pub(super) fn open_message(&mut self) -> ScriptedMessage {
        if let Some(message) = self
            .active_turn
            .as_ref()
            .and_then(|playing| playing.message.clone())
        {
            return message;
        }
        let message = ScriptedMessage {
            id: format!("msg_{}", new_uuid().replace('-', "")),
            n_blocks: 0,
        };
        self.send(|frames| frames.requesting_status());
        self.send(|frames| frames.message_start(&message.id));
        if let Some(playing) = &mut self.active_turn {
            playing.n_turns += 1;
            playing.message = Some(message.clone());
        }
        message
    }

    pub(super) fn send_stream_event(&mut self, message: &ScriptedMessage, event: Value) {
        self.send(|frames| frames.stream_event(&message.id, event));
    }

    pub(super) fn end_block(&mut self, message: &ScriptedMessage, block: &Value) {
        self.send(|frames| frames.assistant_message(&message.id, block));
        self.send_stream_event(
            message,
            json!({"type": "content_block_stop", "index": message.n_blocks}),
        );
        if let Some(Some(message)) = self
            .active_turn
            .as_mut()
            .map(|playing| playing.message.as_mut())
        {
            message.n_blocks += 1;
        }
        self.set_phase(ScriptedTurnPhase::Idle);
    }

    /// Ends the message that is being streamed, if there is one.
    pub(super) fn close_message(&mut self, stop_reason: &str) {
        let message = self
            .active_turn
            .as_mut()
            .and_then(|playing| playing.message.take());
        if let Some(message) = message {
            self.send(|frames| frames.message_delta(&message.id, &json!(stop_reason)));
            self.send(|frames| frames.message_stop(&message.id, None));
        }
    }

    /// Sends a piece of the message's current block.
    pub(super) fn send_block_delta(&mut self, message: &ScriptedMessage, delta: &Value) {
        let event =
            json!({"type": "content_block_delta", "index": message.n_blocks, "delta": delta});
        self.send_stream_event(message, event);
    }
}

/// How claude reports a failure.
pub(super) struct ScriptedClaudeFailure {
    pub(super) status: Value,
    pub(super) error: &'static str,
    pub(super) text: String,
}

pub(super) fn turn_failure(failure: ScriptedTurnFailure) -> ScriptedClaudeFailure {
    let kind = match failure {
        ScriptedTurnFailure::Service(kind) => kind,
        ScriptedTurnFailure::NoTurn(text) => {
            return ScriptedClaudeFailure {
                status: Value::Null,
                error: "unknown",
                text,
            };
        }
    };
    let (status, error, text) = match kind {
        ScriptFailureKind::Unauthorized => (
            json!(401),
            "authentication_failed",
            "Invalid API key \u{b7} Fix external API key",
        ),
        ScriptFailureKind::RateLimit => (
            json!(429),
            "rate_limit",
            "API Error: Request rejected (429) \u{b7} slow down",
        ),
        ScriptFailureKind::UsageLimit => (
            json!(429),
            "rate_limit",
            "You've hit your usage limit \u{b7} resets 3am",
        ),
        ScriptFailureKind::Server => (
            json!(529),
            "server_error",
            "API Error: Repeated 529 Overloaded errors. The API is at capacity \u{2014} this is usually temporary.",
        ),
        ScriptFailureKind::Connection => (
            Value::Null,
            "server_error",
            "API Error: Connection refused (ECONNREFUSED)",
        ),
    };
    ScriptedClaudeFailure {
        status,
        error,
        text: text.to_owned(),
    }
}
