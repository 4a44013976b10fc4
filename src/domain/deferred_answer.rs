//! Describes an agent's question whose answer arrives only after the agent's turn.

use serde::{Deserialize, Serialize};

use super::ids::RequestId;

/// A question whose agent ends its turn without the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeferredAnswer {
    pub request: RequestId,
    /// What the answer decides.
    pub about: DeferredDecision,
}

/// What a late answer decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "about", rename_all = "snake_case")]
pub enum DeferredDecision {
    /// Only what the agent does with it.
    Answer {
        /// The answer that counts when the user gives none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        default: Option<String>,
    },
    /// Whether the plan goes to its review.
    PlanExit,
    /// Nothing any more: the user said no while the planner was still working. The planner gets this text.
    Stay {
        /// What the user said.
        told: String,
    },
    /// Whether the executor returns to planning.
    PlanEnter {
        /// Why the executor wants that.
        reason: String,
    },
}
