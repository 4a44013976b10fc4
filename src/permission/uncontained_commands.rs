//! The floor for commands that no sandbox limits: each one asks, unless the user turns that off.
//!
//! Whether a command is sandboxed is in its `SandboxReach`; nothing here looks for a sandbox.

use super::decision_context::UncontainedCommandPolicy;
use super::floor_input::{FloorInput, FloorRestriction};
use super::rule::PermissionAction;
use super::stored_approval::MaxApprovalScope;
use super::{AgentToolCall, SandboxReach};

/// Asks about a command because no sandbox would limit it.
pub(super) fn check_uncontained_command(looked: &FloorInput<'_>) -> Option<FloorRestriction> {
    let asks_each = looked.context.uncontained_policy == UncontainedCommandPolicy::AskEach;
    let AgentToolCall::Command { reach, .. } = looked.call else {
        return None;
    };
    let is_free = *reach == SandboxReach::Unconfined && !looked.facts.only_reads;
    (asks_each && is_free).then(|| FloorRestriction {
        action: PermissionAction::Ask,
        max_scope: MaxApprovalScope::Never,
        reason: "no sandbox contains this command (--uncontained lifts that)".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permission::{
        ApprovalMatcher, ApprovalScope, DecisionContext, Mode, PhaseAccess, StoredApproval,
        decide_call,
    };

    fn check(
        line: &str,
        reach: SandboxReach,
        uncontained: UncontainedCommandPolicy,
    ) -> PermissionAction {
        let approved = StoredApproval {
            profile: "build".to_owned(),
            permission: "bash".to_owned(),
            what: ApprovalMatcher::Exact(line.to_owned()),
            scope: ApprovalScope::Run,
        };
        let context = DecisionContext {
            mode: Mode::Yolo,
            approvals: vec![approved],
            uncontained_policy: uncontained,
            ..DecisionContext::new(PhaseAccess::Execute, "/repo".into())
        };
        let call = AgentToolCall::Command {
            line: line.to_owned(),
            cwd: "/repo".into(),
            reach,
        };
        decide_call(&call, &context).action
    }

    #[test]
    fn in_yolo_and_with_an_approval_a_command_that_nothing_holds_is_asked_about() {
        use UncontainedCommandPolicy::{AskEach, FollowRules};
        assert_eq!(
            check("touch a", SandboxReach::Unconfined, AskEach),
            PermissionAction::Ask
        );
        assert_eq!(
            check("ls", SandboxReach::Unconfined, AskEach),
            PermissionAction::Allow
        );
        assert_eq!(
            check("touch a", SandboxReach::Contained, AskEach),
            PermissionAction::Allow
        );
        assert_eq!(
            check("touch a", SandboxReach::Unconfined, FollowRules),
            PermissionAction::Allow
        );
    }
}
