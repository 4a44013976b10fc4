//! The wire types of messages: deltas, finished blocks, tool results.
//!
//! Unknown newer kinds are kept apart from malformed ones.

use serde::Deserialize;
use serde_json::Value;

/// `stream_event`.
#[derive(Debug, Deserialize)]
pub struct StreamEventFrame {
    /// The event of the Messages API.
    pub event: MessagesApiEvent,
    /// The blocks that are void.
    pub abandoned_blocks: Option<AbandonedBlocks>,
}

/// Which blocks of a message are void.
#[derive(Debug, Deserialize)]
pub struct AbandonedBlocks {
    /// The index of the first void block.
    pub from_block_index: u64,
}

/// An event of the Messages API.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum MessagesApiEvent {
    MessageStart {
        message: MessageHead,
    },
    ContentBlockStart {
        index: u64,
        content_block: BlockHead,
    },
    ContentBlockDelta {
        index: u64,
        delta: ContentBlockDelta,
    },
    ContentBlockStop {},
    /// The message is complete.
    MessageDelta {},
    /// The message ends, complete or not.
    MessageStop {},
    Ping {},
    /// An unknown newer event.
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub struct MessageHead {
    pub id: String,
}

/// The kind of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum BlockHead {
    Text {},
    Thinking {},
    /// A tool call, or an unknown newer kind.
    #[serde(other)]
    Other,
}

/// An addition to a block.
#[derive(Debug, Deserialize)]
#[serde(tag = "type")]
pub enum ContentBlockDelta {
    #[serde(rename = "text_delta")]
    Text { text: String },
    #[serde(rename = "thinking_delta")]
    Thinking { thinking: String },
    /// A piece of a tool's input; the finished block has the whole input.
    #[serde(rename = "input_json_delta")]
    InputJson {},
    #[serde(rename = "signature_delta")]
    Signature {},
    /// A source; the finished block contains it.
    #[serde(rename = "citations_delta")]
    Citations {},
    /// An unknown newer kind.
    #[serde(other)]
    Other,
}

/// `assistant`.
#[derive(Debug, Deserialize)]
pub struct AssistantFrame {
    /// The message, usually with one finished block.
    pub message: AssistantMessage,
    /// The sub-agent that wrote it.
    pub agent_id: Option<String>,
    /// The tool call that a sub-agent works for.
    pub parent_tool_use_id: Option<String>,
    /// The CLI's code for a failure that it shows as text.
    pub error: Option<String>,
    /// The HTTP status of the failure.
    pub api_error_status: Option<i64>,
    /// The CLI's code for a failure without an HTTP status.
    pub api_error: Option<String>,
}

/// A message of the model.
#[derive(Debug, Deserialize)]
pub struct AssistantMessage {
    pub id: String,
    /// The model, `<synthetic>` if the CLI itself wrote the message.
    pub model: Option<String>,
    pub content: Vec<Value>,
    /// The token counts of the request that this message answers, by kind, where reported.
    usage: Option<Value>,
}

impl AssistantMessage {
    /// Returns all tokens of the request that this message answers, which is how much of the model's context the
    /// conversation occupies; `None` if no tokens are reported.
    pub fn context_tokens(&self) -> Option<u64> {
        let parts = [
            "input_tokens",
            "cache_read_input_tokens",
            "cache_creation_input_tokens",
            "output_tokens",
        ];
        let count = |part: &&str| self.usage.as_ref()?.get(*part)?.as_u64();
        let filled = parts.iter().filter_map(count).fold(0, u64::saturating_add);
        (filled > 0).then_some(filled)
    }
}

/// `user`.
#[derive(Debug, Deserialize)]
pub struct UserFrame {
    pub message: UserFrameMessage,
    /// The id of the user line that is echoed.
    pub uuid: Option<String>,
    /// The result of a tool, in the tool's own format.
    pub tool_use_result: Option<Value>,
    /// Whether each call ran, and why not.
    pub tool_result_meta: Option<Vec<ToolResultMeta>>,
}

/// The message of a `user` line.
#[derive(Debug, Deserialize)]
pub struct UserFrameMessage {
    /// A string, or blocks.
    pub content: Value,
}

/// Whether a call ran, and why not.
#[derive(Debug, Deserialize)]
pub struct ToolResultMeta {
    pub id: String,
    /// The reason why it did not run.
    pub non_execution_kind: Option<String>,
}

/// A finished block.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ContentBlock {
    Text {
        text: String,
    },
    Thinking {
        thinking: String,
    },
    /// Thinking that only the service can read.
    RedactedThinking {},
    ToolUse {
        id: String,
        name: String,
        input: Value,
    },
    /// The result of a tool call.
    ToolResult {
        tool_use_id: String,
        /// A string, or blocks.
        content: Option<Value>,
        is_error: Option<bool>,
    },
    /// A picture; it produces no event.
    Image {},
    /// Another file; it produces no event.
    Document {},
    /// An unknown newer kind.
    #[serde(other)]
    Other,
}

/// Parses a block of a message.
///
/// # Errors
/// Returns what is wrong with it.
pub fn parse_content_block(block: &Value) -> Result<ContentBlock, String> {
    ContentBlock::deserialize(block).map_err(|error| format!("block of a message: {error}"))
}
