//! The messages between an agent's MCP server and the running program: one line of JSON each.
//!
//! A line that cannot be parsed ends the connection.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::JsonObject;

/// The version of this protocol. Both ends are the same program, unless it was replaced while it ran.
pub const PROTOCOL_VERSION: u32 = 2;

/// The maximum length of a line in bytes; a line may contain a plan or a review.
pub const MAX_LINE_BYTES: usize = 4 * 1024 * 1024;

/// What the server sends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case", deny_unknown_fields)]
pub enum ToolSocketRequest {
    /// The first line, which identifies the session.
    Hello {
        version: u32,
        /// The secret that is bound to one session.
        token: String,
    },
    /// Asks for the available tools.
    List {
        /// The id that the answer repeats.
        id: u64,
    },
    Call {
        /// The id that the answer repeats.
        id: u64,
        tool: String,
        arguments: Value,
        /// The CLI's id of the conversation that calls, if it sends one.
        thread: Option<String>,
        /// Whether the caller wants to receive progress while it waits.
        wants_progress: bool,
    },
    /// The answer to a call is no longer needed.
    Forget {
        /// The id of the call.
        id: u64,
    },
}

/// What the program sends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "tell", rename_all = "snake_case", deny_unknown_fields)]
pub enum ToolSocketMessage {
    /// The session exists.
    Welcome,
    /// The session does not exist, and the connection ends.
    Refused {
        /// The reason, and what to do about it.
        why: String,
    },
    Tools {
        /// The id of the request.
        id: u64,
        tools: Vec<OfferedTool>,
    },
    /// What a call currently waits for; never sent after its answer.
    Progress {
        /// The id of the call.
        id: u64,
        /// One line of text.
        text: String,
    },
    /// The answer to a call.
    Answer {
        /// The id of the call.
        id: u64,
        answer: ToolAnswer,
    },
    /// The list of tools has changed.
    Changed,
}

/// A tool as it is offered to a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OfferedTool {
    pub name: String,
    /// When to use it, and when not.
    pub description: String,
    /// The JSON schema of its arguments.
    pub schema: JsonObject,
}

/// The answer to a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolAnswer {
    /// What the agent reads.
    pub text: String,
    /// The same as data, if available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// Whether the call succeeded.
    pub outcome: ToolAnswerStatus,
}

/// Whether a call succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolAnswerStatus {
    Done,
    /// It failed; the text says why.
    Failed,
}

impl ToolAnswer {
    /// Builds the answer of a call that succeeded.
    pub fn done(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            data: None,
            outcome: ToolAnswerStatus::Done,
        }
    }

    /// Builds the answer of a call that failed, with the reason.
    pub fn failed(text: impl Into<String>) -> Self {
        Self {
            outcome: ToolAnswerStatus::Failed,
            ..Self::done(text)
        }
    }

    /// Builds the answer to a call of a tool that the session does not have.
    pub fn blocked(tool: &str, reason: &str) -> Self {
        let data = serde_json::json!({ "blocked": true, "tool": tool, "reason": reason });
        Self::failed(data.to_string()).with_data(data)
    }

    /// Adds the data to the answer.
    #[must_use]
    pub fn with_data(self, data: Value) -> Self {
        Self {
            data: Some(data),
            ..self
        }
    }
}

/// Encodes a message as a line, including its line end.
///
/// # Errors
/// The message cannot be represented as JSON.
pub fn encode_line(message: &impl Serialize) -> Result<Vec<u8>, serde_json::Error> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_line_and_reads_back() {
        let ask = ToolSocketRequest::Call {
            id: 7,
            tool: "plan_submit".to_owned(),
            arguments: serde_json::json!({"plan": "# A\n- [ ] 1. b"}),
            thread: None,
            wants_progress: false,
        };
        let line = encode_line(&ask).unwrap();
        assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
        assert_eq!(
            serde_json::from_slice::<ToolSocketRequest>(&line).unwrap(),
            ask
        );
    }

    #[test]
    fn a_blocked_call_says_so_as_text_and_as_data() {
        let answer = ToolAnswer::blocked("task", "no");
        assert_eq!(
            answer.text,
            r#"{"blocked":true,"tool":"task","reason":"no"}"#
        );
        assert_eq!(answer.outcome, ToolAnswerStatus::Failed);
    }
}
