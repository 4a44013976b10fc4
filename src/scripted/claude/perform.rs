//! What claude does for each action of a script; calls of tools are `call.rs`'s.
//!
//! Knows the order of the frames around an action; their shapes are `frames.rs`'s.

use std::time::Instant;

use serde_json::{Value, json};

use super::frames::fresh;
use super::{Claude, Message, Phase, Stop, Wake};
use crate::scripted::in_seconds;
use crate::scripted::script::{
    Action, Failing, FailingKind, FailingOutcome, Speech, Stall, Tokens,
};

impl Claude {
    /// Does what a list of actions says.
    pub(super) fn perform(&mut self, actions: &[Action]) -> Result<(), Stop> {
        actions
            .iter()
            .try_for_each(|action| self.perform_one(action))
    }

    fn perform_one(&mut self, action: &Action) -> Result<(), Stop> {
        match action {
            Action::Text(speech) => self.say(speech),
            Action::Thinking(speech) => self.think(speech),
            Action::Cut(speech) => self.lose_text(speech),
            Action::Command(command) => self.command(command),
            Action::Write(write) => self.write(write),
            Action::Edit(edit) => self.edit(edit),
            Action::Question(question) => self.question(question),
            Action::Error(failing) => self.fail(failing),
            Action::Stall(stall) => self.stall(stall),
            Action::Exit(exit) => Err(self.exit(exit.code, exit.stderr.as_deref())),
            Action::Frame(frame) => self.frame(&frame.json),
            Action::Malformed(malformed) => self.malformed(&malformed.line),
            Action::Unsolicited(turn) => self.announce(&turn.actions),
            Action::Tool(tool) => self.use_tool(tool),
            Action::Usage(tokens) => self.usage(*tokens),
        }
    }

    fn pause(&mut self, ms: u64) -> Result<(), Stop> {
        let deadline = Instant::now().checked_add(self.stage.pause(ms));
        while !matches!(self.listen(deadline)?, Wake::Timeout) {}
        Ok(())
    }

    pub(super) fn fill(&self, text: &str) -> String {
        self.playing
            .as_ref()
            .map_or_else(|| text.to_owned(), |playing| playing.words.fill(text))
    }

    pub(super) fn set_phase(&mut self, phase: Phase) {
        if let Some(playing) = &mut self.playing {
            playing.phase = phase;
        }
    }

    /// Returns the message that is streamed, beginning one where there is none.
    pub(super) fn open_message(&mut self) -> Message {
        if let Some(message) = self
            .playing
            .as_ref()
            .and_then(|playing| playing.message.clone())
        {
            return message;
        }
        let message = Message {
            id: format!("msg_{}", fresh().replace('-', "")),
            n_blocks: 0,
        };
        self.stage.send(&self.stamp.requesting());
        self.stage.send(&self.stamp.message_start(&message.id));
        if let Some(playing) = &mut self.playing {
            playing.n_turns += 1;
            playing.message = Some(message.clone());
        }
        message
    }

    pub(super) fn stream(&mut self, message: &Message, event: Value) {
        self.stage.send(&self.stamp.stream(&message.id, event));
    }

    pub(super) fn end_block(&mut self, message: &Message, block: &Value) {
        self.stage.send(&self.stamp.assistant(&message.id, block));
        self.stream(
            message,
            json!({"type": "content_block_stop", "index": message.n_blocks}),
        );
        if let Some(Some(message)) = self
            .playing
            .as_mut()
            .map(|playing| playing.message.as_mut())
        {
            message.n_blocks += 1;
        }
        self.set_phase(Phase::Between);
    }

    /// Ends the message that is streamed, if there is one.
    pub(super) fn close_message(&mut self, stop_reason: &str) {
        let message = self
            .playing
            .as_mut()
            .and_then(|playing| playing.message.take());
        if let Some(message) = message {
            self.stage
                .send(&self.stamp.message_delta(&message.id, &json!(stop_reason)));
            self.stage.send(&self.stamp.message_stop(&message.id, None));
        }
    }

    /// Streams a speech as the deltas of a block.
    fn speak(
        &mut self,
        speech: &Speech,
        message: &Message,
        [kind, key]: [&str; 2],
    ) -> Result<String, Stop> {
        let text = self.fill(&speech.text).repeat(speech.repeat as usize);
        let mut spoken = String::new();
        for delta in speech.deltas(&text) {
            self.pause(speech.pause_ms)?;
            if kind == "thinking_delta" {
                self.stage.send(
                    &self
                        .stamp
                        .thinking_tokens((spoken.len() + delta.len()) / 4, delta.len() / 4),
                );
            }
            let delta_event = json!({"type": kind, key: delta});
            let event = json!({"type": "content_block_delta", "index": message.n_blocks, "delta": delta_event});
            self.stream(message, event);
            spoken.push_str(delta);
            if kind == "text_delta" {
                self.set_phase(Phase::Speaking {
                    text: spoken.clone(),
                });
            }
        }
        Ok(text)
    }

    fn start_text(&mut self) -> Message {
        let message = self.open_message();
        let block = json!({"type": "text", "text": ""});
        let event = json!({"type": "content_block_start", "index": message.n_blocks, "content_block": block});
        self.stream(&message, event);
        self.set_phase(Phase::Speaking {
            text: String::new(),
        });
        message
    }

    fn say(&mut self, speech: &Speech) -> Result<(), Stop> {
        let message = self.start_text();
        let text = self.speak(speech, &message, ["text_delta", "text"])?;
        self.end_block(&message, &json!({"type": "text", "text": text}));
        if let Some(playing) = &mut self.playing {
            playing.final_text = text;
        }
        Ok(())
    }

    fn think(&mut self, speech: &Speech) -> Result<(), Stop> {
        let message = self.open_message();
        let block = json!({"type": "thinking", "thinking": "", "signature": ""});
        let event = json!({"type": "content_block_start", "index": message.n_blocks, "content_block": block});
        self.stream(&message, event);
        let text = self.speak(speech, &message, ["thinking_delta", "thinking"])?;
        let signature = json!({"type": "signature_delta", "signature": "c2NyaXB0ZWQ="});
        let event =
            json!({"type": "content_block_delta", "index": message.n_blocks, "delta": signature});
        self.stream(&message, event);
        let block = json!({"type": "thinking", "thinking": text, "signature": "c2NyaXB0ZWQ="});
        self.end_block(&message, &block);
        Ok(())
    }

    /// Half a message that is taken back, then the notice of a retry.
    fn lose_text(&mut self, speech: &Speech) -> Result<(), Stop> {
        let message = self.start_text();
        self.speak(speech, &message, ["text_delta", "text"])?;
        self.stream(
            &message,
            json!({"type": "content_block_stop", "index": message.n_blocks}),
        );
        self.stage
            .send(&self.stamp.message_stop(&message.id, Some(message.n_blocks)));
        self.stage
            .send(&self.stamp.retry(1, 4, 500, (Value::Null, "unknown")));
        if let Some(playing) = &mut self.playing {
            playing.message = None;
            playing.phase = Phase::Between;
        }
        Ok(())
    }

    fn fail(&mut self, failing: &Failing) -> Result<(), Stop> {
        let failure = failure(failing.kind);
        for attempt in 1..=failing.retries {
            self.pause(failing.pause_ms)?;
            let cause = (failure.status.clone(), failure.error);
            self.stage.send(
                &self
                    .stamp
                    .retry(attempt, failing.retries, failing.pause_ms, cause),
            );
        }
        if let Some(seconds) = failing.resets_in {
            self.stage.send(&self.stamp.used_up(in_seconds(seconds)));
        }
        match failing.outcome {
            FailingOutcome::Recovers => Ok(()),
            FailingOutcome::Fails => Err(Stop::Failed {
                text: failure.text.to_owned(),
                error: failure.error,
                status: failure.status,
            }),
        }
    }

    fn stall(&mut self, stall: &Stall) -> Result<(), Stop> {
        match stall.ms {
            Some(ms) => self.pause(ms),
            None => loop {
                self.listen(None)?;
            },
        }
    }

    fn exit(&mut self, code: i32, stderr: Option<&str>) -> Stop {
        if let Some(text) = stderr {
            self.stage.complain(text);
        }
        Stop::Exit(code)
    }

    fn frame(&mut self, frame: &Value) -> Result<(), Stop> {
        let text = self.fill(&frame.to_string());
        self.stage.send_line(&text);
        Ok(())
    }

    fn malformed(&mut self, line: &str) -> Result<(), Stop> {
        self.stage.send_line(line);
        Ok(())
    }

    fn announce(&mut self, actions: &[Action]) -> Result<(), Stop> {
        self.uninvited.push_back(actions.to_vec());
        Ok(())
    }

    fn usage(&mut self, tokens: Tokens) -> Result<(), Stop> {
        self.conversation.cost_usd += tokens.cost_usd;
        if let Some(playing) = &mut self.playing {
            let (input, output) = playing.usage.unwrap_or_default();
            playing.usage = Some((input + tokens.input, output + tokens.output));
        }
        Ok(())
    }
}

/// What claude says of a failure.
struct Failure {
    status: Value,
    error: &'static str,
    text: &'static str,
}

fn failure(kind: FailingKind) -> Failure {
    let (status, error, text) = match kind {
        FailingKind::Unauthorized => (
            json!(401),
            "authentication_failed",
            "Invalid API key \u{b7} Fix external API key",
        ),
        FailingKind::RateLimit => (
            json!(429),
            "rate_limit",
            "API Error: Request rejected (429) \u{b7} slow down",
        ),
        FailingKind::UsageLimit => (
            json!(429),
            "rate_limit",
            "You've hit your usage limit \u{b7} resets 3am",
        ),
        FailingKind::Server => (
            json!(529),
            "server_error",
            "API Error: Repeated 529 Overloaded errors. The API is at capacity \u{2014} this is usually temporary.",
        ),
        FailingKind::Connection => (
            Value::Null,
            "server_error",
            "API Error: Connection refused (ECONNREFUSED)",
        ),
    };
    Failure {
        status,
        error,
        text,
    }
}
