//! What the transcript knows of requests that wait for a decision, and of decisions.

use std::collections::BTreeMap;

use super::tool_call_card::ToolCallCard;
use crate::domain::event::Approval;
use crate::domain::ids::RequestId;

/// Approval requests that have no decision yet.
#[derive(Debug, Default)]
pub(super) struct PendingApprovals(pub(super) BTreeMap<RequestId, Approval>);

impl ToolCallCard {
    /// Returns whether this call acts on `target`.
    pub(super) fn matches_target(&self, target: &str) -> bool {
        !target.is_empty() && self.subject() == target
    }
}
