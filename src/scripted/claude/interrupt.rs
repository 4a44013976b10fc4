//! What an interrupt, or a denial that stops, leaves of a turn of claude.

use serde_json::{Value, json};

use super::call::meta;
use super::frames::{Tool, ToolResult};
use super::{Claude, Message, Outcome, Phase, Stop};

/// What the model is told of a call that an interrupt ended.
const REJECTED: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected \
    (eg. if it was a file edit, the new_string was NOT written to the file). STOP what you are doing and \
    wait for the user to tell you how to proceed.";

impl Claude {
    /// Ends the turn after a denial that stops; the result is sent here, so nothing is left to say.
    pub(super) fn stopped_by_denial(&mut self) -> Stop {
        self.stage.send(
            &self
                .stamp
                .user_note("[Request interrupted by user for tool use]"),
        );
        self.send_result("error_during_execution", "aborted_tools", Outcome::Aborted);
        Stop::Interrupted
    }

    /// Says what an interrupt leaves of the turn. Does nothing when the result is already out.
    pub(super) fn end_interrupted(&mut self) {
        let Some(playing) = &mut self.playing else {
            return;
        };
        let phase = std::mem::replace(&mut playing.phase, Phase::Between);
        let message = playing.message.take();
        match phase {
            Phase::Asking { tool, .. } => {
                self.note_denial(&tool);
                self.end_tool_interrupted(&tool);
            }
            Phase::Running { tool } => self.end_tool_interrupted(&tool),
            Phase::Speaking { text } => {
                if let Some(message) = &message {
                    let mut partial = self
                        .stamp
                        .assistant(&message.id, &json!({"type": "text", "text": text}));
                    partial["aborted"] = json!(true);
                    self.stage.send(&partial);
                }
                self.end_stream_interrupted(message.as_ref());
            }
            Phase::Between => self.end_stream_interrupted(message.as_ref()),
        }
    }

    fn end_tool_interrupted(&mut self, tool: &Tool) {
        let result = ToolResult {
            content: REJECTED.to_owned(),
            is_error: Some(true),
            detail: json!("User rejected tool use"),
            meta: meta(&[("non_execution_kind", json!("user-rejected"))]),
        };
        self.stage.send(&self.stamp.tool_result(tool, &result));
        self.stage.send(
            &self
                .stamp
                .user_note("[Request interrupted by user for tool use]"),
        );
        self.send_result("error_during_execution", "aborted_tools", Outcome::Aborted);
    }

    fn end_stream_interrupted(&mut self, message: Option<&Message>) {
        self.stage
            .send(&self.stamp.user_note("[Request interrupted by user]"));
        if let Some(message) = message {
            self.stream(
                message,
                json!({"type": "content_block_stop", "index": message.n_blocks}),
            );
            self.stage
                .send(&self.stamp.message_delta(&message.id, &Value::Null));
            self.stage.send(
                &self
                    .stamp
                    .message_stop(&message.id, Some(message.n_blocks + 1)),
            );
        }
        self.send_result(
            "error_during_execution",
            "aborted_streaming",
            Outcome::Aborted,
        );
    }
}
