//! What one owner of the engine asks of another one.
//!
//! An owner does not know the others: it leaves a request in the [`super::run_context::RunContext`], and the engine
//! passes it to whom it concerns.

use crate::domain::event::Event;
use crate::domain::ids::{DiscussionId, SessionId};
use crate::domain::run::RunState;

use super::agent_tools::call_progress;

/// A request to another owner.
pub(super) enum OwnerRequest {
    /// Tells the waiting tool calls what a child does.
    ReportCallProgress {
        session: SessionId,
        /// The discussion in which the child speaks.
        discussion: Option<DiscussionId>,
        /// One line.
        line: String,
    },
}

impl OwnerRequest {
    /// Returns the progress that an event of a child means for the calls that wait for it.
    pub(super) fn from_child_event(state: &RunState, event: &Event) -> Option<Self> {
        call_progress::describe_child_progress(state, event)
    }
}
