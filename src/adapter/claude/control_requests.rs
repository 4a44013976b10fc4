//! The requests that `claude` sends to the host, and the lines that answer them.
//!
//! Answers allow or deny one call and never add a rule to the CLI. The engine decides.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::stream_json::{
    AskUserQuestionInput, CanUseToolRequest, ClaudeHookInput, ClaudeQuestionOption,
    ControlRequestFrame, HookCallbackRequest,
};
use super::tool_inputs::{self, QUESTION_TOOL};
use crate::adapter::ApprovalRequest;
use crate::adapter::DecisionWait;
use crate::adapter::{AdapterEvent, CallDecision};
use crate::domain::ids::RequestId;
use crate::domain::question::{AgentQuestion, AnswerOption, AnswerSelectMode};
use crate::permission::loop_detector;

/// How long claude waits for the hook, in seconds. The hook is answered at once; the user is asked separately.
const HOOK_TIMEOUT_SECONDS: u32 = 60;

/// The requests that wait for an answer.
#[derive(Debug, Default)]
pub struct PendingControlRequests {
    open: BTreeMap<String, PendingControlRequest>,
    /// Calls of this turn that the hook let pass, by id; a rule of ours can make claude ask about some of them again.
    passed_by_hook: BTreeMap<String, ToolInvocation>,
}

/// A call as it was made: the tool and its input.
type ToolInvocation = (String, Value);

/// One request that waits for an answer.
#[derive(Debug)]
pub struct PendingControlRequest {
    pub item: Option<String>,
    /// The kind of answer that it needs.
    pub kind: ControlRequestKind,
    invocation: ToolInvocation,
}

/// The kind of answer that a request needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ControlRequestKind {
    /// The user's answer, however late.
    PermissionPrompt,
    /// The hook's answer, at once.
    PreToolUseHook,
}

/// The result of handling a request.
#[derive(Debug)]
pub enum ControlRequestOutcome {
    Pending(AdapterEvent),
    /// No decision is needed here; this line answers it.
    Answered(String),
    /// Its kind is unknown to this program.
    Unknown(String),
    /// It lacks required fields.
    Malformed(String),
}

impl PendingControlRequests {
    /// Registers a request, or answers it at once.
    pub fn on_control_request(
        &mut self,
        request: ControlRequestFrame,
        cwd: &Path,
    ) -> ControlRequestOutcome {
        let subtype = request.request.get("subtype").and_then(Value::as_str);
        match subtype.map(str::to_owned).as_deref() {
            Some("can_use_tool") => self.on_can_use_tool(request, cwd),
            Some("hook_callback") if is_pre_tool_use(&request.request) => {
                self.on_hook_callback(request, cwd)
            }
            Some(other) => ControlRequestOutcome::Unknown(format!("control_request/{other}")),
            None => {
                ControlRequestOutcome::Malformed("control_request: it has no subtype".to_owned())
            }
        }
    }

    fn on_can_use_tool(
        &mut self,
        request: ControlRequestFrame,
        cwd: &Path,
    ) -> ControlRequestOutcome {
        let call: CanUseToolRequest = match serde_json::from_value(request.request) {
            Ok(call) => call,
            Err(error) => {
                return ControlRequestOutcome::Malformed(format!("can_use_tool: {error}"));
            }
        };
        let made = (call.tool_name.clone(), call.input.clone());
        let passed = call.tool_use_id.as_ref();
        let passed = passed.and_then(|item| self.passed_by_hook.remove(item));
        if passed.is_some_and(|passed| passed == made) {
            return ControlRequestOutcome::Answered(allow_response(&request.request_id, &made.1));
        }
        let id = RequestId::new(request.request_id.clone());
        let event = if call.tool_name == QUESTION_TOOL {
            question_event(id, &call.input)
        } else {
            approval_event(id, &call, cwd)
        };
        let Some(event) = event else {
            let problem = format!(
                "can_use_tool: the input of {} lacks what it needs",
                call.tool_name
            );
            return ControlRequestOutcome::Malformed(problem);
        };
        let ask = PendingControlRequest {
            item: call.tool_use_id,
            kind: ControlRequestKind::PermissionPrompt,
            invocation: made,
        };
        self.open.insert(request.request_id, ask);
        ControlRequestOutcome::Pending(event)
    }

    fn on_hook_callback(
        &mut self,
        request: ControlRequestFrame,
        cwd: &Path,
    ) -> ControlRequestOutcome {
        let hooked: HookCallbackRequest = match serde_json::from_value(request.request) {
            Ok(hooked) => hooked,
            Err(error) => {
                return ControlRequestOutcome::Malformed(format!("hook_callback: {error}"));
            }
        };
        let ClaudeHookInput {
            tool_name,
            tool_input,
            cwd: told,
            agent_id,
        } = hooked.input;
        let cwd = told.as_deref().unwrap_or(cwd);
        if tool_name == QUESTION_TOOL {
            return ControlRequestOutcome::Answered(success_response(
                &request.request_id,
                &json!({}),
            ));
        }
        let Some(call) = tool_inputs::parse_call(&tool_name, &tool_input, cwd) else {
            let problem = format!("hook_callback: the input of {tool_name} lacks what it needs");
            return ControlRequestOutcome::Malformed(problem);
        };
        let event = AdapterEvent::ApprovalRequested(Box::new(ApprovalRequest {
            request: RequestId::new(request.request_id.clone()),
            item: hooked.tool_use_id.clone(),
            call,
            sub_agent: agent_id,
            changes: tool_inputs::requested_changes(&tool_name, &tool_input),
            fingerprint: Some(loop_detector::call_fingerprint(&tool_name, &tool_input)),
            reason: None,
            wait: DecisionWait::ImmediateOnly,
        }));
        let ask = PendingControlRequest {
            item: hooked.tool_use_id,
            kind: ControlRequestKind::PreToolUseHook,
            invocation: (tool_name, tool_input),
        };
        self.open.insert(request.request_id, ask);
        ControlRequestOutcome::Pending(event)
    }

    /// Removes a request; `None` if it no longer waits.
    pub fn remove(&mut self, request: &str) -> Option<PendingControlRequest> {
        self.open.remove(request)
    }

    /// Records that the hook lets a call pass.
    pub fn mark_passed_by_hook(&mut self, ask: &PendingControlRequest) {
        if let (ControlRequestKind::PreToolUseHook, Some(item)) = (ask.kind, &ask.item) {
            self.passed_by_hook
                .insert(item.clone(), ask.invocation.clone());
        }
    }

    /// Removes all requests, because the CLI no longer waits for answers.
    pub fn withdraw_all(&mut self) -> Vec<AdapterEvent> {
        self.passed_by_hook.clear();
        let open = std::mem::take(&mut self.open);
        let withdrawn = |request: String| AdapterEvent::RequestWithdrawn {
            request: RequestId::new(request),
        };
        open.into_keys().map(withdrawn).collect()
    }
}

fn is_pre_tool_use(request: &Value) -> bool {
    request["input"]["hook_event_name"] == "PreToolUse"
}

fn approval_event(
    request: RequestId,
    call: &CanUseToolRequest,
    cwd: &Path,
) -> Option<AdapterEvent> {
    Some(AdapterEvent::ApprovalRequested(Box::new(ApprovalRequest {
        request,
        item: call.tool_use_id.clone(),
        call: tool_inputs::parse_call(&call.tool_name, &call.input, cwd)?,
        reason: approval_reason(call),
        sub_agent: call.agent_id.clone(),
        changes: tool_inputs::requested_changes(&call.tool_name, &call.input),
        fingerprint: Some(loop_detector::call_fingerprint(
            &call.tool_name,
            &call.input,
        )),
        wait: DecisionWait::UntilUserDecides,
    })))
}

/// Returns why the agent or its CLI asks; the hook's instruction to ask does not count as a reason.
fn approval_reason(call: &CanUseToolRequest) -> Option<String> {
    let clis = match call.decision_reason_type.as_deref() {
        Some("hook") => None,
        Some(_) | None => call.decision_reason.clone(),
    };
    // For other tools the CLI itself describes the call, and that description is shown anyway.
    let agents = call
        .description
        .clone()
        .filter(|_| call.tool_name == "Bash");
    clis.or(agents)
}

fn question_event(request: RequestId, input: &Value) -> Option<AdapterEvent> {
    let asked: AskUserQuestionInput = serde_json::from_value(input.clone()).ok()?;
    let questions = asked.questions.into_iter().map(|question| AgentQuestion {
        text: question.question,
        header: question.header,
        options: question
            .options
            .into_iter()
            .flatten()
            .map(question_option)
            .collect(),
        picks: match question.multi_select {
            Some(true) => AnswerSelectMode::Several,
            Some(false) | None => AnswerSelectMode::One,
        },
    });
    Some(AdapterEvent::QuestionAsked {
        request,
        questions: questions.collect(),
    })
}

fn question_option(choice: ClaudeQuestionOption) -> AnswerOption {
    AnswerOption {
        label: choice.label,
        description: choice.description,
    }
}

/// Builds the line that answers a call.
pub fn decision_response(
    request: &str,
    ask: &PendingControlRequest,
    decision: &CallDecision,
) -> String {
    if ask.kind == ControlRequestKind::PreToolUseHook {
        return match decision {
            CallDecision::Allow => hook_response(request, "allow", "allowed"),
            CallDecision::Deny { reason } => hook_response(request, "deny", reason),
            CallDecision::DenyAndStop => {
                hook_response(request, "deny", "The user stopped the turn.")
            }
        };
    }
    let body = match decision {
        CallDecision::Allow => return allow_response(request, &ask.invocation.1),
        CallDecision::Deny { reason } => json!({"behavior": "deny", "message": reason}),
        CallDecision::DenyAndStop => json!({
            "behavior": "deny",
            "message": "The user declined this and stopped the turn.",
            "interrupt": true,
        }),
    };
    success_response(request, &body)
}

fn allow_response(request: &str, input: &Value) -> String {
    success_response(
        request,
        &json!({"behavior": "allow", "updatedInput": input}),
    )
}

/// Builds the line that makes the CLI ask the user before a call.
pub fn ask_user_response(request: &str) -> String {
    hook_response(request, "ask", "the user is asked")
}

fn hook_response(request: &str, decision: &str, reason: &str) -> String {
    let told = json!({
        "hookEventName": "PreToolUse",
        "permissionDecision": decision,
        "permissionDecisionReason": reason,
    });
    success_response(request, &json!({ "hookSpecificOutput": told }))
}

/// Builds the handshake: claude must ask before each call of any tool, and block the call if it gets no answer.
pub fn initialize_request(request: &str) -> String {
    let hook = json!({"hookCallbackIds": ["before"], "timeout": HOOK_TIMEOUT_SECONDS, "onFailure": "block"});
    to_json_line(&json!({
        "type": "control_request",
        "request_id": request,
        "request": {"subtype": "initialize", "hooks": {"PreToolUse": [hook]}},
    }))
}

/// Builds the line that answers questions, or dismisses them.
pub fn answers_response(
    request: &str,
    ask: &PendingControlRequest,
    answers: Option<&BTreeMap<String, String>>,
) -> String {
    let (Some(answers), Some(input)) = (answers, ask.invocation.1.as_object()) else {
        let message =
            "The user did not answer. Go on with what you know, and say what you assumed.";
        return success_response(request, &json!({"behavior": "deny", "message": message}));
    };
    let mut input = input.clone();
    input.insert("answers".to_owned(), json!(answers));
    success_response(
        request,
        &json!({"behavior": "allow", "updatedInput": input}),
    )
}

fn success_response(request: &str, body: &Value) -> String {
    let response = json!({"subtype": "success", "request_id": request, "response": body});
    to_json_line(&json!({"type": "control_response", "response": response}))
}

/// Builds the error answer to a request that cannot be served; the CLI treats it as a denial.
pub fn error_response(request: &str, problem: &str) -> String {
    let response = json!({"subtype": "error", "request_id": request, "error": problem});
    to_json_line(&json!({"type": "control_response", "response": response}))
}

/// Builds the line of a request from the host to the CLI.
pub fn control_request(request: &str, subtype: &str) -> String {
    to_json_line(
        &json!({"type": "control_request", "request_id": request, "request": {"subtype": subtype}}),
    )
}

/// Builds the line that carries a prompt; `client_composed` keeps `/` and `@` in it plain text.
pub fn prompt_message(uuid: &str, text: &str) -> String {
    to_json_line(&json!({
        "type": "user",
        "message": {"role": "user", "content": text},
        "parent_tool_use_id": null,
        "session_id": "",
        "uuid": uuid,
        "client_composed": true,
    }))
}

fn to_json_line(frame: &Value) -> String {
    format!("{frame}\n")
}
