//! The frames with which codex says what it does.
//!
//! It knows the order of the frames around an action; their format is in `frames.rs`.

use std::path::{Component, Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};

use super::{EXIT_CODE_READER_GONE, ScriptedCodex, ScriptedTerminal, UsageReportState, frames};
use crate::scripted::conversation_store::ScriptPlaceholders;
use crate::scripted::mcp_client::{ScriptedToolCall, ScriptedToolOutcome, ToolServerCommand};
use crate::scripted::runtime::{
    ScriptRuntime, ScriptedFileChange, StdoutState, is_read_only_command,
};
use crate::scripted::script::{
    ScriptAction, ScriptAskPolicy, ScriptCommand, ScriptFailure, ScriptFailureKind, ScriptQuestion,
    ScriptUsage,
};
use crate::scripted::script_actor::{
    ScriptedFileText, ScriptedProtocol, ScriptedTurnEvent, ScriptedTurnFailure, ScriptedTurnStop,
    SpeechKind,
};

/// An item whose text is being streamed.
pub struct ScriptedSpeechItem {
    item: Value,
    kind: SpeechKind,
}

impl ScriptedProtocol for ScriptedCodex {
    type Speech = ScriptedSpeechItem;
    /// The item of the call.
    type Call = Value;

    fn runtime(&mut self) -> &mut ScriptRuntime {
        &mut self.runtime
    }

    fn placeholders(&mut self) -> Option<&mut ScriptPlaceholders> {
        let playing = self.active_turn.as_mut();
        playing.map(|playing| &mut playing.placeholders)
    }

    fn cwd(&self) -> PathBuf {
        let thread = self.threads.get(&self.turn_ids().thread);
        thread.map_or_else(|| self.cwd.clone(), |thread| thread.cwd.clone())
    }

    fn wait_for_event(
        &mut self,
        deadline: Option<Instant>,
    ) -> Result<ScriptedTurnEvent, ScriptedTurnStop> {
        if self.runtime.stdout_state() == StdoutState::Closed {
            return Err(ScriptedTurnStop::Exit(EXIT_CODE_READER_GONE));
        }
        match self.runtime.wait_for_event(deadline) {
            Some(heard) => self.on_event(heard),
            None => Ok(ScriptedTurnEvent::Timeout),
        }
    }

    fn open_speech(&mut self, kind: SpeechKind) -> ScriptedSpeechItem {
        let item = match kind {
            SpeechKind::Message => frames::agent_message_item(&self.next_item_id("msg")),
            SpeechKind::Thinking => frames::reasoning_item(&self.next_item_id("rs")),
        };
        self.start_item(&item);
        if kind == SpeechKind::Thinking {
            let place = self.turn_ids();
            let params = json!({
                "threadId": place.thread, "turnId": place.turn, "itemId": item["id"], "summaryIndex": 0,
            });
            self.runtime.send(&frames::notification(
                "item/reasoning/summaryPartAdded",
                params,
            ));
        }
        ScriptedSpeechItem { item, kind }
    }

    fn send_delta(&mut self, speech: &ScriptedSpeechItem, _spoken: &str, delta: &str) {
        let method = match speech.kind {
            SpeechKind::Message => "item/agentMessage/delta",
            SpeechKind::Thinking => "item/reasoning/summaryTextDelta",
        };
        let id = speech.item["id"].as_str().unwrap_or_default();
        let frame = frames::item_delta(&self.turn_ids(), method, id, delta);
        self.runtime.send(&frame);
    }

    fn close_speech(&mut self, speech: ScriptedSpeechItem, text: String) {
        let ScriptedSpeechItem { mut item, kind } = speech;
        match kind {
            SpeechKind::Message => item["text"] = json!(text),
            SpeechKind::Thinking => item["summary"] = json!([text]),
        }
        item["completedAtMs"] = json!(frames::now_ms());
        self.runtime
            .send(&frames::item_completed(&self.turn_ids(), &item));
        if let (SpeechKind::Message, Some(playing)) = (kind, &mut self.active_turn) {
            playing.last_message = Some(item);
        }
    }

    /// The item of a withdrawn text never completes.
    fn withdraw_speech(&mut self, _speech: ScriptedSpeechItem) {
        let details = "stream disconnected before completion: scripted";
        self.send_retry_notice("Reconnecting... 1/5", Value::Null, details);
    }

    fn announce_command(
        &mut self,
        line: String,
        command: &ScriptCommand,
    ) -> Result<Option<Value>, ScriptedTurnStop> {
        let id = self.next_item_id("call");
        let mut item = frames::command_item(&id, &line, &self.cwd().to_string_lossy());
        let unasked = self.sandbox_type() != "readOnly" || is_read_only_command(&line);
        if unasked && command.ask == ScriptAskPolicy::AsReal {
            item["source"] = json!("unifiedExecStartup");
            item["processId"] = json!((10_000 + self.n_requests).to_string());
            self.start_item(&item);
            return Ok(Some(item));
        }
        let params =
            frames::command_approval_params(&self.turn_ids(), &item, command.reason.as_deref());
        self.request_approval(item, "item/commandExecution/requestApproval", params)
    }

    /// A command that a stop leaves behind continues to run in its terminal.
    fn run_command(&mut self, mut item: Value) -> Result<(), ScriptedTurnStop> {
        item["source"] = json!("unifiedExecStartup");
        let line = item["commandActions"][0]["command"].as_str();
        let line = line.unwrap_or_default().to_owned();
        let cwd = self.cwd();
        let run = match self.runtime.start_command(&line, &cwd) {
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
        while self.terminals.contains_key(&run) {
            self.wait_for_event(None)?;
        }
        Ok(())
    }

    fn read_file(&mut self, path: PathBuf) -> Result<(), ScriptedTurnStop> {
        let name = path.strip_prefix(self.cwd()).unwrap_or(&path);
        let command = ScriptCommand {
            run: format!("cat {}", name.display()),
            reason: None,
            ask: ScriptAskPolicy::AsReal,
            if_allowed: Vec::new(),
            if_denied: Vec::new(),
        };
        match self.announce_command(command.run.clone(), &command)? {
            Some(call) => self.run_command(call),
            None => Ok(()),
        }
    }

    /// A patch that does not match the file produces no frames, as in codex.
    fn change_file(
        &mut self,
        path: PathBuf,
        text: ScriptedFileText,
        ask: ScriptAskPolicy,
    ) -> Result<bool, ScriptedTurnStop> {
        let change = match text.prepare_change(path) {
            Ok(change) => change,
            Err(error) => {
                self.runtime
                    .write_stderr(&format!("ERROR apply_patch verification failed: {error}"));
                return Ok(false);
            }
        };
        let id = self.next_item_id("call");
        let item = frames::file_change_item(&id, &change);
        let item = if ask == ScriptAskPolicy::AsReal && self.may_write(&change.path) {
            self.start_item(&item);
            item
        } else {
            let params = frames::patch_approval_params(&self.turn_ids(), &item);
            match self.request_approval(item, "item/fileChange/requestApproval", params)? {
                Some(item) => item,
                None => return Ok(false),
            }
        };
        if let Err(error) = change.apply() {
            self.runtime.write_stderr(&format!("ERROR {error}"));
            self.end_item(item, "failed");
            return Ok(false);
        }
        self.end_item(item, "completed");
        self.send_diff(&change);
        Ok(true)
    }

    /// Codex asks no approval for these calls, because the host registers its server as approved.
    fn announce_tool(
        &mut self,
        tool: &str,
        input: Value,
    ) -> Result<Option<(Value, ScriptedToolCall)>, ScriptedTurnStop> {
        let id = self.next_item_id("call");
        let item = frames::tool_call_item(&id, tool, &input);
        self.start_item(&item);
        let call = ScriptedToolCall {
            tool: tool.to_owned(),
            input,
            thread: Some(self.turn_ids().thread),
        };
        Ok(Some((item, call)))
    }

    fn tool_server(&self) -> Option<ToolServerCommand> {
        let thread = self.threads.get(&self.turn_ids().thread)?;
        let server = thread.mcp_server.clone()?;
        Some(server.through_client(&self.script.tool_client))
    }

    fn end_tool(&mut self, mut item: Value, outcome: &ScriptedToolOutcome) {
        if outcome.result.is_null() {
            item["error"] = json!({ "message": outcome.text });
        } else {
            item["result"] = outcome.result.clone();
        }
        let status = if outcome.is_error {
            "failed"
        } else {
            "completed"
        };
        self.end_item(item, status);
    }

    fn ask_user(&mut self, question: &ScriptQuestion) -> Result<Option<String>, ScriptedTurnStop> {
        self.request_user_input(question)
    }

    fn send_retry(&mut self, failing: &ScriptFailure, attempt: u32) {
        let status = match failing.kind {
            ScriptFailureKind::Unauthorized => json!(401),
            ScriptFailureKind::RateLimit | ScriptFailureKind::UsageLimit => json!(429),
            ScriptFailureKind::Server => json!(500),
            ScriptFailureKind::Connection => Value::Null,
        };
        let message = format!("Reconnecting... {attempt}/{}", failing.retries);
        self.send_retry_notice(&message, status, failure_message(failing.kind).0);
    }

    fn send_limit_reset(&mut self, resets_at: i64) {
        self.runtime.send(&frames::rate_limits_exhausted(resets_at));
    }

    fn add_usage(&mut self, tokens: ScriptUsage) {
        self.send_usage((tokens.input, tokens.output));
    }

    /// Such a script is rejected when it is loaded.
    fn queue_unsolicited_turn(&mut self, _actions: &[ScriptAction]) {}
}

impl ScriptedCodex {
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

    pub(super) fn start_item(&mut self, item: &Value) {
        self.runtime
            .send(&frames::item_started(&self.turn_ids(), item));
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

/// Builds the error of a failed turn.
pub(super) fn failure_error(failure: ScriptedTurnFailure) -> Value {
    match failure {
        ScriptedTurnFailure::NoTurn(text) => frames::error_object(&text, json!("other"), None),
        ScriptedTurnFailure::Service(kind) => {
            let (message, info) = failure_message(kind);
            frames::error_object(message, info, None)
        }
    }
}

/// Returns codex's message for a failure, and its kind.
fn failure_message(kind: ScriptFailureKind) -> (&'static str, Value) {
    match kind {
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
    }
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
