//! Records calls of tools that an agent does not have.
//!
//! The calls themselves are stopped by the decision or by the agent's CLI.

use super::engine_error::EngineError;
use crate::domain::event::Event;
use crate::domain::ids::SessionId;
use crate::domain::own_tool::own_tool_name;
use crate::permission::hard_limits::Floor;
use crate::permission::tool_names::permission_for_tool;
use crate::permission::{AgentToolCall, Decision, DecisionSource, PermissionAction};

use super::agent_activity;
use super::run_context::RunContext;

/// Records a denied call if it was denied because its agent does not have the tool. `hidden` are the permissions
/// whose tools the agent does not see.
pub(super) fn record_missing_tool_call(
    run: &mut RunContext,
    session: SessionId,
    call: &AgentToolCall,
    decision: &Decision,
    hidden: &[String],
) -> Result<(), EngineError> {
    match missing_tool_name(call, decision, hidden) {
        Some(tool) => run.record(blocked_call_event(session, tool, &decision.reason.reason)),
        None => Ok(()),
    }
}

/// Returns the event of a call that was stopped because its agent does not have the tool.
pub(super) fn blocked_call_event(session: SessionId, tool: &str, reason: &str) -> Event {
    Event::ToolBlocked {
        session,
        tool: agent_activity::clean_line(own_tool_name(tool).unwrap_or(tool)),
        reason: agent_activity::clean_line(reason),
    }
}

/// Returns the tool that a denied call's agent does not have; `None` if it has the tool but may not use it like
/// this.
fn missing_tool_name<'a>(
    call: &'a AgentToolCall,
    decision: &Decision,
    hidden: &[String],
) -> Option<&'a str> {
    if decision.action != PermissionAction::Deny {
        return None;
    }
    let (tool, permission) = match call {
        AgentToolCall::Command { .. } => ("bash", "bash"),
        AgentToolCall::Edit { .. } => ("edit", "edit"),
        AgentToolCall::Read { .. } => ("read", "read"),
        AgentToolCall::Tool { name, .. } => (name.as_str(), permission_for_tool(name)),
    };
    let is_missing = decision.reason.source() == DecisionSource::Floor(Floor::HiddenTool)
        || hidden.iter().any(|hidden| hidden == permission);
    is_missing.then_some(tool)
}
