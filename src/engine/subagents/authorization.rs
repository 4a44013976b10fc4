//! Checks who may start a task for which agent: the nesting depth, the caller's own rules, and which children
//! belong to the caller.

use super::task_request::TaskCaller;
use super::task_start_error::TaskStartError;
use crate::domain::ids::SessionId;
use crate::domain::task::{ChildSession, MAX_CHILD_DEPTH, session_depth};
use crate::engine::agent_activity;
use crate::engine::run_context::RunContext;
use crate::permission::{AgentToolCall, PermissionAction, PhaseAccess, decide_call};

/// Checks whether the caller may start a task for this agent with this tool: nesting depth and the
/// caller's own rules. The user always may.
pub(in crate::engine) fn check_agent_allowed(
    run: &RunContext,
    caller: &TaskCaller,
    tool: &'static str,
    agent: &str,
) -> Result<(), TaskStartError> {
    let TaskCaller::Session(session) = caller else {
        return Ok(());
    };
    let not_allowed = |why: String| TaskStartError::NotAllowed {
        tool,
        agent: agent.to_owned(),
        why,
    };
    let state = run.state();
    if session_depth(&state.children, session).is_none_or(|depth| depth >= MAX_CHILD_DEPTH) {
        return Err(TaskStartError::TooDeep);
    }
    let own = state
        .role_of_session(session)
        .and_then(|role| state.session(role));
    let Some(own) = own else {
        return Err(not_allowed("it is not a session of this run".to_owned()));
    };
    let profile = own.current_profile().name();
    let call = AgentToolCall::Tool {
        name: tool.to_owned(),
        input: serde_json::json!({ "agent": agent }).to_string(),
    };
    let context = run.base_decision_context(profile, PhaseAccess::BeforeExecute, &run.setup.root);
    let decision = decide_call(&call, &context);
    // If the rule says `ask`, the user was asked about the tool call; only a denial counts here.
    match (decision.action, decision.reason) {
        (PermissionAction::Allow | PermissionAction::Ask, _) => Ok(()),
        (PermissionAction::Deny, why) => Err(not_allowed(format!("{} ({})", why.rule, why.origin))),
    }
}

/// Returns the child session to resume; it must belong to the caller and be idle.
pub(super) fn find_resumable_child<'a>(
    run: &'a RunContext,
    id: &SessionId,
    caller: &TaskCaller,
) -> Result<&'a ChildSession, TaskStartError> {
    let is_own = |child: &&ChildSession| match caller {
        // The session of a discussion participant cannot be resumed by a task.
        _ if child.order.speaks.is_some() => false,
        // All other children of the run belong to the user.
        TaskCaller::User => true,
        TaskCaller::Session(session) => child.order.parent.as_ref() == Some(session),
    };
    let child = run.child_session(id).filter(is_own);
    let child = child.ok_or_else(|| TaskStartError::NotOwnTask {
        id: agent_activity::clean_id(id.as_str()),
    })?;
    if child.is_running() {
        Err(TaskStartError::StillRunning { id: id.to_string() })
    } else {
        Ok(child)
    }
}
