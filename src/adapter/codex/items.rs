//! The items of a turn as they stand on the wire: messages, thinking, commands, patches, tool calls.
//!
//! Refuses to know what becomes of them.

use serde::Deserialize;
use serde_json::Value;

use super::wire::parse_params;

/// One item, at its start or its end.
#[derive(Debug)]
pub(super) enum Item {
    Message(Message),
    Reasoning(Reasoning),
    Command(Command),
    Patch(Patch),
    Mcp(Mcp),
    Search(Search),
    Tool(Tool),
    SubAgent(SubAgent),
    /// The conversation was shortened.
    Compaction,
    /// Our own prompt, or a hook's, told back to us.
    Echo,
    /// An item of a type that is not known.
    Unknown {
        kind: String,
    },
}

/// `agentMessage`.
#[derive(Debug, Deserialize)]
pub(super) struct Message {
    pub id: String,
    pub text: String,
}

/// `reasoning`: the model's summaries of its thinking, or the thinking itself.
#[derive(Debug, Deserialize)]
pub(super) struct Reasoning {
    pub id: String,
    pub summary: Vec<String>,
    pub content: Vec<String>,
}

/// `commandExecution`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Command {
    pub id: String,
    pub command: String,
    pub status: Status,
    pub aggregated_output: Option<String>,
    pub exit_code: Option<i32>,
}

/// `fileChange`.
#[derive(Debug, Deserialize)]
pub(super) struct Patch {
    pub id: String,
    pub changes: Vec<Change>,
    pub status: Status,
}

/// One file of a patch.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Change {
    pub path: String,
    pub kind: ChangeKind,
    pub diff: String,
}

/// What a patch does to a file.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(super) enum ChangeKind {
    Add,
    Delete,
    Update { move_path: Option<String> },
}

/// `mcpToolCall`.
#[derive(Debug, Deserialize)]
pub(super) struct Mcp {
    pub id: String,
    pub server: String,
    pub tool: String,
    pub arguments: Value,
    pub status: Status,
    pub result: Option<McpResult>,
    pub error: Option<McpError>,
}

/// What an MCP tool returned.
#[derive(Debug, Deserialize)]
pub(super) struct McpResult {
    pub content: Vec<Value>,
}

/// Why an MCP tool returned nothing.
#[derive(Debug, Deserialize)]
pub(super) struct McpError {
    pub message: String,
}

/// `webSearch`.
#[derive(Debug, Deserialize)]
pub(super) struct Search {
    pub id: String,
    #[serde(default)]
    pub query: String,
}

/// A tool of codex's own of which only name and state matter.
#[derive(Debug)]
pub(super) struct Tool {
    pub id: String,
    pub name: String,
    pub title: String,
    pub status: Status,
    pub output: String,
}

/// `subAgentActivity`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SubAgent {
    pub kind: String,
    pub agent_path: String,
}

/// How far an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Status {
    InProgress,
    Completed,
    Failed,
    Declined,
    /// A state that is not known, or none told.
    #[default]
    #[serde(other)]
    Unknown,
}

/// The fields that codex's lesser tools have between them.
#[derive(Debug, Deserialize)]
struct RawTool {
    id: String,
    #[serde(default)]
    status: Status,
    tool: Option<String>,
    name: Option<String>,
    path: Option<String>,
    prompt: Option<String>,
    arguments: Option<Value>,
    #[serde(rename = "contentItems")]
    content_items: Option<Vec<Value>>,
}

/// Parses an item by its `type`; the error says what is wrong with it.
pub(super) fn parse_item(item: Value) -> Result<Item, String> {
    let kind = match item.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        Some(_) | None => return Err("an item without a type".to_owned()),
    };
    let parsed = match kind.as_str() {
        "agentMessage" => parse_params(item).map(Item::Message),
        "reasoning" => parse_params(item).map(Item::Reasoning),
        "commandExecution" => parse_params(item).map(Item::Command),
        "fileChange" => parse_params(item).map(Item::Patch),
        "mcpToolCall" => parse_params(item).map(Item::Mcp),
        "webSearch" => parse_params(item).map(Item::Search),
        "subAgentActivity" => parse_params(item).map(Item::SubAgent),
        "dynamicToolCall"
        | "collabAgentToolCall"
        | "functionCallOutput"
        | "imageView"
        | "imageGeneration"
        | "sleep" => parse_tool(&kind, item),
        "contextCompaction" => Ok(Item::Compaction),
        "userMessage" | "hookPrompt" => Ok(Item::Echo),
        _ => Ok(Item::Unknown { kind: kind.clone() }),
    };
    parsed.map_err(|problem| format!("a {kind} item: {problem}"))
}

fn parse_tool(kind: &str, item: Value) -> Result<Item, String> {
    let raw: RawTool = parse_params(item)?;
    let title = raw
        .path
        .or(raw.prompt)
        .or_else(|| raw.arguments.map(|arguments| arguments.to_string()));
    Ok(Item::Tool(Tool {
        id: raw.id,
        name: match kind {
            "imageView" => "read".to_owned(),
            _ => raw.tool.or(raw.name).unwrap_or_else(|| kind.to_owned()),
        },
        title: title.unwrap_or_default(),
        status: raw.status,
        output: contents_text(&raw.content_items.unwrap_or_default()),
    }))
}

/// Joins the texts of what a tool returned; what is no text is named by its type.
pub(super) fn contents_text(contents: &[Value]) -> String {
    let texts = contents.iter().map(|content| {
        let field = |name: &str| content.get(name).and_then(Value::as_str);
        match field("text") {
            Some(text) => text.to_owned(),
            None => format!("[{}]", field("type").unwrap_or("something without a type")),
        }
    });
    texts.collect::<Vec<_>>().join("\n")
}
