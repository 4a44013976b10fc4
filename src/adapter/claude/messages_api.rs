//! The wire types of messages: pieces that are being written, finished blocks, results of tools.
//!
//! Refuses to know what they mean. Newer kinds are kept apart from broken ones.

use serde::Deserialize;
use serde_json::Value;

/// `stream_event`.
#[derive(Debug, Deserialize)]
pub struct StreamEventFrame {
    /// The event of the Messages API.
    pub event: MessagesApiEvent,
    /// What is void.
    pub abandoned_blocks: Option<AbandonedBlocks>,
}

/// Which blocks of a message are void.
#[derive(Debug, Deserialize)]
pub struct AbandonedBlocks {
    /// The first of them.
    pub from_block_index: u64,
}

/// An event of the Messages API.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum MessagesApiEvent {
    /// A message begins.
    MessageStart {
        /// Its head.
        message: MessageHead,
    },
    /// A block begins.
    ContentBlockStart {
        /// Its place.
        index: u64,
        /// What it is.
        content_block: BlockHead,
    },
    /// A block grows.
    ContentBlockDelta {
        /// Its place.
        index: u64,
        /// By what.
        delta: ContentBlockDelta,
    },
    /// A block ends.
    ContentBlockStop {},
    /// The message is whole.
    MessageDelta {},
    /// The message ends, whole or not.
    MessageStop {},
    /// A sign of life.
    Ping {},
    /// Something newer.
    #[serde(other)]
    Other,
}

/// The head of a message.
#[derive(Debug, Deserialize)]
pub struct MessageHead {
    /// Its id.
    pub id: String,
}

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum BlockHead {
    /// Text.
    Text {},
    /// Thinking.
    Thinking {},
    /// A tool call, or something newer.
    #[serde(other)]
    Other,
}

/// By what a block grows.
#[derive(Debug, Deserialize)]
#[serde(tag = "type")]
pub enum ContentBlockDelta {
    /// Text.
    #[serde(rename = "text_delta")]
    Text {
        /// The piece.
        text: String,
    },
    /// Thinking.
    #[serde(rename = "thinking_delta")]
    Thinking {
        /// The piece.
        thinking: String,
    },
    /// A piece of a tool's input; the whole follows in the finished block.
    #[serde(rename = "input_json_delta")]
    InputJson {},
    /// The signature of thinking.
    #[serde(rename = "signature_delta")]
    Signature {},
    /// A source; the finished block has it.
    #[serde(rename = "citations_delta")]
    Citations {},
    /// Something newer.
    #[serde(other)]
    Other,
}

/// `assistant`.
#[derive(Debug, Deserialize)]
pub struct AssistantFrame {
    /// The message, one finished block of it as a rule.
    pub message: AssistantMessage,
    /// The sub-agent that speaks.
    pub agent_id: Option<String>,
    /// The tool call that a sub-agent works for.
    pub parent_tool_use_id: Option<String>,
    /// The CLI's word for a failure that it shows as text.
    pub error: Option<String>,
    /// Its HTTP status.
    pub api_error_status: Option<i64>,
    /// The CLI's word for a failure without an HTTP status.
    pub api_error: Option<String>,
}

/// A message of the model.
#[derive(Debug, Deserialize)]
pub struct AssistantMessage {
    /// Its id.
    pub id: String,
    /// The model, `<synthetic>` when the CLI itself speaks.
    pub model: Option<String>,
    /// Its blocks.
    pub content: Vec<Value>,
    /// The tokens of the request that it answers, by their kind, where told.
    usage: Option<Value>,
}

impl AssistantMessage {
    /// All tokens of the request that it answers: what the conversation fills of the model's context; `None`
    /// where nothing is counted.
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
    /// The message.
    pub message: UserFrameMessage,
    /// The id of the user's line that comes back.
    pub uuid: Option<String>,
    /// What tools returned, in their own words.
    pub tool_use_result: Option<Value>,
    /// How the calls came to run or not.
    pub tool_result_meta: Option<Vec<ToolResultMeta>>,
}

/// The message of a `user` line.
#[derive(Debug, Deserialize)]
pub struct UserFrameMessage {
    /// A text, or blocks.
    pub content: Value,
}

/// How a call came to run or not.
#[derive(Debug, Deserialize)]
pub struct ToolResultMeta {
    /// The call.
    pub id: String,
    /// Why it did not run.
    pub non_execution_kind: Option<String>,
}

/// A finished block.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ContentBlock {
    /// Text.
    Text {
        /// The whole text.
        text: String,
    },
    /// Thinking.
    Thinking {
        /// The whole text.
        thinking: String,
    },
    /// Thinking that only the service can read.
    RedactedThinking {},
    /// A call.
    ToolUse {
        /// The call's id.
        id: String,
        /// The tool.
        name: String,
        /// Its input.
        input: Value,
    },
    /// What a call returned.
    ToolResult {
        /// The call's id.
        tool_use_id: String,
        /// A text, or blocks.
        content: Option<Value>,
        /// Whether it failed.
        is_error: Option<bool>,
    },
    /// A picture or another file.
    Image {},
    /// A picture or another file.
    Document {},
    /// Something newer.
    #[serde(other)]
    Other,
}

/// Reads a block of a message.
///
/// # Errors
/// Returns what is wrong with it.
pub fn parse_content_block(block: &Value) -> Result<ContentBlock, String> {
    ContentBlock::deserialize(block).map_err(|error| format!("block of a message: {error}"))
}
