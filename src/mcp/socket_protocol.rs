//! What the server of an agent's CLI and the running program say to each other: a line of JSON each.
//!
//! Refuses to know sockets. A line that cannot be read ends the connection.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::JsonObject;

/// The version of these words; the two ends are the same program, unless it was replaced while it ran.
pub const PROTOCOL_VERSION: u32 = 2;

/// How long a line may be, in bytes: a plan or a review stands in it.
pub const MAX_LINE_BYTES: usize = 4 * 1024 * 1024;

/// What the server asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case", deny_unknown_fields)]
pub enum ToolSocketRequest {
    /// The first line: who it is for.
    Hello {
        /// [`PROTOCOL_VERSION`].
        version: u32,
        /// What binds it to one session.
        token: String,
    },
    /// Which tools there are.
    List {
        /// The number that the answer carries.
        id: u64,
    },
    /// A tool is called.
    Call {
        /// The number that the answer carries.
        id: u64,
        /// The tool.
        tool: String,
        /// Its arguments.
        arguments: Value,
        /// The CLI's id of the conversation that calls, where it tells one.
        thread: Option<String>,
        /// Whether it wants to be told meanwhile what it waits for.
        wants_progress: bool,
    },
    /// Nobody waits for that answer any more.
    Forget {
        /// The call's number.
        id: u64,
    },
}

/// What the program says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "tell", rename_all = "snake_case", deny_unknown_fields)]
pub enum ToolSocketMessage {
    /// The session is there.
    Welcome,
    /// It is not, and the connection ends.
    Refused {
        /// Why, and what to do.
        why: String,
    },
    /// The tools that there are.
    Tools {
        /// The number of the question.
        id: u64,
        /// The tools.
        tools: Vec<OfferedTool>,
    },
    /// What a call waits for meanwhile; never after its answer.
    Progress {
        /// The number of the call.
        id: u64,
        /// One line.
        text: String,
    },
    /// What a call came to.
    Answer {
        /// The number of the call.
        id: u64,
        /// What.
        answer: ToolAnswer,
    },
    /// The tools are others now.
    Changed,
}

/// A tool as it is offered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OfferedTool {
    /// Its name.
    pub name: String,
    /// When to use it, and when not.
    pub description: String,
    /// The JSON schema of its arguments.
    pub schema: JsonObject,
}

/// What a call came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolAnswer {
    /// What the agent reads.
    pub text: String,
    /// The same as data, where there is some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// Whether it did what it should.
    pub outcome: ToolAnswerStatus,
}

/// Whether a call did what it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolAnswerStatus {
    /// It did.
    Done,
    /// It did not; the text says why.
    Failed,
}

impl ToolAnswer {
    /// A call that did what it should.
    pub fn done(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            data: None,
            outcome: ToolAnswerStatus::Done,
        }
    }

    /// A call that did not, and why.
    pub fn failed(text: impl Into<String>) -> Self {
        Self {
            outcome: ToolAnswerStatus::Failed,
            ..Self::done(text)
        }
    }

    /// A call of a tool that the session does not have.
    pub fn blocked(tool: &str, reason: &str) -> Self {
        let data = serde_json::json!({ "blocked": true, "tool": tool, "reason": reason });
        Self::failed(data.to_string()).with_data(data)
    }

    /// The same with its data.
    #[must_use]
    pub fn with_data(self, data: Value) -> Self {
        Self {
            data: Some(data),
            ..self
        }
    }
}

/// Writes a line, its end included.
///
/// # Errors
/// It cannot be said as JSON.
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
