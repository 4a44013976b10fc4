//! What `claude` asks the host, and the lines that answer it.
//!
//! Refuses to decide anything. Answers allow or deny one call and never add a rule to the CLI.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::tools;
use super::wire::{CanUseTool, Questions, Request};
use crate::adapter::{AdapterEvent, AgentQuestion, Decision};
use crate::domain::ids::RequestId;

/// The requests that wait for an answer.
#[derive(Debug, Default)]
pub struct Asks {
    open: BTreeMap<String, Ask>,
}

/// One request that waits.
#[derive(Debug)]
pub struct Ask {
    /// The tool call.
    pub item: Option<String>,
    input: Value,
}

/// What a request came to.
#[derive(Debug)]
pub enum Asked {
    /// It waits for an answer.
    Waits(AdapterEvent),
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
            Some(other) => Asked::Unknown(format!("control_request/{other}")),
            None => Asked::Malformed("control_request: it has no subtype".to_owned()),
        }
    }

    fn take_call(&mut self, request: Request, cwd: &Path) -> Asked {
        let call: CanUseTool = match serde_json::from_value(request.request) {
            Ok(call) => call,
            Err(error) => return Asked::Malformed(format!("can_use_tool: {error}")),
        };
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
            input: call.input,
        };
        self.open.insert(request.request_id, ask);
        Asked::Waits(event)
    }

    /// Takes a request out; `None` when it no longer waits.
    pub fn remove(&mut self, request: &str) -> Option<Ask> {
        self.open.remove(request)
    }

    /// Takes all requests out, since nobody waits any longer.
    pub fn withdraw_all(&mut self) -> Vec<AdapterEvent> {
        let open = std::mem::take(&mut self.open);
        let withdrawn = |request: String| AdapterEvent::RequestWithdrawn {
            request: RequestId::new(request),
        };
        open.into_keys().map(withdrawn).collect()
    }
}

fn asked(request: RequestId, call: &CanUseTool, cwd: &Path) -> Option<AdapterEvent> {
    Some(AdapterEvent::Asked {
        request,
        item: call.tool_use_id.clone(),
        call: tools::call(&call.tool_name, &call.input, cwd)?,
        reason: call
            .decision_reason
            .clone()
            .or_else(|| call.description.clone()),
        origin: call.agent_id.clone(),
        changes: tools::changes(&call.tool_name, &call.input),
    })
}

fn questioned(request: RequestId, input: &Value) -> Option<AdapterEvent> {
    let asked: Questions = serde_json::from_value(input.clone()).ok()?;
    let questions = asked.questions.into_iter().map(|question| AgentQuestion {
        text: question.question,
        options: question
            .options
            .into_iter()
            .flatten()
            .map(|choice| choice.label)
            .collect(),
    });
    Some(AdapterEvent::Questioned {
        request,
        questions: questions.collect(),
    })
}

/// Builds the line that answers a call.
pub fn answer(request: &str, ask: &Ask, decision: &Decision) -> String {
    let body = match decision {
        Decision::Allow => json!({"behavior": "allow", "updatedInput": ask.input}),
        Decision::Deny { reason } => json!({"behavior": "deny", "message": reason}),
        Decision::DenyAndStop => json!({
            "behavior": "deny",
            "message": "The user declined this and stopped the turn.",
            "interrupt": true,
        }),
    };
    success(request, &body)
}

/// Builds the line that answers questions, or dismisses them.
pub fn answer_questions(
    request: &str,
    ask: &Ask,
    answers: Option<&BTreeMap<String, String>>,
) -> String {
    let (Some(answers), Some(input)) = (answers, ask.input.as_object()) else {
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
