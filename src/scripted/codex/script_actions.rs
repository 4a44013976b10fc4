//! Performs the actions of a script as codex would.
//!
//! It knows the order of the frames around an action; their format is in `frames.rs`.

use std::path::{Component, Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};

use super::outgoing_requests::{ScriptedApprovalCancellation, ScriptedApprovalDecision};
use super::{
    CodexWaitOutcome, ScriptedCodex, ScriptedCodexStop, ScriptedTerminal, UsageReportState, frames,
};
use crate::scripted::runtime::{
    ScriptCommandId, ScriptedFileChange, ScriptedFileChangeError, is_read_only_command,
};
use crate::scripted::script::{
    ScriptAction, ScriptAskPolicy, ScriptCommand, ScriptFailure, ScriptFailureKind,
    ScriptFailureOutcome, ScriptFileEdit, ScriptFileWrite, ScriptSpeech, ScriptStall,
};
use crate::scripted::seconds_from_now;

impl ScriptedCodex {
    /// Performs a list of actions.
    pub(super) fn perform_actions(
        &mut self,
        actions: &[ScriptAction],
    ) -> Result<(), ScriptedCodexStop> {
        actions
            .iter()
            .try_for_each(|action| self.perform_action(action))
    }

    fn perform_action(&mut self, action: &ScriptAction) -> Result<(), ScriptedCodexStop> {
        match action {
            ScriptAction::Text(speech) => self.send_text(speech),
            ScriptAction::Thinking(speech) => self.send_thinking(speech),
            ScriptAction::Cut(speech) => self.send_cut_text(speech),
            ScriptAction::Command(command) => self.perform_command(command),
            ScriptAction::Write(write) => self.perform_write(write),
            ScriptAction::Edit(edit) => self.perform_edit(edit),
            ScriptAction::Error(failing) => self.perform_failure(failing),
            ScriptAction::Stall(stall) => self.perform_stall(stall),
            ScriptAction::Exit(exit) => Err(self.perform_exit(exit.code, exit.stderr.as_deref())),
            ScriptAction::Frame(frame) => self.send_raw_frame(&frame.json),
            ScriptAction::Malformed(malformed) => self.send_malformed_line(&malformed.line),
            ScriptAction::Tool(tool) => self.call_tool(tool),
            ScriptAction::Usage(tokens) => self.perform_usage((tokens.input, tokens.output)),
            ScriptAction::Question(question) => self.ask_question(question),
            // Such a script is rejected when it is loaded.
            ScriptAction::Unsolicited(_) => Ok(()),
        }
    }

    /// Waits for `ms` of the script's milliseconds.
    fn pause(&mut self, ms: u64) -> Result<(), ScriptedCodexStop> {
        let deadline = Instant::now().checked_add(self.runtime.pause_duration(ms));
        while !matches!(self.wait_for_event(deadline)?, CodexWaitOutcome::Timeout) {}
        Ok(())
    }

    pub(super) fn expand_placeholders(&self, text: &str) -> String {
        self.active_turn.as_ref().map_or_else(
            || text.to_owned(),
            |playing| playing.placeholders.expand(text),
        )
    }

    pub(super) fn turn_ids(&self) -> frames::ScriptedTurnIds {
        match &self.active_turn {
            Some(playing) => playing.turn_ids.clone(),
            None => frames::ScriptedTurnIds {
                thread: String::new(),
                turn: String::new(),
            },
        }
    }

    pub(super) fn next_item_id(&mut self, kind: &str) -> String {
        let Some(playing) = &mut self.active_turn else {
            return kind.to_owned();
        };
        playing.n_items += 1;
        format!("{kind}_{}_0", playing.n_items - 1)
    }

    fn cwd(&self) -> PathBuf {
        let thread = self.threads.get(&self.turn_ids().thread);
        thread.map_or_else(|| self.cwd.clone(), |thread| thread.cwd.clone())
    }

    /// Streams a speech as deltas of one item and returns the whole text.
    fn stream_deltas(
        &mut self,
        speech: &ScriptSpeech,
        method: &str,
        item: &str,
    ) -> Result<String, ScriptedCodexStop> {
        let text = self
            .expand_placeholders(&speech.text)
            .repeat(speech.repeat as usize);
        for delta in speech.split_into_deltas(&text) {
            self.pause(speech.pause_ms)?;
            self.runtime
                .send(&frames::item_delta(&self.turn_ids(), method, item, delta));
        }
        Ok(text)
    }

    fn send_text(&mut self, speech: &ScriptSpeech) -> Result<(), ScriptedCodexStop> {
        let id = self.next_item_id("msg");
        let mut item = frames::agent_message_item(&id);
        self.runtime
            .send(&frames::item_started(&self.turn_ids(), &item));
        item["text"] = json!(self.stream_deltas(speech, "item/agentMessage/delta", &id)?);
        item["completedAtMs"] = json!(frames::now_ms());
        self.runtime
            .send(&frames::item_completed(&self.turn_ids(), &item));
        if let Some(playing) = &mut self.active_turn {
            playing.last_message = Some(item);
        }
        Ok(())
    }

    fn send_thinking(&mut self, speech: &ScriptSpeech) -> Result<(), ScriptedCodexStop> {
        let id = self.next_item_id("rs");
        let place = self.turn_ids();
        let mut item = frames::reasoning_item(&id);
        self.runtime.send(&frames::item_started(&place, &item));
        let params = json!({
            "threadId": place.thread, "turnId": place.turn, "itemId": id, "summaryIndex": 0,
        });
        self.runtime.send(&frames::notification(
            "item/reasoning/summaryPartAdded",
            params,
        ));
        let text = self.stream_deltas(speech, "item/reasoning/summaryTextDelta", &id)?;
        item["summary"] = json!([text]);
        item["completedAtMs"] = json!(frames::now_ms());
        self.runtime.send(&frames::item_completed(&place, &item));
        Ok(())
    }

    /// Sends half a message whose item never completes, then the notice of a retry.
    fn send_cut_text(&mut self, speech: &ScriptSpeech) -> Result<(), ScriptedCodexStop> {
        let id = self.next_item_id("msg");
        self.runtime.send(&frames::item_started(
            &self.turn_ids(),
            &frames::agent_message_item(&id),
        ));
        self.stream_deltas(speech, "item/agentMessage/delta", &id)?;
        let details = "stream disconnected before completion: scripted";
        self.send_retry_notice("Reconnecting... 1/5", Value::Null, details);
        Ok(())
    }

    fn send_retry_notice(&mut self, message: &str, status: Value, details: &str) {
        let info = json!({"responseStreamDisconnected": {"httpStatusCode": status}});
        let place = self.turn_ids();
        let params = json!({
            "error": frames::error_object(message, info, Some(details)), "willRetry": true,
            "threadId": place.thread, "turnId": place.turn,
        });
        self.runtime.send(&frames::notification("error", params));
    }

    fn perform_command(&mut self, command: &ScriptCommand) -> Result<(), ScriptedCodexStop> {
        let line = self.expand_placeholders(&command.run);
        let id = self.next_item_id("call");
        let cwd = self.cwd();
        let mut item = frames::command_item(&id, &line, &cwd.to_string_lossy());
        let unasked = self.sandbox_type() != "readOnly" || is_read_only_command(&line);
        if command.ask == ScriptAskPolicy::Always || !unasked {
            self.send_waiting_status("waitingOnApproval");
            self.runtime
                .send(&frames::item_started(&self.turn_ids(), &item));
            let params =
                frames::command_approval_params(&self.turn_ids(), &item, command.reason.as_deref());
            let verdict =
                match self.request_approval("item/commandExecution/requestApproval", params) {
                    Err(ScriptedApprovalCancellation::ByClient) => {
                        self.end_item(item, "declined");
                        self.send_waiting_status("");
                        return Err(ScriptedCodexStop::Interrupted);
                    }
                    Err(ScriptedApprovalCancellation::ByTurnStop(stop)) => return Err(stop),
                    Ok(verdict) => verdict,
                };
            self.send_waiting_status("");
            if verdict != ScriptedApprovalDecision::Accept {
                self.end_item(item, verdict.item_status());
                return self.perform_actions(&command.if_denied);
            }
            self.run_command(&line, item, cwd)?;
        } else {
            item["source"] = json!("unifiedExecStartup");
            item["processId"] = json!((10_000 + self.n_requests).to_string());
            self.runtime
                .send(&frames::item_started(&self.turn_ids(), &item));
            self.run_command(&line, item, cwd)?;
        }
        self.perform_actions(&command.if_allowed)
    }

    /// Runs a command to its end; its item is already started.
    fn run_command(
        &mut self,
        line: &str,
        mut item: Value,
        cwd: PathBuf,
    ) -> Result<(), ScriptedCodexStop> {
        item["source"] = json!("unifiedExecStartup");
        let run = match self.runtime.start_command(line, &cwd) {
            Ok(run) => run,
            Err(error) => {
                item["aggregatedOutput"] = json!(error.to_string());
                item["exitCode"] = json!(-1);
                self.end_item(item, "failed");
                return Ok(());
            }
        };
        item["processId"] = json!(run.to_string());
        let terminal = ScriptedTerminal {
            turn_ids: self.turn_ids(),
            item,
            output: String::new(),
            started: Instant::now(),
        };
        self.terminals.insert(run, terminal);
        self.wait_for_command(run)
    }

    fn wait_for_command(&mut self, run: ScriptCommandId) -> Result<(), ScriptedCodexStop> {
        loop {
            if let CodexWaitOutcome::CommandEnded(ended) = self.wait_for_event(None)?
                && ended == run
            {
                return Ok(());
            }
        }
    }

    fn perform_write(&mut self, write: &ScriptFileWrite) -> Result<(), ScriptedCodexStop> {
        let path = self.cwd().join(self.expand_placeholders(&write.path));
        let change =
            ScriptedFileChange::from_content(path, self.expand_placeholders(&write.content));
        self.apply_patch(change, write.ask, [&write.if_allowed, &write.if_denied])
    }

    fn perform_edit(&mut self, edit: &ScriptFileEdit) -> Result<(), ScriptedCodexStop> {
        let path = self.cwd().join(self.expand_placeholders(&edit.path));
        let change = ScriptedFileChange::from_replacement(
            path,
            &self.expand_placeholders(&edit.find),
            &self.expand_placeholders(&edit.replace),
        );
        self.apply_patch(change, edit.ask, [&edit.if_allowed, &edit.if_denied])
    }

    /// Applies a patch, after asking if codex would ask. A patch that does not match the file produces no frames, as in
    /// codex, and counts as denied.
    fn apply_patch(
        &mut self,
        change: Result<ScriptedFileChange, ScriptedFileChangeError>,
        ask: ScriptAskPolicy,
        [allowed, denied]: [&[ScriptAction]; 2],
    ) -> Result<(), ScriptedCodexStop> {
        let change = match change {
            Ok(change) => change,
            Err(error) => {
                self.runtime
                    .write_stderr(&format!("ERROR apply_patch verification failed: {error}"));
                return self.perform_actions(denied);
            }
        };
        let id = self.next_item_id("call");
        let item = frames::file_change_item(&id, &change);
        if ask == ScriptAskPolicy::AsReal && self.may_write(&change.path) {
            self.runtime
                .send(&frames::item_started(&self.turn_ids(), &item));
        } else {
            self.send_waiting_status("waitingOnApproval");
            self.runtime
                .send(&frames::item_started(&self.turn_ids(), &item));
            let params = frames::patch_approval_params(&self.turn_ids(), &item);
            let verdict = match self.request_approval("item/fileChange/requestApproval", params) {
                Err(ScriptedApprovalCancellation::ByClient) => {
                    return Err(ScriptedCodexStop::Interrupted);
                }
                Err(ScriptedApprovalCancellation::ByTurnStop(stop)) => return Err(stop),
                Ok(verdict) => verdict,
            };
            self.send_waiting_status("");
            if verdict != ScriptedApprovalDecision::Accept {
                self.end_item(item, verdict.item_status());
                return self.perform_actions(denied);
            }
        }
        if let Err(error) = change.apply() {
            self.runtime.write_stderr(&format!("ERROR {error}"));
            self.end_item(item, "failed");
            return self.perform_actions(denied);
        }
        self.end_item(item, "completed");
        self.send_diff(&change);
        self.perform_actions(allowed)
    }

    fn send_diff(&mut self, change: &ScriptedFileChange) {
        let place = self.turn_ids();
        let Some(playing) = &mut self.active_turn else {
            return;
        };
        playing.diff.push_str(&frames::git_diff(change));
        let params = json!({"threadId": place.thread, "turnId": place.turn, "diff": playing.diff});
        self.runtime
            .send(&frames::notification("turn/diff/updated", params));
    }

    pub(super) fn end_item(&mut self, mut item: Value, status: &str) {
        item["status"] = json!(status);
        item["completedAtMs"] = json!(frames::now_ms());
        self.runtime
            .send(&frames::item_completed(&self.turn_ids(), &item));
    }

    fn sandbox_type(&self) -> String {
        let thread = self.threads.get(&self.turn_ids().thread);
        let name = thread.and_then(|thread| thread.sandbox["type"].as_str());
        name.unwrap_or("readOnly").to_owned()
    }

    /// Returns whether the sandbox would allow a patch of `path`.
    fn may_write(&self, path: &Path) -> bool {
        let Some(thread) = self.threads.get(&self.turn_ids().thread) else {
            return false;
        };
        match self.sandbox_type().as_str() {
            "dangerFullAccess" => true,
            "workspaceWrite" => {
                let roots = thread.sandbox["writableRoots"].as_array();
                let roots = roots.into_iter().flatten().filter_map(Value::as_str);
                let path = normalize_path(path);
                let guarded =
                    [".git", ".codex", ".agents", ".aws"].map(|name| thread.cwd.join(name));
                let inside =
                    path.starts_with(&thread.cwd) && !guarded.iter().any(|no| path.starts_with(no));
                inside || roots.into_iter().any(|root| path.starts_with(root))
            }
            _ => false,
        }
    }

    fn perform_failure(&mut self, failing: &ScriptFailure) -> Result<(), ScriptedCodexStop> {
        let status = match failing.kind {
            ScriptFailureKind::Unauthorized => json!(401),
            ScriptFailureKind::RateLimit | ScriptFailureKind::UsageLimit => json!(429),
            ScriptFailureKind::Server => json!(500),
            ScriptFailureKind::Connection => Value::Null,
        };
        for attempt in 1..=failing.retries {
            self.pause(failing.pause_ms)?;
            let message = format!("Reconnecting... {attempt}/{}", failing.retries);
            self.send_retry_notice(&message, status.clone(), &failure_message(failing.kind).0);
        }
        if let Some(seconds) = failing.resets_in {
            self.runtime
                .send(&frames::rate_limits_exhausted(seconds_from_now(seconds)));
        }
        match failing.outcome {
            ScriptFailureOutcome::Recovers => Ok(()),
            ScriptFailureOutcome::Fails => {
                let (message, info) = failure_message(failing.kind);
                Err(ScriptedCodexStop::Failed(frames::error_object(
                    &message, info, None,
                )))
            }
        }
    }

    fn perform_stall(&mut self, stall: &ScriptStall) -> Result<(), ScriptedCodexStop> {
        match stall.ms {
            Some(ms) => self.pause(ms),
            None => loop {
                self.wait_for_event(None)?;
            },
        }
    }

    fn perform_exit(&mut self, code: i32, stderr: Option<&str>) -> ScriptedCodexStop {
        if let Some(text) = stderr {
            self.runtime.write_stderr(text);
        }
        ScriptedCodexStop::Exit(code)
    }

    fn send_raw_frame(&mut self, frame: &Value) -> Result<(), ScriptedCodexStop> {
        let text = self.expand_placeholders(&frame.to_string());
        self.runtime.send_line(&text);
        Ok(())
    }

    fn send_malformed_line(&mut self, line: &str) -> Result<(), ScriptedCodexStop> {
        self.runtime.send_line(line);
        Ok(())
    }

    fn perform_usage(&mut self, last: (u64, u64)) -> Result<(), ScriptedCodexStop> {
        self.send_usage(last);
        Ok(())
    }

    /// Adds the tokens of one call and reports the totals.
    pub(super) fn send_usage(&mut self, last: (u64, u64)) {
        let place = self.turn_ids();
        if let Some(playing) = &mut self.active_turn {
            playing.usage_report = UsageReportState::Sent;
        }
        let Some(thread) = self.threads.get_mut(&place.thread) else {
            return;
        };
        let conversation = &mut thread.conversation;
        conversation.input_tokens += last.0;
        conversation.output_tokens += last.1;
        let total = (conversation.input_tokens, conversation.output_tokens);
        if let Err(error) = self.conversations.save(&place.thread, conversation) {
            self.runtime.write_stderr(&format!("ERROR {error}"));
        }
        self.runtime.send(&frames::token_usage(&place, total, last));
        self.runtime.send(&frames::rate_limits_unknown());
    }
}

/// Returns codex's message for a failure, and its kind.
fn failure_message(kind: ScriptFailureKind) -> (String, Value) {
    let (message, info) = match kind {
        ScriptFailureKind::Unauthorized => (
            "unexpected status 401 Unauthorized: scripted error 401",
            json!({"httpConnectionFailed": {"httpStatusCode": 401}}),
        ),
        ScriptFailureKind::RateLimit => (
            "exceeded retry limit, last status: 429 Too Many Requests",
            json!({"responseTooManyFailedAttempts": {"httpStatusCode": 429}}),
        ),
        ScriptFailureKind::UsageLimit => (
            "You\u{2019}ve hit your usage limit. Try again later.",
            json!("usageLimitExceeded"),
        ),
        ScriptFailureKind::Server => (
            "We're currently experiencing high demand, which may cause temporary errors.",
            json!("internalServerError"),
        ),
        ScriptFailureKind::Connection => (
            "Connection failed: error sending request",
            json!({"httpConnectionFailed": {"httpStatusCode": null}}),
        ),
    };
    (message.to_owned(), info)
}

/// Removes `.` and `..` from a path without accessing the disk.
fn normalize_path(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    plain
}
