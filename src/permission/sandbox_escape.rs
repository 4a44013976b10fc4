//! The floor for commands that run outside a CLI's own sandbox: each one asks, every time.
//!
//! How a command leaves the sandbox is in its [`SandboxReach`].

use super::floor_input::{FloorInput, FloorRestriction};
use super::rule::PermissionAction;
use super::stored_approval::MaxApprovalScope;
use super::{AgentToolCall, SandboxReach};

/// Asks about a command that would run outside the sandbox, whatever mode, rules and approvals say: those were
/// written for sandboxed commands.
pub fn check_outside_sandbox(looked: &FloorInput<'_>) -> Option<FloorRestriction> {
    let AgentToolCall::Command { reach, .. } = looked.call else {
        return None;
    };
    let how = match reach {
        SandboxReach::LeavesSandbox => "it would run outside the sandbox",
        // A command that is proven to only read needs no sandbox.
        SandboxReach::LetOut if looked.facts.only_reads => return None,
        SandboxReach::LetOut => "one of the CLI's own rules lets it run outside the sandbox",
        SandboxReach::Unconfined | SandboxReach::Contained => return None,
    };
    Some(FloorRestriction {
        action: PermissionAction::Ask,
        max_scope: MaxApprovalScope::Never,
        reason: how.to_owned(),
    })
}
