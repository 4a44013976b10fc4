//! Performs the actions of a script as claude would; tool calls are in `tool_calls.rs`.
//!
//! It knows the order of the frames around an action; their format is in `frames.rs`.

use std::time::Instant;

use serde_json::{Value, json};

use super::frames::new_uuid;
use super::{
    ClaudeWaitOutcome, ScriptedClaude, ScriptedClaudeStop, ScriptedMessage, ScriptedTurnPhase,
};
use crate::scripted::script::{
    ScriptAction, ScriptFailure, ScriptFailureKind, ScriptFailureOutcome, ScriptSpeech,
    ScriptStall, ScriptUsage,
};
use crate::scripted::seconds_from_now;

impl ScriptedClaude {
    /// Performs a list of actions.
    pub(super) fn perform_actions(
        &mut self,
        actions: &[ScriptAction],
    ) -> Result<(), ScriptedClaudeStop> {
        actions
            .iter()
            .try_for_each(|action| self.perform_action(action))
    }

    fn perform_action(&mut self, action: &ScriptAction) -> Result<(), ScriptedClaudeStop> {
        match action {
            ScriptAction::Text(speech) => self.send_text(speech),
            ScriptAction::Thinking(speech) => self.send_thinking(speech),
            ScriptAction::Cut(speech) => self.send_cut_text(speech),
            ScriptAction::Command(command) => self.perform_command(command),
            ScriptAction::Write(write) => self.perform_write(write),
            ScriptAction::Edit(edit) => self.perform_edit(edit),
            ScriptAction::Question(question) => self.ask_question(question),
            ScriptAction::Error(failing) => self.perform_failure(failing),
            ScriptAction::Stall(stall) => self.perform_stall(stall),
            ScriptAction::Exit(exit) => Err(self.perform_exit(exit.code, exit.stderr.as_deref())),
            ScriptAction::Frame(frame) => self.send_raw_frame(&frame.json),
            ScriptAction::Malformed(malformed) => self.send_malformed_line(&malformed.line),
            ScriptAction::Unsolicited(turn) => self.queue_unsolicited_turn(&turn.actions),
            ScriptAction::Tool(tool) => self.call_tool(tool),
            ScriptAction::Usage(tokens) => self.perform_usage(*tokens),
        }
    }

    fn pause(&mut self, ms: u64) -> Result<(), ScriptedClaudeStop> {
        let deadline = Instant::now().checked_add(self.runtime.pause_duration(ms));
        while !matches!(self.wait_for_event(deadline)?, ClaudeWaitOutcome::Timeout) {}
        Ok(())
    }

    pub(super) fn expand_placeholders(&self, text: &str) -> String {
        self.active_turn.as_ref().map_or_else(
            || text.to_owned(),
            |playing| playing.placeholders.expand(text),
        )
    }

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
        self.runtime.send(&self.frame_builder.requesting_status());
        self.runtime
            .send(&self.frame_builder.message_start(&message.id));
        if let Some(playing) = &mut self.active_turn {
            playing.n_turns += 1;
            playing.message = Some(message.clone());
        }
        message
    }

    pub(super) fn send_stream_event(&mut self, message: &ScriptedMessage, event: Value) {
        self.runtime
            .send(&self.frame_builder.stream_event(&message.id, event));
    }

    pub(super) fn end_block(&mut self, message: &ScriptedMessage, block: &Value) {
        self.runtime
            .send(&self.frame_builder.assistant_message(&message.id, block));
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
            self.runtime.send(
                &self
                    .frame_builder
                    .message_delta(&message.id, &json!(stop_reason)),
            );
            self.runtime
                .send(&self.frame_builder.message_stop(&message.id, None));
        }
    }

    /// Streams a speech as the deltas of a block.
    fn stream_deltas(
        &mut self,
        speech: &ScriptSpeech,
        message: &ScriptedMessage,
        [kind, key]: [&str; 2],
    ) -> Result<String, ScriptedClaudeStop> {
        let text = self
            .expand_placeholders(&speech.text)
            .repeat(speech.repeat as usize);
        let mut spoken = String::new();
        for delta in speech.split_into_deltas(&text) {
            self.pause(speech.pause_ms)?;
            if kind == "thinking_delta" {
                self.runtime.send(
                    &self
                        .frame_builder
                        .thinking_tokens((spoken.len() + delta.len()) / 4, delta.len() / 4),
                );
            }
            let delta_event = json!({"type": kind, key: delta});
            let event = json!({"type": "content_block_delta", "index": message.n_blocks, "delta": delta_event});
            self.send_stream_event(message, event);
            spoken.push_str(delta);
            if kind == "text_delta" {
                self.set_phase(ScriptedTurnPhase::StreamingText {
                    text: spoken.clone(),
                });
            }
        }
        Ok(text)
    }

    fn start_text_block(&mut self) -> ScriptedMessage {
        let message = self.open_message();
        let block = json!({"type": "text", "text": ""});
        let event = json!({"type": "content_block_start", "index": message.n_blocks, "content_block": block});
        self.send_stream_event(&message, event);
        self.set_phase(ScriptedTurnPhase::StreamingText {
            text: String::new(),
        });
        message
    }

    fn send_text(&mut self, speech: &ScriptSpeech) -> Result<(), ScriptedClaudeStop> {
        let message = self.start_text_block();
        let text = self.stream_deltas(speech, &message, ["text_delta", "text"])?;
        self.end_block(&message, &json!({"type": "text", "text": text}));
        if let Some(playing) = &mut self.active_turn {
            playing.final_text = text;
        }
        Ok(())
    }

    fn send_thinking(&mut self, speech: &ScriptSpeech) -> Result<(), ScriptedClaudeStop> {
        let message = self.open_message();
        let block = json!({"type": "thinking", "thinking": "", "signature": ""});
        let event = json!({"type": "content_block_start", "index": message.n_blocks, "content_block": block});
        self.send_stream_event(&message, event);
        let text = self.stream_deltas(speech, &message, ["thinking_delta", "thinking"])?;
        let signature = json!({"type": "signature_delta", "signature": "c2NyaXB0ZWQ="});
        let event =
            json!({"type": "content_block_delta", "index": message.n_blocks, "delta": signature});
        self.send_stream_event(&message, event);
        let block = json!({"type": "thinking", "thinking": text, "signature": "c2NyaXB0ZWQ="});
        self.end_block(&message, &block);
        Ok(())
    }

    /// Sends half a message that is then withdrawn, and the notice of a retry.
    fn send_cut_text(&mut self, speech: &ScriptSpeech) -> Result<(), ScriptedClaudeStop> {
        let message = self.start_text_block();
        self.stream_deltas(speech, &message, ["text_delta", "text"])?;
        self.send_stream_event(
            &message,
            json!({"type": "content_block_stop", "index": message.n_blocks}),
        );
        self.runtime.send(
            &self
                .frame_builder
                .message_stop(&message.id, Some(message.n_blocks)),
        );
        self.runtime.send(
            &self
                .frame_builder
                .api_retry(1, 4, 500, Value::Null, "unknown"),
        );
        if let Some(playing) = &mut self.active_turn {
            playing.message = None;
            playing.phase = ScriptedTurnPhase::Idle;
        }
        Ok(())
    }

    fn perform_failure(&mut self, failing: &ScriptFailure) -> Result<(), ScriptedClaudeStop> {
        let failure = failure_details(failing.kind);
        for attempt in 1..=failing.retries {
            self.pause(failing.pause_ms)?;
            self.runtime.send(&self.frame_builder.api_retry(
                attempt,
                failing.retries,
                failing.pause_ms,
                failure.status.clone(),
                failure.error,
            ));
        }
        if let Some(seconds) = failing.resets_in {
            self.runtime.send(
                &self
                    .frame_builder
                    .rate_limit_rejected(seconds_from_now(seconds)),
            );
        }
        match failing.outcome {
            ScriptFailureOutcome::Recovers => Ok(()),
            ScriptFailureOutcome::Fails => Err(ScriptedClaudeStop::Failed {
                text: failure.text.to_owned(),
                error: failure.error,
                status: failure.status,
            }),
        }
    }

    fn perform_stall(&mut self, stall: &ScriptStall) -> Result<(), ScriptedClaudeStop> {
        match stall.ms {
            Some(ms) => self.pause(ms),
            None => loop {
                self.wait_for_event(None)?;
            },
        }
    }

    fn perform_exit(&mut self, code: i32, stderr: Option<&str>) -> ScriptedClaudeStop {
        if let Some(text) = stderr {
            self.runtime.write_stderr(text);
        }
        ScriptedClaudeStop::Exit(code)
    }

    fn send_raw_frame(&mut self, frame: &Value) -> Result<(), ScriptedClaudeStop> {
        let text = self.expand_placeholders(&frame.to_string());
        self.runtime.send_line(&text);
        Ok(())
    }

    fn send_malformed_line(&mut self, line: &str) -> Result<(), ScriptedClaudeStop> {
        self.runtime.send_line(line);
        Ok(())
    }

    fn queue_unsolicited_turn(
        &mut self,
        actions: &[ScriptAction],
    ) -> Result<(), ScriptedClaudeStop> {
        self.unsolicited_turns.push_back(actions.to_vec());
        Ok(())
    }

    fn perform_usage(&mut self, tokens: ScriptUsage) -> Result<(), ScriptedClaudeStop> {
        self.conversation.cost_usd += tokens.cost_usd;
        if let Some(playing) = &mut self.active_turn {
            let (input, output) = playing.usage.unwrap_or_default();
            playing.usage = Some((input + tokens.input, output + tokens.output));
        }
        Ok(())
    }
}

/// How claude reports a failure.
struct ScriptedClaudeFailure {
    status: Value,
    error: &'static str,
    text: &'static str,
}

fn failure_details(kind: ScriptFailureKind) -> ScriptedClaudeFailure {
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
        text,
    }
}
