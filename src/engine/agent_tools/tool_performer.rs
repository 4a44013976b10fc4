//! The performer of a tool: the call that it gets, what it may read, and its reply.
//!
//! A performer changes no owner of the engine: its reply says what is recorded, or which request another owner gets.

use std::pin::Pin;

use serde_json::Value;

use super::deferred_tool_answer::DeferredToolAnswer;
use super::user_questions::QuestionWait;
use crate::domain::event::Event;
use crate::domain::ids::{RequestId, SessionId};
use crate::domain::question::AgentQuestion;
use crate::domain::turn::Role;
use crate::engine::conversations::ActiveTurn;
use crate::engine::owner_request::OwnerRequest;
use crate::engine::run_context::RunContext;
use crate::mcp::ToolDefinition;
use crate::mcp::socket_protocol::ToolAnswer;

/// The name, the rule arguments and the function of a tool.
pub(super) struct ToolPerformer {
    pub(super) name: &'static str,
    /// The arguments that rules match and that are recorded.
    pub(super) rule_arguments: &'static [&'static str],
    pub(super) perform: PerformTool,
}

/// Performs a tool whose call was allowed. The error is the text of the failed call.
type PerformTool = fn(&ToolCallContext<'_>) -> Result<ToolReply, String>;

impl ToolPerformer {
    pub(super) const fn new(
        definition: &ToolDefinition,
        rule_arguments: &'static [&'static str],
        perform: PerformTool,
    ) -> Self {
        Self {
            name: definition.name,
            rule_arguments,
            perform,
        }
    }
}

/// A call that is allowed to run.
pub(super) struct AdmittedToolCall {
    /// The call's id among all requests.
    pub(super) request: RequestId,
    pub(super) session: SessionId,
    pub(super) role: Role,
    pub(super) arguments: Value,
}

/// A call, and what its performer may read.
pub(super) struct ToolCallContext<'a> {
    pub(super) call: &'a AdmittedToolCall,
    pub(super) run: &'a RunContext,
    /// The turn of a role that is running.
    pub(super) turn: Option<&'a ActiveTurn>,
}

/// The immediate result of a tool call.
pub(super) enum ToolReply {
    Now(ToolAnswer),
    /// The event is recorded before the answer is sent.
    Record(Box<Event>, ToolAnswer),
    /// The answer comes when this future is done; the call waits for it.
    Later(Pin<Box<dyn Future<Output = DeferredToolAnswer> + Send>>),
    /// The user's answer becomes the call's.
    Ask(AgentQuestion, QuestionWait),
    /// Another owner does it; the request has the call's id, and `request_router` brings back the result.
    Request(OwnerRequest),
}
