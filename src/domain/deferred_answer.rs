//! What an agent asked for that is answered after its turn, as data.
//!
//! Refuses to know what becomes of it.

use serde::{Deserialize, Serialize};

use super::ids::RequestId;

/// A question whose agent was told to end its turn without the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeferredAnswer {
    /// Its request.
    pub request: RequestId,
    /// What the answer decides.
    pub about: DeferredDecision,
}

/// What an answer that comes late decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "about", rename_all = "snake_case")]
pub enum DeferredDecision {
    /// Nothing but what the agent does with it.
    Answer {
        /// What counts when nobody answers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        default: Option<String>,
    },
    /// Whether the plan goes on to its review.
    PlanExit,
    /// Nothing any more: the user said no to a planner that still worked, and this is what it is told.
    Stay {
        /// The user's word.
        told: String,
    },
    /// Whether the executor goes back to planning.
    PlanEnter {
        /// Why it wants to.
        reason: String,
    },
}
