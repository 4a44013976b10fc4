//! What `claude` asks the host, and the lines that answer it.
//!
//! Refuses to decide anything. Answers allow or deny one call and never add a rule to the CLI.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::tools;
use super::wire::{CanUseTool, Choice, HookCallback, HookInput, Questions, Request};
use crate::adapter::{AdapterEvent, Decision};
use crate::domain::ids::RequestId;
use crate::domain::question::{AgentQuestion, Offered, Picks};
use crate::permission::repetition;

/// How long claude waits for the hook, in seconds. It is answered at once; a person is asked besides.
const HOOK_SECONDS: u32 = 60;

/// The requests that wait for an answer.
#[derive(Debug, Default)]
pub struct Asks {
    open: BTreeMap<String, Ask>,
    /// Calls of this turn that the hook let pass, by their ids: a rule of ours has claude ask about some all the same.
    passed: BTreeMap<String, Made>,
}

/// A call as it was made: the tool and its input.
type Made = (String, Value);

/// One request that waits.
#[derive(Debug)]
pub struct Ask {
    /// The tool call.
    pub item: Option<String>,
    /// Whose answer it takes.
    pub kind: Kind,
    made: Made,
}

/// Which answer a request takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A person's, however late.
    Question,
    /// The hook's, at once.
    Hook,
}

/// What a request came to.
#[derive(Debug)]
pub enum Asked {
    /// It waits for an answer.
    Waits(AdapterEvent),
    /// Nobody needs to decide about it here, and this line answers it.
    Answered(String),
    /// It is of a kind that this program does not know.
    Unknown(String),
    /// It lacks what it needs.
    Malformed(String),
}

impl Asks {
    /// Takes a request in.
    pub fn take(&mut self, request: Request, cwd: &Path) -> Asked {
        let subtype = request.request.get("subtype").and_then(Value::as_str);
        match subtype.map(str::to_owned).as_deref() {
            Some("can_use_tool") => self.take_call(request, cwd),
            Some("hook_callback") if is_before_call(&request.request) => {
                self.take_hooked(request, cwd)
            }
            Some(other) => Asked::Unknown(format!("control_request/{other}")),
            None => Asked::Malformed("control_request: it has no subtype".to_owned()),
        }
    }

    fn take_call(&mut self, request: Request, cwd: &Path) -> Asked {
        let call: CanUseTool = match serde_json::from_value(request.request) {
            Ok(call) => call,
            Err(error) => return Asked::Malformed(format!("can_use_tool: {error}")),
        };
        let made = (call.tool_name.clone(), call.input.clone());
        let passed = call.tool_use_id.as_ref();
        let passed = passed.and_then(|item| self.passed.remove(item));
        if passed.is_some_and(|passed| passed == made) {
            return Asked::Answered(allow(&request.request_id, &made.1));
        }
        let id = RequestId::new(request.request_id.clone());
        let event = if call.tool_name == "AskUserQuestion" {
            questioned(id, &call.input)
        } else {
            asked(id, &call, cwd)
        };
        let Some(event) = event else {
            let problem = format!(
                "can_use_tool: the input of {} lacks what it needs",
                call.tool_name
            );
            return Asked::Malformed(problem);
        };
        let ask = Ask {
            item: call.tool_use_id,
            kind: Kind::Question,
            made,
        };
        self.open.insert(request.request_id, ask);
        Asked::Waits(event)
    }

    fn take_hooked(&mut self, request: Request, cwd: &Path) -> Asked {
        let hooked: HookCallback = match serde_json::from_value(request.request) {
            Ok(hooked) => hooked,
            Err(error) => return Asked::Malformed(format!("hook_callback: {error}")),
        };
        let HookInput {
            tool_name,
            tool_input,
            cwd: told,
            agent_id,
        } = hooked.input;
        let cwd = told.as_deref().unwrap_or(cwd);
        if tool_name == "AskUserQuestion" {
            return Asked::Answered(success(&request.request_id, &json!({})));
        }
        let Some(call) = tools::call(&tool_name, &tool_input, cwd) else {
            let problem = format!("hook_callback: the input of {tool_name} lacks what it needs");
            return Asked::Malformed(problem);
        };
        let event = AdapterEvent::Weighed {
            request: RequestId::new(request.request_id.clone()),
            item: hooked.tool_use_id.clone(),
            call,
            origin: agent_id,
            changes: tools::changes(&tool_name, &tool_input),
            mark: Some(repetition::mark(&tool_name, &tool_input)),
        };
        let ask = Ask {
            item: hooked.tool_use_id,
            kind: Kind::Hook,
            made: (tool_name, tool_input),
        };
        self.open.insert(request.request_id, ask);
        Asked::Waits(event)
    }

    /// Takes a request out; `None` when it no longer waits.
    pub fn remove(&mut self, request: &str) -> Option<Ask> {
        self.open.remove(request)
    }

    /// Notes that the hook lets a call pass.
    pub fn pass(&mut self, ask: &Ask) {
        if let (Kind::Hook, Some(item)) = (ask.kind, &ask.item) {
            self.passed.insert(item.clone(), ask.made.clone());
        }
    }

    /// Takes all requests out, since nobody waits any longer.
    pub fn withdraw_all(&mut self) -> Vec<AdapterEvent> {
        self.passed.clear();
        let open = std::mem::take(&mut self.open);
        let withdrawn = |request: String| AdapterEvent::RequestWithdrawn {
            request: RequestId::new(request),
        };
        open.into_keys().map(withdrawn).collect()
    }
}

fn is_before_call(request: &Value) -> bool {
    request["input"]["hook_event_name"] == "PreToolUse"
}

fn asked(request: RequestId, call: &CanUseTool, cwd: &Path) -> Option<AdapterEvent> {
    Some(AdapterEvent::Asked {
        request,
        item: call.tool_use_id.clone(),
        call: tools::call(&call.tool_name, &call.input, cwd)?,
        reason: reason(call),
        origin: call.agent_id.clone(),
        changes: tools::changes(&call.tool_name, &call.input),
        mark: Some(repetition::mark(&call.tool_name, &call.input)),
    })
}

/// Why the agent or its CLI asks; that it was told to ask is no reason.
fn reason(call: &CanUseTool) -> Option<String> {
    let clis = match call.decision_reason_type.as_deref() {
        Some("hook") => None,
        Some(_) | None => call.decision_reason.clone(),
    };
    // Of other tools the CLI itself says what they are about, and that is shown anyway.
    let agents = call
        .description
        .clone()
        .filter(|_| call.tool_name == "Bash");
    clis.or(agents)
}

fn questioned(request: RequestId, input: &Value) -> Option<AdapterEvent> {
    let asked: Questions = serde_json::from_value(input.clone()).ok()?;
    let questions = asked.questions.into_iter().map(|question| AgentQuestion {
        text: question.question,
        header: question.header,
        options: question
            .options
            .into_iter()
            .flatten()
            .map(offered)
            .collect(),
        picks: match question.multi_select {
            Some(true) => Picks::Several,
            Some(false) | None => Picks::One,
        },
    });
    Some(AdapterEvent::Questioned {
        request,
        questions: questions.collect(),
    })
}

fn offered(choice: Choice) -> Offered {
    Offered {
        label: choice.label,
        description: choice.description,
    }
}

/// Builds the line that answers a call.
pub fn answer(request: &str, ask: &Ask, decision: &Decision) -> String {
    if ask.kind == Kind::Hook {
        return match decision {
            Decision::Allow => hook_says(request, "allow", "allowed"),
            Decision::Deny { reason } => hook_says(request, "deny", reason),
            Decision::DenyAndStop => hook_says(request, "deny", "The user stopped the turn."),
        };
    }
    let body = match decision {
        Decision::Allow => return allow(request, &ask.made.1),
        Decision::Deny { reason } => json!({"behavior": "deny", "message": reason}),
        Decision::DenyAndStop => json!({
            "behavior": "deny",
            "message": "The user declined this and stopped the turn.",
            "interrupt": true,
        }),
    };
    success(request, &body)
}

fn allow(request: &str, input: &Value) -> String {
    success(
        request,
        &json!({"behavior": "allow", "updatedInput": input}),
    )
}

/// Builds the line by which the CLI asks before a call.
pub fn ask_first(request: &str) -> String {
    hook_says(request, "ask", "the user is asked")
}

fn hook_says(request: &str, decision: &str, reason: &str) -> String {
    let told = json!({
        "hookEventName": "PreToolUse",
        "permissionDecision": decision,
        "permissionDecisionReason": reason,
    });
    success(request, &json!({ "hookSpecificOutput": told }))
}

/// Builds the handshake: claude is to ask before each call of any tool, and to block it when it gets no answer.
pub fn initialize(request: &str) -> String {
    let hook =
        json!({"hookCallbackIds": ["before"], "timeout": HOOK_SECONDS, "onFailure": "block"});
    line(&json!({
        "type": "control_request",
        "request_id": request,
        "request": {"subtype": "initialize", "hooks": {"PreToolUse": [hook]}},
    }))
}

/// Builds the line that answers questions, or dismisses them.
pub fn answer_questions(
    request: &str,
    ask: &Ask,
    answers: Option<&BTreeMap<String, String>>,
) -> String {
    let (Some(answers), Some(input)) = (answers, ask.made.1.as_object()) else {
        let message =
            "The user did not answer. Go on with what you know, and say what you assumed.";
        return success(request, &json!({"behavior": "deny", "message": message}));
    };
    let mut input = input.clone();
    input.insert("answers".to_owned(), json!(answers));
    success(
        request,
        &json!({"behavior": "allow", "updatedInput": input}),
    )
}

fn success(request: &str, body: &Value) -> String {
    let response = json!({"subtype": "success", "request_id": request, "response": body});
    line(&json!({"type": "control_response", "response": response}))
}

/// Builds the line that answers a request which cannot be served; the CLI treats it as a denial.
pub fn refuse(request: &str, problem: &str) -> String {
    let response = json!({"subtype": "error", "request_id": request, "error": problem});
    line(&json!({"type": "control_response", "response": response}))
}

/// Builds the line of a request to the CLI.
pub fn control(request: &str, subtype: &str) -> String {
    line(
        &json!({"type": "control_request", "request_id": request, "request": {"subtype": subtype}}),
    )
}

/// Builds the line that carries a prompt; `client_composed` keeps `/` and `@` in it plain text.
pub fn prompt(uuid: &str, text: &str) -> String {
    line(&json!({
        "type": "user",
        "message": {"role": "user", "content": text},
        "parent_tool_use_id": null,
        "session_id": "",
        "uuid": uuid,
        "client_composed": true,
    }))
}

fn line(frame: &Value) -> String {
    format!("{frame}\n")
}
