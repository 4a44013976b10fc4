//! The frames around a tool call of claude: the call, the host's decision, the result.
//!
//! It knows the order of the frames around a call; their format is in `frames.rs`.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::frames::{ScriptedClaudeToolCall, ScriptedClaudeToolResult, new_uuid};
use super::hook_callback::ScriptedHookDecision;
use super::{ScriptedClaude, ScriptedTurnPhase, StdinState};
use crate::scripted::runtime::ScriptedFileChange;
use crate::scripted::script_actor::{ScriptedFileText, ScriptedTurnStop, wait_for_answer};

/// The answer to a permission request.
enum ScriptedPermissionDecision {
    /// The call runs with this input.
    Allow { input: Value },
    /// The call does not run; the model receives the message.
    Deny { message: String },
    /// The call does not run and the turn ends.
    DenyAndStop { message: String },
}

/// Whether the host is asked about a call.
pub(super) enum ApprovalRequirement {
    Required,
    NotRequired,
}

impl ScriptedClaude {
    /// Streams a tool call and, if `ask` says so, waits for the host's decision; `None` if the call is denied.
    pub(super) fn start_tool_call(
        &mut self,
        name: &str,
        input: Value,
        description: String,
        ask: ApprovalRequirement,
    ) -> Result<Option<ScriptedClaudeToolCall>, ScriptedTurnStop> {
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
        self.send_block_delta(&message, &delta);
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
        match verdict {
            ScriptedPermissionDecision::Allow { input } => {
                tool.input = input;
                Ok(Some(tool))
            }
            ScriptedPermissionDecision::Deny { message } => {
                self.send_denial(&tool, &message);
                Ok(None)
            }
            ScriptedPermissionDecision::DenyAndStop { message } => {
                self.send_denial(&tool, &message);
                self.set_phase(ScriptedTurnPhase::Idle);
                Err(self.end_after_denial())
            }
        }
    }

    fn request_permission(
        &mut self,
        tool: &ScriptedClaudeToolCall,
    ) -> Result<ScriptedPermissionDecision, ScriptedTurnStop> {
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
    ) -> Result<Option<Value>, ScriptedTurnStop> {
        self.runtime.send(frame);
        self.set_phase(ScriptedTurnPhase::AwaitingDecision {
            request: request.clone(),
            tool: tool.clone(),
        });
        let answer = match self.input {
            StdinState::Closed => None,
            StdinState::Open => wait_for_answer(self, &request)?,
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
        self.send(|frames| frames.tool_result(tool, &result));
    }

    pub(super) fn record_denial(&mut self, tool: &ScriptedClaudeToolCall) {
        if let Some(playing) = &mut self.active_turn {
            let denial =
                json!({"tool_name": tool.name, "tool_use_id": tool.id, "tool_input": tool.input});
            playing.denials.push(denial);
        }
    }

    pub(super) fn send_command_result(
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
        self.send(|frames| frames.tool_result(tool, &result));
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

pub(super) fn file_change_result(change: &ScriptedFileChange) -> ScriptedClaudeToolResult {
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

pub(super) fn accepted_meta() -> Map<String, Value> {
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

pub(super) fn file_path_from_input(input: &Value, fallback: &Path) -> PathBuf {
    input["file_path"]
        .as_str()
        .map_or_else(|| fallback.to_owned(), PathBuf::from)
}

pub(super) fn text_from_input(name: &str, input: &Value) -> ScriptedFileText {
    let text = |key: &str| input[key].as_str().unwrap_or_default().to_owned();
    if name == "Write" {
        ScriptedFileText::Whole(text("content"))
    } else {
        ScriptedFileText::Replacement {
            find: text("old_string"),
            replace: text("new_string"),
        }
    }
}
