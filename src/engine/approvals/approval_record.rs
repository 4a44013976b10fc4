//! Builds the approval request that is recorded and shown.

use std::path::PathBuf;

use crate::adapter::ApprovalRequest;
use crate::domain::child_path::ChildPath;
use crate::domain::event::{Approval, CallPermission};
use crate::engine::agent_activity;
use crate::engine::approvals::caller_context::CallerContext;
use crate::permission::approval_suggestions::suggest_approvals;
use crate::permission::{AgentToolCall, Decision, DecisionReason, PermissionAction};

/// Builds the approval request that is recorded and shown, with what can be approved for more than one call.
pub(super) fn build_approval(
    asking: &ApprovalRequest,
    caller: &CallerContext,
    decision: &Decision,
) -> Approval {
    let (permission, targets) = displayed_permission_and_targets(&asking.call, decision);
    let mut offers = suggest_approvals(&asking.call, decision);
    // An offer is stored as it is, and secrets are never stored: an offer that cleaning would change is removed.
    offers.retain(|offer| agent_activity::clean_line(offer.as_str()) == offer.as_str());
    let inside_cli = || {
        let name = asking.sub_agent.as_deref()?;
        Some(ChildPath::inside_cli(&agent_activity::clean_line(name)))
    };
    Approval {
        request: asking.request.clone(),
        item: asking.item.as_deref().map(agent_activity::clean_line),
        turn: caller.turn.clone(),
        permission,
        targets,
        reason: asking.reason.as_deref().map(agent_activity::clean_line),
        why: Some(clean_decision_reason(&decision.reason)),
        offers,
        keeping: decision.max_scope,
        profile: caller.profile.clone(),
        child: caller.child.clone().or_else(inside_cli),
        n: 0,
    }
}

fn clean_decision_reason(why: &DecisionReason) -> DecisionReason {
    DecisionReason {
        stored_source: why.stored_source,
        rule: agent_activity::clean_line(&why.rule),
        origin: agent_activity::clean_line(&why.origin),
        reason: agent_activity::clean_line(&why.reason),
    }
}

/// Returns the permission and the targets of a call for display, cleaned.
fn displayed_permission_and_targets(
    call: &AgentToolCall,
    decision: &Decision,
) -> (CallPermission, Vec<String>) {
    if decision.action == PermissionAction::Ask {
        let targets = decision.request.targets.iter();
        return (
            agent_activity::clean_line(&decision.request.permission).into(),
            targets
                .map(|target| agent_activity::clean_line(&target.text))
                .collect(),
        );
    }
    let list = |paths: &[PathBuf]| {
        paths
            .iter()
            .map(|path| agent_activity::clean_line(&path.to_string_lossy()))
            .collect()
    };
    match call {
        AgentToolCall::Command { line, .. } => {
            (CallPermission::Bash, vec![agent_activity::clean_line(line)])
        }
        AgentToolCall::Edit { paths, .. } => (CallPermission::Edit, list(paths)),
        AgentToolCall::Read { paths, .. } => (CallPermission::Read, list(paths)),
        AgentToolCall::Tool { name, input } => (
            agent_activity::clean_line(name).into(),
            vec![agent_activity::clean_line(input)],
        ),
    }
}
