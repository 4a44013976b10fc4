//! Ends a turn of claude after an interrupt, or after a denial that stops the turn.

use serde_json::{Value, json};

use super::frames::{ScriptedClaudeToolCall, ScriptedClaudeToolResult};
use super::tool_calls::tool_result_meta;
use super::{ScriptedClaude, ScriptedMessage, ScriptedTurnOutcome, ScriptedTurnPhase};
use crate::scripted::script_actor::ScriptedTurnStop;

/// The tool result of a call that an interrupt ended.
const TOOL_REJECTED_MESSAGE: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected \
    (eg. if it was a file edit, the new_string was NOT written to the file). STOP what you are doing and \
    wait for the user to tell you how to proceed.";

impl ScriptedClaude {
    /// Ends the turn after a denial that stops it; the result is sent here, so the caller sends nothing more.
    pub(super) fn end_after_denial(&mut self) -> ScriptedTurnStop {
        self.send(|frames| frames.user_note("[Request interrupted by user for tool use]"));
        self.send_result(
            "error_during_execution",
            "aborted_tools",
            ScriptedTurnOutcome::Aborted,
        );
        ScriptedTurnStop::Interrupted
    }

    /// Sends the frames that end an interrupted turn. Does nothing if the result was already sent.
    pub(super) fn end_interrupted_turn(&mut self) {
        let Some(playing) = &mut self.active_turn else {
            return;
        };
        let phase = std::mem::replace(&mut playing.phase, ScriptedTurnPhase::Idle);
        let message = playing.message.take();
        match phase {
            ScriptedTurnPhase::AwaitingDecision { tool, .. } => {
                self.record_denial(&tool);
                self.end_interrupted_tool(&tool);
            }
            ScriptedTurnPhase::RunningTool { tool } => self.end_interrupted_tool(&tool),
            ScriptedTurnPhase::StreamingText { text } => {
                if let Some(message) = &message {
                    let mut partial = self
                        .frame_builder
                        .assistant_message(&message.id, &json!({"type": "text", "text": text}));
                    partial["aborted"] = json!(true);
                    self.runtime.send(&partial);
                }
                self.end_interrupted_stream(message.as_ref());
            }
            ScriptedTurnPhase::Idle => self.end_interrupted_stream(message.as_ref()),
        }
    }

    fn end_interrupted_tool(&mut self, tool: &ScriptedClaudeToolCall) {
        let result = ScriptedClaudeToolResult {
            content: TOOL_REJECTED_MESSAGE.to_owned(),
            is_error: Some(true),
            detail: json!("User rejected tool use"),
            meta: tool_result_meta(&[("non_execution_kind", json!("user-rejected"))]),
        };
        self.send(|frames| frames.tool_result(tool, &result));
        self.send(|frames| frames.user_note("[Request interrupted by user for tool use]"));
        self.send_result(
            "error_during_execution",
            "aborted_tools",
            ScriptedTurnOutcome::Aborted,
        );
    }

    fn end_interrupted_stream(&mut self, message: Option<&ScriptedMessage>) {
        self.send(|frames| frames.user_note("[Request interrupted by user]"));
        if let Some(message) = message {
            self.send_stream_event(
                message,
                json!({"type": "content_block_stop", "index": message.n_blocks}),
            );
            self.send(|frames| frames.message_delta(&message.id, &Value::Null));
            self.send(|frames| frames.message_stop(&message.id, Some(message.n_blocks + 1)));
        }
        self.send_result(
            "error_during_execution",
            "aborted_streaming",
            ScriptedTurnOutcome::Aborted,
        );
    }
}
