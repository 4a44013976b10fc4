//! Decides a dispute by a discussion, as `--on-dispute discuss` says.
//!
//! The question keeps waiting meanwhile. A discussion that failed, was stopped or has no decision leaves it to the user.

use crate::domain::discussion::{FINDING_DOES_NOT_HOLD, FINDING_HOLDS, GroupDiscussion};
use crate::domain::findings::DisputeSide;
use crate::domain::question::QuestionAnswer;
use crate::domain::run::RunState;
use crate::domain::task::TaskWaitMode;
use crate::engine::{DiscussionRequest, Engine, EngineError, TaskCaller};
use crate::mcp::tools::group_discuss::GroupDiscussToolArguments;

/// What follows for the dispute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DisputeProgress {
    /// The discussion is running.
    Discussing,
    Decided(QuestionAnswer),
    /// The user has to decide, for this reason.
    Undecided(String),
}

/// Starts the discussion about a disputed finding, or looks how far it is.
///
/// # Errors
/// Writing the record of the run failed.
pub(super) fn advance_dispute(engine: &mut Engine, n: u32) -> Result<DisputeProgress, EngineError> {
    if let Some(discussion) = discussion_of_dispute(engine.state(), n) {
        return Ok(assess_discussion(discussion));
    }
    let request = DiscussionRequest {
        caller: TaskCaller::User,
        arguments: GroupDiscussToolArguments::default(),
        finding: Some(n),
        wait_mode: TaskWaitMode::Background,
    };
    Ok(match engine.start_discussion(&request)? {
        Ok(_) => DisputeProgress::Discussing,
        Err(refused) => DisputeProgress::Undecided(refused.to_string()),
    })
}

/// Returns the last discussion about the finding since the review that made it a dispute.
fn discussion_of_dispute(state: &RunState, n: u32) -> Option<&GroupDiscussion> {
    let since = state.last_review().map(|review| review.at);
    state.discussions.iter().rfind(|discussion| {
        discussion.order.finding == Some(n)
            && since.is_none_or(|since| discussion.begun_at >= since)
    })
}

fn assess_discussion(discussion: &GroupDiscussion) -> DisputeProgress {
    if discussion.is_running() {
        return DisputeProgress::Discussing;
    }
    let outcome = discussion.outcome.as_ref();
    let decision = outcome.and_then(|outcome| outcome.decision.as_ref());
    let side = match decision.map(|decision| decision.as_str()) {
        Some(FINDING_HOLDS) => DisputeSide::Reviewer,
        Some(FINDING_DOES_NOT_HOLD) => DisputeSide::Planner,
        Some(_) | None => {
            let why = "the discussion of the finding has no result";
            return DisputeProgress::Undecided(why.to_owned());
        }
    };
    DisputeProgress::Decided(QuestionAnswer::DecideDispute { side })
}
