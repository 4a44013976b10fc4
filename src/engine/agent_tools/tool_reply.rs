//! A call of a tool that was allowed, and its result.

use std::pin::Pin;

use serde_json::Value;

use crate::domain::ids::{RequestId, SessionId};
use crate::domain::turn::Role;
use crate::mcp::socket_protocol::ToolAnswer;

/// A call that is allowed to run.
#[derive(Debug, Clone)]
pub(in crate::engine) struct AdmittedToolCall {
    /// The call's id among all requests.
    pub(in crate::engine) request: RequestId,
    pub(in crate::engine) session: SessionId,
    pub(in crate::engine) role: Role,
    pub(in crate::engine) arguments: Value,
}

/// The immediate result of a tool call.
pub(in crate::engine) enum ToolReply {
    Now(ToolAnswer),
    /// The user was asked; the answer comes through `AgentTools::answer_call`.
    UserAsked,
    /// The answer comes when this future is done; the call waits for it.
    Later(Pin<Box<dyn Future<Output = DeferredToolAnswer> + Send>>),
}

/// The result of a call that waited.
#[derive(Debug)]
pub struct DeferredToolAnswer {
    pub(in crate::engine) answer: ToolAnswer,
    /// Children that the call waited for and no longer waits for.
    pub(in crate::engine) moved_to_background: Vec<SessionId>,
}
