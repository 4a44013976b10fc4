//! The answer of a tool call that waited.

use crate::domain::ids::SessionId;
use crate::mcp::socket_protocol::ToolAnswer;

/// The result of a call that waited.
#[derive(Debug)]
pub struct DeferredToolAnswer {
    pub(in crate::engine) answer: ToolAnswer,
    /// Children that the call waited for and no longer waits for.
    pub(in crate::engine) moved_to_background: Vec<SessionId>,
}

impl From<ToolAnswer> for DeferredToolAnswer {
    fn from(answer: ToolAnswer) -> Self {
        Self {
            answer,
            moved_to_background: Vec::new(),
        }
    }
}
