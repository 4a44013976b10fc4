//! Performs tool calls as claude would: the call, the host's decision, the result.
//!
//! It knows the order of the frames around a call; their format is in `frames.rs`.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::frames::{ScriptedClaudeToolCall, ScriptedClaudeToolResult, new_uuid};
use super::hook_callback::ScriptedHookDecision;
use super::{ClaudeWaitOutcome, ScriptedClaude, ScriptedClaudeStop, ScriptedTurnPhase, StdinState};
use crate::scripted::mcp_client::{ScriptedToolCall, ScriptedToolOutcome, expand_strings};
use crate::scripted::runtime::{ScriptedFileChange, ScriptedFileChangeError, is_read_only_command};
use crate::scripted::script::{
    ScriptAskPolicy, ScriptCommand, ScriptFileEdit, ScriptFileWrite, ScriptQuestion, ScriptToolCall,
};

/// The answer to a permission request.
enum ScriptedPermissionDecision {
    /// The call runs with this input.
    Allow { input: Value },
    /// The call does not run; the model receives the message.
    Deny { message: String },
    /// The call does not run and the turn ends.
    DenyAndStop { message: String },
}

/// The result of a file change.
enum ScriptedFileChangeOutcome {
    Applied,
    NotApplied,
}

/// Whether the host is asked about a call.
enum ApprovalRequirement {
    Required,
    NotRequired,
}

impl ScriptedClaude {
    /// Streams a tool call and, if `ask` says so, waits for the host's decision.
    fn start_tool_call(
        &mut self,
        name: &str,
        input: Value,
        description: String,
        ask: ApprovalRequirement,
    ) -> Result<(ScriptedClaudeToolCall, ScriptedPermissionDecision), ScriptedClaudeStop> {
        let message = self.open_message();
        let mut tool = ScriptedClaudeToolCall {
            id: format!("toolu_{}", new_uuid().replace('-', "")),
            name: name.to_owned(),
            input,
            description,
        };
        let block = json!({"type": "tool_use", "id": tool.id, "name": name, "input": {}});
        let event = json!({"type": "content_block_start", "index": message.n_blocks, "content_block": block});
        self.send_stream_event(&message, event);
        let delta = json!({"type": "input_json_delta", "partial_json": tool.input.to_string()});
        let event =
            json!({"type": "content_block_delta", "index": message.n_blocks, "delta": delta});
        self.send_stream_event(&message, event);
        let block = json!({"type": "tool_use", "id": tool.id, "name": name, "input": tool.input});
        self.end_block(&message, &block);
        self.close_message("tool_use");
        let verdict = match (self.call_pre_tool_use_hook(&tool)?, ask) {
            (ScriptedHookDecision::Allow, _)
            | (ScriptedHookDecision::Defer, ApprovalRequirement::NotRequired) => {
                ScriptedPermissionDecision::Allow {
                    input: tool.input.clone(),
                }
            }
            (ScriptedHookDecision::Deny(message), _) => {
                ScriptedPermissionDecision::Deny { message }
            }
            (ScriptedHookDecision::Ask, _)
            | (ScriptedHookDecision::Defer, ApprovalRequirement::Required) => {
                self.request_permission(&tool)?
            }
        };
        match &verdict {
            ScriptedPermissionDecision::Allow { input } => tool.input = input.clone(),
            ScriptedPermissionDecision::Deny { message } => self.send_denial(&tool, message),
            ScriptedPermissionDecision::DenyAndStop { message } => {
                self.send_denial(&tool, message);
                self.set_phase(ScriptedTurnPhase::Idle);
                return Err(self.end_after_denial());
            }
        }
        Ok((tool, verdict))
    }

    fn request_permission(
        &mut self,
        tool: &ScriptedClaudeToolCall,
    ) -> Result<ScriptedPermissionDecision, ScriptedClaudeStop> {
        let request = new_uuid();
        let frame = self.frame_builder.can_use_tool(&request, tool);
        let answer = self.send_request(&frame, request, tool)?;
        Ok(match answer {
            Some(answer) => parse_permission_decision(&answer, &tool.input),
            None => ScriptedPermissionDecision::Deny {
                message: "Tool permission request failed: Error: Stream closed".to_owned(),
            },
        })
    }

    /// Sends a request about a call to the host and waits for its answer; `None` if no answer can come any more.
    pub(super) fn send_request(
        &mut self,
        frame: &Value,
        request: String,
        tool: &ScriptedClaudeToolCall,
    ) -> Result<Option<Value>, ScriptedClaudeStop> {
        self.runtime.send(frame);
        self.set_phase(ScriptedTurnPhase::AwaitingDecision {
            request: request.clone(),
            tool: tool.clone(),
        });
        let answer = loop {
            if self.input == StdinState::Closed {
                break None;
            }
            match self.wait_for_event(None)? {
                ClaudeWaitOutcome::Answer {
                    request: answered,
                    answer,
                } if answered == request => break Some(answer),
                ClaudeWaitOutcome::InputClosed => break None,
                ClaudeWaitOutcome::Timeout
                | ClaudeWaitOutcome::CommandOutput(..)
                | ClaudeWaitOutcome::CommandEnded(..)
                | ClaudeWaitOutcome::Answer { .. }
                | ClaudeWaitOutcome::Other => {}
            }
        };
        self.set_phase(ScriptedTurnPhase::Idle);
        Ok(answer)
    }

    pub(super) fn send_denial(&mut self, tool: &ScriptedClaudeToolCall, message: &str) {
        self.record_denial(tool);
        let result = ScriptedClaudeToolResult {
            content: message.to_owned(),
            is_error: Some(true),
            detail: json!(format!("Error: {message}")),
            meta: tool_result_meta(&[
                ("non_execution_kind", json!("permission-rule")),
                (
                    "permission_decision",
                    json!({"decision": "reject", "source": "user_reject"}),
                ),
            ]),
        };
        self.runtime
            .send(&self.frame_builder.tool_result(tool, &result));
    }

    pub(super) fn record_denial(&mut self, tool: &ScriptedClaudeToolCall) {
        if let Some(playing) = &mut self.active_turn {
            let denial =
                json!({"tool_name": tool.name, "tool_use_id": tool.id, "tool_input": tool.input});
            playing.denials.push(denial);
        }
    }

    pub(super) fn perform_command(
        &mut self,
        command: &ScriptCommand,
    ) -> Result<(), ScriptedClaudeStop> {
        let line = self.expand_placeholders(&command.run);
        let description = command.reason.clone().unwrap_or_else(|| line.clone());
        let input = json!({"command": line, "description": description});
        let ruled = self.flags.ask_tools.iter().any(|rule| rule == "Bash");
        let ask = if command.ask == ScriptAskPolicy::Always || ruled || !is_read_only_command(&line)
        {
            ApprovalRequirement::Required
        } else {
            ApprovalRequirement::NotRequired
        };
        let (tool, verdict) = self.start_tool_call("Bash", input, description, ask)?;
        match verdict {
            ScriptedPermissionDecision::Allow { .. } => {
                self.run_command(&tool)?;
                self.perform_actions(&command.if_allowed)
            }
            ScriptedPermissionDecision::Deny { .. }
            | ScriptedPermissionDecision::DenyAndStop { .. } => {
                self.perform_actions(&command.if_denied)
            }
        }
    }

    /// Runs a command to its end; an interrupt kills it and everything it started.
    fn run_command(&mut self, tool: &ScriptedClaudeToolCall) -> Result<(), ScriptedClaudeStop> {
        let line = tool.input["command"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let started = self
            .runtime
            .start_command(&line, &PathBuf::from(&self.frame_builder.cwd));
        let run = match started {
            Ok(run) => run,
            Err(error) => {
                self.send_command_result(tool, &error.to_string(), None);
                return Ok(());
            }
        };
        self.set_phase(ScriptedTurnPhase::RunningTool { tool: tool.clone() });
        let mut output = String::new();
        let code = loop {
            match self.wait_for_event(None) {
                Ok(ClaudeWaitOutcome::CommandOutput(from, text)) if from == run => {
                    output.push_str(&text)
                }
                Ok(ClaudeWaitOutcome::CommandEnded(ended, code)) if ended == run => break code,
                Ok(_) => {}
                Err(stop) => {
                    self.runtime.kill_command(run);
                    return Err(stop);
                }
            }
        };
        self.set_phase(ScriptedTurnPhase::Idle);
        self.send_command_result(tool, output.trim_end(), code);
        Ok(())
    }

    fn send_command_result(
        &mut self,
        tool: &ScriptedClaudeToolCall,
        output: &str,
        code: Option<i32>,
    ) {
        let result = if code == Some(0) {
            let silent = output.is_empty();
            let content = if silent {
                "(Bash completed with no output)"
            } else {
                output
            };
            ScriptedClaudeToolResult {
                content: content.to_owned(),
                is_error: Some(false),
                detail: json!({
                    "stdout": output, "stderr": "", "interrupted": false, "isImage": false,
                    "noOutputExpected": silent,
                }),
                meta: accepted_meta(),
            }
        } else {
            let content = format!("Exit code {}\n{output}", code.unwrap_or(137));
            let content = content.trim_end().to_owned();
            let detail = json!(format!("Error: {content}"));
            ScriptedClaudeToolResult {
                content,
                is_error: Some(true),
                detail,
                meta: accepted_meta(),
            }
        };
        self.runtime
            .send(&self.frame_builder.tool_result(tool, &result));
    }

    pub(super) fn perform_write(
        &mut self,
        write: &ScriptFileWrite,
    ) -> Result<(), ScriptedClaudeStop> {
        let path =
            PathBuf::from(&self.frame_builder.cwd).join(self.expand_placeholders(&write.path));
        let input = json!({"file_path": path, "content": self.expand_placeholders(&write.content)});
        let done = self.change_file("Write", input, write.ask, |input| {
            ScriptedFileChange::from_content(
                file_path_from_input(input, &path),
                string_from_input(input, "content"),
            )
        })?;
        self.perform_actions(if matches!(done, ScriptedFileChangeOutcome::Applied) {
            &write.if_allowed
        } else {
            &write.if_denied
        })
    }

    pub(super) fn perform_edit(&mut self, edit: &ScriptFileEdit) -> Result<(), ScriptedClaudeStop> {
        let path =
            PathBuf::from(&self.frame_builder.cwd).join(self.expand_placeholders(&edit.path));
        let input = json!({
            "file_path": path, "old_string": self.expand_placeholders(&edit.find),
            "new_string": self.expand_placeholders(&edit.replace), "replace_all": false,
        });
        let done = self.change_file("Edit", input, edit.ask, |input| {
            let [find, replace] =
                ["old_string", "new_string"].map(|key| string_from_input(input, key));
            ScriptedFileChange::from_replacement(
                file_path_from_input(input, &path),
                &find,
                &replace,
            )
        })?;
        self.perform_actions(if matches!(done, ScriptedFileChangeOutcome::Applied) {
            &edit.if_allowed
        } else {
            &edit.if_denied
        })
    }

    /// Changes a file, after asking if claude would ask.
    fn change_file(
        &mut self,
        name: &'static str,
        input: Value,
        ask: ScriptAskPolicy,
        work_out: impl Fn(&Value) -> Result<ScriptedFileChange, ScriptedFileChangeError>,
    ) -> Result<ScriptedFileChangeOutcome, ScriptedClaudeStop> {
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
        let (tool, verdict) = self.start_tool_call(name, input, described, ask)?;
        if !matches!(verdict, ScriptedPermissionDecision::Allow { .. }) {
            return Ok(ScriptedFileChangeOutcome::NotApplied);
        }
        let made = work_out(&tool.input).and_then(|change| change.apply().map(|()| change));
        let (result, done) = match made {
            Ok(change) => (
                file_change_result(&change),
                ScriptedFileChangeOutcome::Applied,
            ),
            Err(error) => {
                let content = format!("<tool_use_error>{error}</tool_use_error>");
                let detail = json!(format!("Error: {error}"));
                (
                    ScriptedClaudeToolResult {
                        content,
                        is_error: Some(true),
                        detail,
                        meta: accepted_meta(),
                    },
                    ScriptedFileChangeOutcome::NotApplied,
                )
            }
        };
        self.runtime
            .send(&self.frame_builder.tool_result(&tool, &result));
        Ok(done)
    }

    /// Calls a tool of the host; its server is started for this call.
    pub(super) fn call_tool(&mut self, used: &ScriptToolCall) -> Result<(), ScriptedClaudeStop> {
        let name = format!("mcp__agent_collab__{}", used.tool);
        let input = expand_strings(&used.input, &|text| self.expand_placeholders(text));
        let (tool, verdict) = self.start_tool_call(
            &name,
            input,
            used.tool.clone(),
            ApprovalRequirement::NotRequired,
        )?;
        if !matches!(verdict, ScriptedPermissionDecision::Allow { .. }) {
            return self.perform_actions(&used.if_failed);
        }
        let call = ScriptedToolCall {
            tool: used.tool.clone(),
            input: tool.input.clone(),
            thread: None,
        };
        self.set_phase(ScriptedTurnPhase::RunningTool { tool: tool.clone() });
        let outcome = ScriptedToolOutcome::parse(&self.run_tool_call(call)?);
        self.set_phase(ScriptedTurnPhase::Idle);
        let result = ScriptedClaudeToolResult {
            content: outcome.text.clone(),
            is_error: Some(outcome.is_error),
            detail: json!(outcome.text),
            meta: accepted_meta(),
        };
        self.runtime
            .send(&self.frame_builder.tool_result(&tool, &result));
        if let Some(playing) = &mut self.active_turn {
            playing.placeholders.set("answer", outcome.text);
        }
        self.perform_actions(if outcome.is_error {
            &used.if_failed
        } else {
            &used.if_done
        })
    }

    /// Returns the line that answers a call; empty if there is no answer.
    fn run_tool_call(&mut self, call: ScriptedToolCall) -> Result<String, ScriptedClaudeStop> {
        let started = self.flags.mcp_server.clone();
        let started = started.map(|server| server.through_client(&self.script.tool_client));
        let started = started.and_then(|server| self.runtime.start_tool_call(&server, call).ok());
        let Some(run) = started else {
            return Ok(String::new());
        };
        let mut line = String::new();
        loop {
            match self.wait_for_event(None) {
                Ok(ClaudeWaitOutcome::CommandOutput(from, text)) if from == run => line = text,
                Ok(ClaudeWaitOutcome::CommandEnded(ended, _)) if ended == run => return Ok(line),
                Ok(_) => {}
                Err(stop) => {
                    self.runtime.kill_command(run);
                    return Err(stop);
                }
            }
        }
    }

    pub(super) fn ask_question(
        &mut self,
        question: &ScriptQuestion,
    ) -> Result<(), ScriptedClaudeStop> {
        let text = self.expand_placeholders(&question.question);
        let options: Vec<Value> = question
            .options
            .iter()
            .map(|label| json!({"label": self.expand_placeholders(label), "description": ""}))
            .collect();
        let header = if question.header.is_empty() {
            "Question"
        } else {
            &question.header
        };
        let asked =
            json!({"question": text, "header": header, "options": options, "multiSelect": false});
        let input = json!({"questions": [asked]});
        let (tool, verdict) = self.start_tool_call(
            "AskUserQuestion",
            input,
            text.clone(),
            ApprovalRequirement::Required,
        )?;
        let answer = tool.input["answers"][&text].as_str().map(str::to_owned);
        let (ScriptedPermissionDecision::Allow { .. }, Some(answer)) = (verdict, answer) else {
            return self.perform_actions(&question.if_dismissed);
        };
        let result = ScriptedClaudeToolResult {
            content: format!(
                "Your questions have been answered: \"{text}\"=\"{answer}\". You can now continue with these answers in mind."
            ),
            is_error: None,
            detail: json!({"questions": tool.input["questions"], "answers": tool.input["answers"]}),
            meta: accepted_meta(),
        };
        self.runtime
            .send(&self.frame_builder.tool_result(&tool, &result));
        if let Some(playing) = &mut self.active_turn {
            playing.placeholders.set("answer", answer);
        }
        self.perform_actions(&question.if_answered)
    }
}

/// Parses the host's answer to `can_use_tool`.
fn parse_permission_decision(answer: &Value, asked: &Value) -> ScriptedPermissionDecision {
    let body = &answer["response"];
    let message = body["message"].as_str().map(str::to_owned);
    match (answer["subtype"].as_str(), body["behavior"].as_str()) {
        (Some("success"), Some("allow")) => {
            let input = body.get("updatedInput").filter(|input| input.is_object());
            ScriptedPermissionDecision::Allow {
                input: input.unwrap_or(asked).clone(),
            }
        }
        (Some("success"), Some("deny")) => {
            let message = message.unwrap_or_default();
            if body["interrupt"] == true {
                ScriptedPermissionDecision::DenyAndStop { message }
            } else {
                ScriptedPermissionDecision::Deny { message }
            }
        }
        _ => {
            let error = answer["error"].as_str().unwrap_or("malformed answer");
            ScriptedPermissionDecision::Deny {
                message: format!("Tool permission request failed: Error: {error}"),
            }
        }
    }
}

fn file_change_result(change: &ScriptedFileChange) -> ScriptedClaudeToolResult {
    let path = change.path.display();
    let (kind, content) = match change.before {
        None => ("create", format!("File created successfully at: {path}")),
        Some(_) => (
            "update",
            format!("The file {path} has been updated successfully."),
        ),
    };
    let detail = json!({
        "type": kind, "filePath": change.path, "content": change.after, "structuredPatch": [],
        "originalFile": change.before, "userModified": false,
    });
    ScriptedClaudeToolResult {
        content,
        is_error: None,
        detail,
        meta: accepted_meta(),
    }
}

fn accepted_meta() -> Map<String, Value> {
    tool_result_meta(&[(
        "permission_decision",
        json!({"decision": "accept", "source": "user_temporary"}),
    )])
}

/// Builds the part of a tool result that says who decided.
pub(super) fn tool_result_meta(entries: &[(&str, Value)]) -> Map<String, Value> {
    entries
        .iter()
        .map(|(key, value)| ((*key).to_owned(), value.clone()))
        .collect()
}

fn file_path_from_input(input: &Value, fallback: &Path) -> PathBuf {
    input["file_path"]
        .as_str()
        .map_or_else(|| fallback.to_owned(), PathBuf::from)
}

fn string_from_input(input: &Value, key: &str) -> String {
    input[key].as_str().unwrap_or_default().to_owned()
}
