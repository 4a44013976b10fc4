//! What a floor looks at, and what it demands.

use super::AgentToolCall;
use super::decision_context::DecisionContext;
use super::required_permissions::RequiredPermissions;
use super::rule::{CallFacts, PermissionAction};
use super::stored_approval::MaxApprovalScope;

/// What a floor demands for a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FloorRestriction {
    /// Ask or deny.
    pub action: PermissionAction,
    /// How long an answer may be stored.
    pub max_scope: MaxApprovalScope,
    /// Why; for a deny, also what to do instead.
    pub reason: String,
}

/// What a floor looks at.
pub struct FloorInput<'a> {
    pub call: &'a AgentToolCall,
    /// The permissions that the call needs.
    pub checks: &'a RequiredPermissions,
    pub facts: CallFacts,
    pub context: &'a DecisionContext,
}
