//! Parses the requests that codex sends to the user, and builds the answer to each.
//!
//! Nothing is decided here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use super::app_server_protocol::{RequestResolvedNotification, parse_params};
use super::bash_wrapper::strip_bash_wrapper;
use super::open_items::{CodexSpeaker, OpenItems};
use crate::adapter::ApprovalRequest;
use crate::adapter::DecisionWait;
use crate::adapter::{AdapterEvent, CallDecision, FileChangeKind};
use crate::domain::ids::RequestId;
use crate::domain::question::{AgentQuestion, AnswerOption, AnswerSelectMode};
use crate::permission::{AgentToolCall, SandboxReach};

/// The requests that wait for an answer of the user.
#[derive(Debug, Default)]
pub(super) struct PendingServerRequests {
    open: BTreeMap<RequestId, PendingServerRequest>,
}

/// One request that waits.
#[derive(Debug)]
pub(super) struct PendingServerRequest {
    /// Codex's id of the request, returned unchanged.
    id: Value,
    pub(super) thread_id: String,
    /// The turn that asks, where reported.
    pub(super) turn_id: Option<String>,
    kind: ServerRequestKind,
}

/// The kind of answer that a request needs.
#[derive(Debug)]
enum ServerRequestKind {
    /// A command or a patch: accept, decline, cancel.
    Approval,
    /// More permissions for the rest of the turn.
    Permissions(Value),
    /// An MCP call, or a question of an MCP server that accepts a plain yes.
    Elicitation,
    /// Questions of the agent: the text and id of each.
    Questions(Vec<(String, String)>),
}

#[derive(Debug)]
pub(super) enum ServerRequestOutcome {
    /// The user must answer; the event describes the request.
    Pending(Box<(PendingServerRequest, AdapterEvent)>),
    /// It is answered at once; the notice says why.
    Refused(Value, String),
    /// Its method is unknown.
    Unknown,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CommandApprovalParams {
    thread_id: String,
    turn_id: String,
    item_id: String,
    #[serde(default = "command_kind")]
    kind: String,
    reason: Option<String>,
    command: Option<String>,
    cwd: Option<PathBuf>,
    network_approval_context: Option<Value>,
    additional_permissions: Option<Value>,
}

fn command_kind() -> String {
    "command".to_owned()
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PatchApprovalParams {
    thread_id: String,
    turn_id: String,
    item_id: String,
    reason: Option<String>,
    grant_root: Option<PathBuf>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PermissionsRequestParams {
    thread_id: String,
    turn_id: String,
    item_id: String,
    reason: Option<String>,
    permissions: Value,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ElicitationParams {
    thread_id: String,
    turn_id: Option<String>,
    server_name: String,
    mode: String,
    #[serde(default)]
    message: String,
    #[serde(rename = "_meta")]
    meta: Option<ElicitationMeta>,
    requested_schema: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct ElicitationMeta {
    tool_name: Option<String>,
    tool_params: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct QuestionsParams {
    thread_id: String,
    turn_id: String,
    questions: Vec<CodexQuestion>,
}

#[derive(Debug, Deserialize)]
struct CodexQuestion {
    id: String,
    question: String,
    header: Option<String>,
    options: Option<Vec<CodexQuestionOption>>,
}

#[derive(Debug, Deserialize)]
struct CodexQuestionOption {
    label: String,
    description: Option<String>,
}

fn question_option(choice: CodexQuestionOption) -> AnswerOption {
    AnswerOption {
        label: choice.label,
        description: choice.description,
    }
}

/// The context of a request.
#[derive(Debug, Clone, Copy)]
pub(super) struct ServerRequestContext<'a> {
    pub own_thread: Option<&'a str>,
    pub cwd: &'a Path,
    /// The items of the turn; the request for a patch only refers to one of them.
    pub items: &'a OpenItems,
}

impl ServerRequestContext<'_> {
    fn speaker<'t>(&self, thread_id: &'t str) -> CodexSpeaker<'t> {
        if self.own_thread == Some(thread_id) {
            CodexSpeaker::Agent
        } else {
            CodexSpeaker::SubAgent(thread_id)
        }
    }

    fn origin(&self, thread_id: &str) -> Option<String> {
        (self.own_thread != Some(thread_id)).then(|| thread_id.to_owned())
    }
}

/// Names a request for the engine; codex's ids are numbers or strings, which never collide as JSON.
fn request_id(id: &Value) -> RequestId {
    RequestId::new(id.to_string())
}

/// Parses a request; the error says what is wrong with it.
pub(super) fn parse_server_request(
    id: &Value,
    method: &str,
    params: Value,
    context: ServerRequestContext,
) -> Result<ServerRequestOutcome, String> {
    match method {
        "item/commandExecution/requestApproval" => parse_command_approval(id, params, context),
        "item/fileChange/requestApproval" => parse_patch_approval(id, params, context),
        "item/permissions/requestApproval" => parse_permissions_request(id, params, context),
        "mcpServer/elicitation/request" => parse_elicitation(id, params, context),
        "item/tool/requestUserInput" => parse_questions(id, params),
        _ => Ok(ServerRequestOutcome::Unknown),
    }
}

fn parse_command_approval(
    id: &Value,
    params: Value,
    context: ServerRequestContext,
) -> Result<ServerRequestOutcome, String> {
    let raw = params.clone();
    let params: CommandApprovalParams = parse_params(params)?;
    let plain = params.kind == "command" && params.network_approval_context.is_none();
    let call = match params.command {
        Some(line) if plain => AgentToolCall::Command {
            line: strip_bash_wrapper(&line),
            cwd: params.cwd.unwrap_or_else(|| context.cwd.to_owned()),
            reach: SandboxReach::LeavesSandbox,
        },
        // Input to a running command, or a network address: there is no command line to check.
        Some(_) | None => AgentToolCall::Tool {
            name: match &params.network_approval_context {
                Some(_) => "network".to_owned(),
                None => params.kind,
            },
            input: raw.to_string(),
        },
    };
    let more = params
        .additional_permissions
        .map(|more| format!("it also requests these permissions: {more}"));
    let reasons: Vec<_> = params.reason.into_iter().chain(more).collect();
    let event = AdapterEvent::ApprovalRequested(Box::new(ApprovalRequest {
        request: request_id(id),
        item: Some(
            context
                .speaker(&params.thread_id)
                .qualify_item_id(&params.item_id),
        ),
        call,
        reason: (!reasons.is_empty()).then(|| reasons.join("; ")),
        sub_agent: context.origin(&params.thread_id),
        changes: Vec::new(),
        fingerprint: None,
        wait: DecisionWait::UntilUserDecides,
    }));
    let place = (params.thread_id, Some(params.turn_id));
    Ok(pending_outcome(
        id,
        place,
        ServerRequestKind::Approval,
        event,
    ))
}

fn parse_patch_approval(
    id: &Value,
    params: Value,
    context: ServerRequestContext,
) -> Result<ServerRequestOutcome, String> {
    let params: PatchApprovalParams = parse_params(params)?;
    let item = context
        .speaker(&params.thread_id)
        .qualify_item_id(&params.item_id);
    let mut paths = Vec::new();
    let changes = context.items.changes_of_patch(&item).to_vec();
    for change in &changes {
        paths.push(change.path.clone());
        match &change.kind {
            FileChangeKind::Move(target) => paths.push(target.clone()),
            FileChangeKind::Add | FileChangeKind::Update | FileChangeKind::Delete => {}
        }
    }
    let root = params.grant_root.map(|root| {
        format!(
            "it requests write access to everything under {}",
            root.display()
        )
    });
    let reasons: Vec<_> = params.reason.into_iter().chain(root).collect();
    let event = AdapterEvent::ApprovalRequested(Box::new(ApprovalRequest {
        request: request_id(id),
        item: Some(item),
        call: AgentToolCall::Edit {
            paths,
            reach: SandboxReach::LeavesSandbox,
        },
        reason: (!reasons.is_empty()).then(|| reasons.join("; ")),
        sub_agent: context.origin(&params.thread_id),
        changes,
        fingerprint: None,
        wait: DecisionWait::UntilUserDecides,
    }));
    let place = (params.thread_id, Some(params.turn_id));
    Ok(pending_outcome(
        id,
        place,
        ServerRequestKind::Approval,
        event,
    ))
}

fn parse_permissions_request(
    id: &Value,
    params: Value,
    context: ServerRequestContext,
) -> Result<ServerRequestOutcome, String> {
    let params: PermissionsRequestParams = parse_params(params)?;
    let event = AdapterEvent::ApprovalRequested(Box::new(ApprovalRequest {
        request: request_id(id),
        item: Some(
            context
                .speaker(&params.thread_id)
                .qualify_item_id(&params.item_id),
        ),
        call: AgentToolCall::Tool {
            name: "request_permissions".to_owned(),
            input: params.permissions.to_string(),
        },
        reason: params.reason,
        sub_agent: context.origin(&params.thread_id),
        changes: Vec::new(),
        fingerprint: None,
        wait: DecisionWait::UntilUserDecides,
    }));
    let place = (params.thread_id, Some(params.turn_id));
    Ok(pending_outcome(
        id,
        place,
        ServerRequestKind::Permissions(params.permissions),
        event,
    ))
}

fn parse_elicitation(
    id: &Value,
    params: Value,
    context: ServerRequestContext,
) -> Result<ServerRequestOutcome, String> {
    let params: ElicitationParams = parse_params(params)?;
    let answerable = params.mode == "form" && !needs_fields(params.requested_schema.as_ref());
    if !answerable {
        let text = format!(
            "the MCP server {} asked for input other than yes or no, and was declined: {}",
            params.server_name, params.message
        );
        return Ok(ServerRequestOutcome::Refused(
            elicitation_result("decline"),
            text,
        ));
    }
    let (tool, input) = match params.meta {
        Some(meta) => (meta.tool_name, meta.tool_params),
        None => (None, None),
    };
    let event = AdapterEvent::ApprovalRequested(Box::new(ApprovalRequest {
        request: request_id(id),
        item: None,
        call: AgentToolCall::Tool {
            name: match tool {
                Some(tool) => format!("{}.{tool}", params.server_name),
                None => params.server_name,
            },
            input: input.unwrap_or_else(|| json!({})).to_string(),
        },
        reason: (!params.message.is_empty()).then_some(params.message),
        sub_agent: context.origin(&params.thread_id),
        changes: Vec::new(),
        fingerprint: None,
        wait: DecisionWait::UntilUserDecides,
    }));
    let place = (params.thread_id, params.turn_id);
    Ok(pending_outcome(
        id,
        place,
        ServerRequestKind::Elicitation,
        event,
    ))
}

/// Builds the outcome of a request that waits; `place` is its thread and its turn.
fn pending_outcome(
    id: &Value,
    place: (String, Option<String>),
    kind: ServerRequestKind,
    event: AdapterEvent,
) -> ServerRequestOutcome {
    let (thread_id, turn_id) = place;
    let ask = PendingServerRequest {
        id: id.clone(),
        thread_id,
        turn_id,
        kind,
    };
    ServerRequestOutcome::Pending(Box::new((ask, event)))
}

fn needs_fields(schema: Option<&Value>) -> bool {
    let properties = schema.and_then(|schema| schema.get("properties"));
    properties
        .and_then(Value::as_object)
        .is_some_and(|fields| !fields.is_empty())
}

fn parse_questions(id: &Value, params: Value) -> Result<ServerRequestOutcome, String> {
    let params: QuestionsParams = parse_params(params)?;
    let mut ids = Vec::new();
    let mut questions = Vec::new();
    for question in params.questions {
        ids.push((question.question.clone(), question.id));
        let choices = question.options.unwrap_or_default().into_iter();
        questions.push(AgentQuestion {
            text: question.question,
            header: question.header,
            options: choices.map(question_option).collect(),
            picks: AnswerSelectMode::One,
        });
    }
    let event = AdapterEvent::QuestionAsked {
        request: request_id(id),
        questions,
    };
    let place = (params.thread_id, Some(params.turn_id));
    Ok(pending_outcome(
        id,
        place,
        ServerRequestKind::Questions(ids),
        event,
    ))
}

impl PendingServerRequests {
    /// Stores a request until it is answered or withdrawn.
    pub(super) fn insert(&mut self, ask: PendingServerRequest) {
        self.open.insert(request_id(&ask.id), ask);
    }

    /// Removes a request in order to answer it; `None` if it no longer waits.
    pub(super) fn remove(&mut self, request: &RequestId) -> Option<PendingServerRequest> {
        self.open.remove(request)
    }

    /// Handles codex's notification that a request no longer waits.
    pub(super) fn on_resolved(
        &mut self,
        resolved: &RequestResolvedNotification,
    ) -> Option<AdapterEvent> {
        let request = request_id(&resolved.request_id);
        self.remove(&request)?;
        Some(AdapterEvent::RequestWithdrawn { request })
    }

    /// Removes all requests, for the end of a turn or of the process.
    pub(super) fn drain(&mut self) -> BTreeMap<RequestId, PendingServerRequest> {
        std::mem::take(&mut self.open)
    }
}

impl PendingServerRequest {
    /// Builds codex's form of a decision; never one that codex would remember.
    pub(super) fn decision_response(&self, decision: &CallDecision) -> Value {
        let result = match (&self.kind, decision) {
            (ServerRequestKind::Approval, CallDecision::Allow) => json!({ "decision": "accept" }),
            (ServerRequestKind::Approval, CallDecision::Deny { .. }) => {
                json!({ "decision": "decline" })
            }
            (ServerRequestKind::Approval, CallDecision::DenyAndStop) => {
                json!({ "decision": "cancel" })
            }
            (ServerRequestKind::Permissions(wanted), CallDecision::Allow) => {
                granted_permissions_result(wanted)
            }
            (
                ServerRequestKind::Permissions(_),
                CallDecision::Deny { .. } | CallDecision::DenyAndStop,
            ) => {
                json!({ "permissions": {}, "scope": "turn" })
            }
            (ServerRequestKind::Elicitation, CallDecision::Allow) => elicitation_result("accept"),
            (ServerRequestKind::Elicitation, CallDecision::Deny { .. }) => {
                elicitation_result("decline")
            }
            (ServerRequestKind::Elicitation, CallDecision::DenyAndStop) => {
                elicitation_result("cancel")
            }
            (ServerRequestKind::Questions(_), _) => json!({ "answers": {} }),
        };
        json!({ "id": self.id, "result": result })
    }

    /// Builds the answer to questions; `None` dismisses them.
    pub(super) fn answers_response(&self, answers: Option<&BTreeMap<String, String>>) -> Value {
        let ServerRequestKind::Questions(ids) = &self.kind else {
            let reason = "dismissed".to_owned();
            return self.decision_response(&CallDecision::Deny { reason });
        };
        let mut told = serde_json::Map::new();
        for (text, id) in ids {
            if let Some(answer) = answers.and_then(|answers| answers.get(text)) {
                told.insert(id.clone(), json!({ "answers": [answer] }));
            }
        }
        json!({ "id": self.id, "result": { "answers": told } })
    }

    /// Returns whether codex ends the turn by itself when it reads a cancellation.
    pub(super) fn ends_turn_when_cancelled(&self) -> bool {
        match self.kind {
            ServerRequestKind::Approval => true,
            ServerRequestKind::Permissions(_)
            | ServerRequestKind::Elicitation
            | ServerRequestKind::Questions(_) => false,
        }
    }
}

/// Grants what was asked for until the end of the turn, which is the shortest time that codex supports.
fn granted_permissions_result(wanted: &Value) -> Value {
    let mut permissions = serde_json::Map::new();
    for (name, right) in wanted.as_object().into_iter().flatten() {
        if !right.is_null() {
            permissions.insert(name.clone(), right.clone());
        }
    }
    json!({ "permissions": permissions, "scope": "turn" })
}

fn elicitation_result(action: &str) -> Value {
    let content = match action {
        "accept" => json!({}),
        _ => Value::Null,
    };
    json!({ "action": action, "content": content, "_meta": null })
}
