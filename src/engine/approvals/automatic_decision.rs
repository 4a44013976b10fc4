//! Decides what needs no user: allowed and denied calls, and all others when no user is present.

use crate::adapter::CallDecision;
use crate::domain::event::{Approval, ApprovalDecider};
use crate::engine::run_setup::AskPolicy;
use crate::permission::hard_limits::Floor;
use crate::permission::{
    Decision, DecisionReason, DecisionSource, LoopStatus, MaxApprovalScope, PermissionAction,
};

/// Ends a turn that is in a loop when no user is present.
const UNATTENDED_LOOP_REASON: &str = "its last calls repeat, and no one can answer: the turn ends";

/// An answer, who gave it, and why.
pub(in crate::engine) struct DecisionRecord {
    pub(in crate::engine) decision: CallDecision,
    pub(in crate::engine) by: ApprovalDecider,
    pub(in crate::engine) reason: String,
}

impl DecisionRecord {
    /// Denies for a reason that the agent is told.
    pub(in crate::engine) fn denial(by: ApprovalDecider, reason: &str) -> Self {
        Self {
            decision: deny_with_reason(reason),
            by,
            reason: reason.to_owned(),
        }
    }

    /// Adds the call to a denial, because more than one call may be pending.
    pub(super) fn with_call_description(self, call: &Approval) -> Self {
        let CallDecision::Deny { reason } = self.decision else {
            return self;
        };
        let targets = call.targets.join(", ");
        let reason = format!("{} {targets} was not allowed: {reason}", call.permission);
        Self {
            decision: deny_with_reason(&reason),
            ..self
        }
    }
}

/// Returns the decision about a call that the user need not or cannot make; `None` if the call waits for the user.
pub(in crate::engine) fn decide_without_user(
    policy: AskPolicy,
    decision: &Decision,
    repetition: LoopStatus,
) -> Option<DecisionRecord> {
    let by = match decision.reason.source() {
        DecisionSource::WrittenAsk | DecisionSource::Written => ApprovalDecider::Rules,
        DecisionSource::Floor(_)
        | DecisionSource::NoRule
        | DecisionSource::Program
        | DecisionSource::Approval
        | DecisionSource::Mode => ApprovalDecider::Permission,
    };
    Some(match decision.action {
        PermissionAction::Allow => DecisionRecord {
            decision: CallDecision::Allow,
            by,
            reason: decision.reason.reason.clone(),
        },
        PermissionAction::Deny => DecisionRecord::denial(by, &denial_text(decision)),
        PermissionAction::Ask => {
            let reason = unattended_denial_reason(policy, decision)?;
            match repetition {
                LoopStatus::NoLoop => DecisionRecord::denial(ApprovalDecider::Policy, &reason),
                LoopStatus::Loop => DecisionRecord {
                    decision: CallDecision::DenyAndStop,
                    by: ApprovalDecider::Policy,
                    reason: UNATTENDED_LOOP_REASON.to_owned(),
                },
            }
        }
    })
}

/// Returns why a request is denied when no user is present; `None` if it waits.
fn unattended_denial_reason(policy: AskPolicy, decision: &Decision) -> Option<String> {
    let is_limited = decision.max_scope != MaxApprovalScope::Project;
    let reason = match (policy, decision.reason.source()) {
        (AskPolicy::Wait, _) => return None,
        (_, DecisionSource::Floor(Floor::Uncontained)) => {
            "no sandbox contains it, and no one can answer (--uncontained lets rules decide)"
        }
        (_, DecisionSource::Floor(floor)) if is_limited && floor != Floor::SafetyList => {
            return Some(format!("{}, and no one can answer", decision.reason.reason));
        }
        _ if is_limited => "the safety list stops it, and no one can answer",
        (AskPolicy::Deny, _) => "no one can answer (--on-ask deny)",
        (AskPolicy::UserRules, _) => "no rule allows it, and no one can answer",
    };
    Some(reason.to_owned())
}

pub(in crate::engine) fn deny_with_reason(reason: &str) -> CallDecision {
    CallDecision::Deny {
        reason: reason.to_owned(),
    }
}

/// Returns the text with which the agent is told why a call was denied.
fn denial_text(decision: &Decision) -> String {
    let DecisionReason {
        rule,
        origin,
        reason,
        ..
    } = &decision.reason;
    match decision.reason.source() {
        DecisionSource::Floor(_) => reason.clone(),
        DecisionSource::NoRule
        | DecisionSource::Program
        | DecisionSource::WrittenAsk
        | DecisionSource::Written
        | DecisionSource::Approval
        | DecisionSource::Mode => {
            format!("{reason}: {rule} ({origin})")
        }
    }
}
