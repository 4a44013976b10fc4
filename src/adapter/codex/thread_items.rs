//! Parses the items of a turn from the wire: messages, thinking, commands, patches, tool calls.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

use super::app_server_protocol::parse_params;
use crate::domain::event::ToolKind;
use crate::permission::AgentToolCall;

/// One item, at its start or its end.
#[derive(Debug)]
pub(super) enum ThreadItem {
    Message(AgentMessageItem),
    Reasoning(ReasoningItem),
    Command(CommandExecutionItem),
    Patch(FileChangeItem),
    McpCall(McpCallItem),
    WebSearch(WebSearchItem),
    OtherTool(OtherToolItem),
    SubAgent(SubAgentActivityItem),
    /// Codex shortened the conversation.
    Compaction,
    /// Our own prompt, or that of a hook, echoed to us.
    EchoedPrompt,
    /// An item of an unknown type.
    Unknown {
        kind: String,
    },
}

/// `agentMessage`.
#[derive(Debug, Deserialize)]
pub(super) struct AgentMessageItem {
    pub id: String,
    pub text: String,
}

/// `reasoning`: the model's summaries of its thinking, or the thinking itself.
#[derive(Debug, Deserialize)]
pub(super) struct ReasoningItem {
    pub id: String,
    pub summary: Vec<String>,
    pub content: Vec<String>,
}

/// `commandExecution`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CommandExecutionItem {
    pub id: String,
    pub command: String,
    #[serde(default)]
    pub cwd: Option<PathBuf>,
    pub status: ThreadItemStatus,
    pub aggregated_output: Option<String>,
    pub exit_code: Option<i32>,
}

/// `fileChange`.
#[derive(Debug, Deserialize)]
pub(super) struct FileChangeItem {
    pub id: String,
    pub changes: Vec<CodexFileChange>,
    pub status: ThreadItemStatus,
}

/// One file of a patch.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct CodexFileChange {
    pub path: String,
    pub kind: CodexFileChangeKind,
    pub diff: String,
}

/// How a patch changes a file.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(super) enum CodexFileChangeKind {
    Add,
    Delete,
    Update { move_path: Option<String> },
}

/// `mcpToolCall`.
#[derive(Debug, Deserialize)]
pub(super) struct McpCallItem {
    pub id: String,
    pub server: String,
    pub tool: String,
    pub arguments: Value,
    pub status: ThreadItemStatus,
    pub result: Option<McpCallResult>,
    pub error: Option<McpCallError>,
}

/// What an MCP tool returned.
#[derive(Debug, Deserialize)]
pub(super) struct McpCallResult {
    pub content: Vec<Value>,
}

/// Why an MCP tool returned nothing.
#[derive(Debug, Deserialize)]
pub(super) struct McpCallError {
    pub message: String,
}

/// `webSearch`.
#[derive(Debug, Deserialize)]
pub(super) struct WebSearchItem {
    pub id: String,
    #[serde(default)]
    pub query: String,
}

/// One of codex's own tools for which only name and status matter.
#[derive(Debug)]
pub(super) struct OtherToolItem {
    pub id: String,
    pub name: ToolKind,
    pub title: String,
    pub status: ThreadItemStatus,
    pub output: String,
}

impl OtherToolItem {
    /// Returns what it reads, if it is codex's tool that opens an image.
    pub(super) fn read_call(&self) -> Option<AgentToolCall> {
        (self.name == ToolKind::Read).then(|| AgentToolCall::Read {
            paths: vec![PathBuf::from(&self.title)],
            search: None,
        })
    }
}

/// `subAgentActivity`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SubAgentActivityItem {
    pub kind: String,
    pub agent_path: String,
}

/// The status of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum ThreadItemStatus {
    InProgress,
    Completed,
    Failed,
    Declined,
    /// The status is unknown or missing.
    #[default]
    #[serde(other)]
    Unknown,
}

/// The fields that codex's smaller tools share.
#[derive(Debug, Deserialize)]
struct OtherToolFields {
    id: String,
    #[serde(default)]
    status: ThreadItemStatus,
    tool: Option<String>,
    name: Option<String>,
    path: Option<String>,
    prompt: Option<String>,
    arguments: Option<Value>,
    #[serde(rename = "contentItems")]
    content_items: Option<Vec<Value>>,
}

/// Parses an item by its `type`; the error says what is wrong with it.
pub(super) fn parse_item(item: Value) -> Result<ThreadItem, String> {
    let kind = match item.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        Some(_) | None => return Err("an item without a type".to_owned()),
    };
    let parsed = match kind.as_str() {
        "agentMessage" => parse_params(item).map(ThreadItem::Message),
        "reasoning" => parse_params(item).map(ThreadItem::Reasoning),
        "commandExecution" => parse_params(item).map(ThreadItem::Command),
        "fileChange" => parse_params(item).map(ThreadItem::Patch),
        "mcpToolCall" => parse_params(item).map(ThreadItem::McpCall),
        "webSearch" => parse_params(item).map(ThreadItem::WebSearch),
        "subAgentActivity" => parse_params(item).map(ThreadItem::SubAgent),
        "dynamicToolCall"
        | "collabAgentToolCall"
        | "functionCallOutput"
        | "imageView"
        | "imageGeneration"
        | "sleep" => parse_other_tool(&kind, item),
        "contextCompaction" => Ok(ThreadItem::Compaction),
        "userMessage" | "hookPrompt" => Ok(ThreadItem::EchoedPrompt),
        _ => Ok(ThreadItem::Unknown { kind: kind.clone() }),
    };
    parsed.map_err(|problem| format!("a {kind} item: {problem}"))
}

fn parse_other_tool(kind: &str, item: Value) -> Result<ThreadItem, String> {
    let raw: OtherToolFields = parse_params(item)?;
    let title = raw
        .path
        .or(raw.prompt)
        .or_else(|| raw.arguments.map(|arguments| arguments.to_string()));
    Ok(ThreadItem::OtherTool(OtherToolItem {
        id: raw.id,
        name: match kind {
            "imageView" => ToolKind::Read,
            _ => ToolKind::from(raw.tool.or(raw.name).unwrap_or_else(|| kind.to_owned())),
        },
        title: title.unwrap_or_default(),
        status: raw.status,
        output: join_content_texts(&raw.content_items.unwrap_or_default()),
    }))
}

/// Joins the texts of a tool result; content that is not text is named by its type.
pub(super) fn join_content_texts(contents: &[Value]) -> String {
    let texts = contents.iter().map(|content| {
        let field = |name: &str| content.get(name).and_then(Value::as_str);
        match field("text") {
            Some(text) => text.to_owned(),
            None => format!("[{}]", field("type").unwrap_or("something without a type")),
        }
    });
    texts.collect::<Vec<_>>().join("\n")
}
