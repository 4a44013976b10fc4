//! Keeps the calls of agents that wait for a decision, and what follows from each decision.

use super::{RunState, UnansweredRequest, approval_checks, child_sessions, held_edit_questions};
use crate::domain::effect::{Effect, ExpiryReason};
use crate::domain::event::{Approval, ApprovalDecider, DenialKind};
use crate::domain::ids::RequestId;
use crate::domain::turn::Role;

pub(super) fn on_approval_requested(state: &mut RunState, approval: &Approval) -> Vec<Effect> {
    let runs = state
        .running
        .as_ref()
        .is_some_and(|running| running.order.turn == approval.turn);
    if runs || child_sessions::is_child_turn(state, &approval.turn) {
        state.n_approvals = state.n_approvals.saturating_add(1);
        state.approvals.push(Approval {
            n: state.n_approvals,
            ..approval.clone()
        });
    }
    Vec::new()
}

pub(super) fn on_approval_decided(
    state: &mut RunState,
    request: &RequestId,
    allowed: bool,
    by: &ApprovalDecider,
    denial: DenialKind,
) -> Vec<Effect> {
    let mut asked = state.approvals.iter();
    let asked = asked.find(|approval| approval.request == *request).cloned();
    // A denial without a reason also ends the turn, so the agent learns of it with its next turn.
    if let Some(refused) = &asked
        && (!allowed && *by == ApprovalDecider::User && denial == DenialKind::Unexplained)
        && !child_sessions::is_child_turn(state, &refused.turn)
    {
        let (role, what) = (state.running_role(), refused.describe());
        if !state.runs_isolated_turn(role) {
            state.refused.push(UnansweredRequest { role, what });
        }
    }
    // What rules and the mode allow is decided again when the step is audited.
    let by_user = allowed && matches!(by, ApprovalDecider::User | ApprovalDecider::Cascade);
    // A child's edits are not the step's; its accepted patch becomes part of the step.
    let is_of_step = |approval: &Approval| {
        !child_sessions::is_child_turn(state, &approval.turn)
            || child_sessions::is_awaiting_patch_approval(state, &approval.turn)
    };
    let asked = asked.filter(|approval| by_user && is_of_step(approval));
    if let Some(approval) = asked {
        held_edit_questions::on_edit_allowed(state, &approval);
        approval_checks::record_allowed_call(state, &approval);
    }
    on_approval_expired(state, request)
}

pub(super) fn on_approval_expired(state: &mut RunState, request: &RequestId) -> Vec<Effect> {
    state
        .approvals
        .retain(|approval| approval.request != *request);
    Vec::new()
}

/// Expires every waiting call. The agent learns with its next turn what the program's end cut off.
pub(super) fn expire_approvals(state: &mut RunState, role: Role, why: ExpiryReason) -> Vec<Effect> {
    // Calls of children expire with their own tasks.
    let all = std::mem::take(&mut state.approvals).into_iter();
    let (children, approvals): (Vec<_>, Vec<_>) =
        all.partition(|approval| child_sessions::is_child_turn(state, &approval.turn));
    state.approvals = children;
    if why == ExpiryReason::ProgramEnded && !state.runs_isolated_turn(role) {
        let unanswered = approvals.iter().map(|approval| UnansweredRequest {
            role,
            what: approval.describe(),
        });
        state.unanswered.extend(unanswered);
    }
    if approvals.is_empty() {
        Vec::new()
    } else {
        vec![Effect::ExpireApprovals { approvals, why }]
    }
}
