//! Handles the group discussions of a run.
//!
//! A discussion changes nothing in the workflow, and the workflow waits for none.

use super::RunState;
use crate::domain::discussion::{DiscussionEvent, DiscussionStopReason, GroupDiscussion};
use crate::domain::effect::Effect;
use crate::domain::ids::{DiscussionId, SessionId, UnixMillis};

/// Applies an event of a discussion. Starting a discussion under an existing id changes nothing.
pub(super) fn on_discussion_event(
    state: &mut RunState,
    at: UnixMillis,
    id: &DiscussionId,
    news: &DiscussionEvent,
) -> Vec<Effect> {
    let mut known = state.discussions.iter_mut();
    match (known.find(|each| each.id() == id), news) {
        (Some(discussion), _) => discussion.apply(at, news),
        (None, DiscussionEvent::Started { order }) if order.id == *id => {
            state.discussions.push(GroupDiscussion::begin(at, order));
        }
        (None, _) => {}
    }
    Vec::new()
}

/// Stops all discussions, because the user stopped the run; their outcome is what there is so far.
pub(super) fn stop_all_discussions(state: &mut RunState) -> Vec<Effect> {
    let all = state.discussions.iter_mut();
    let mut stopped = Vec::new();
    for discussion in all.filter(|each| each.is_running()) {
        discussion
            .stopping
            .get_or_insert(DiscussionStopReason::User);
        stopped.push(discussion.id().clone());
    }
    if stopped.is_empty() {
        Vec::new()
    } else {
        vec![Effect::StopDiscussions(stopped)]
    }
}

/// Handles a program end: unfinished rounds are discarded, finished ones stay.
pub(super) fn on_program_ended(state: &mut RunState) {
    for discussion in &mut state.discussions {
        discussion.on_program_ended();
    }
}

/// Handles a deleted child session: its participant gets a new one.
pub(super) fn on_session_deleted(state: &mut RunState, session: &SessionId) {
    for discussion in &mut state.discussions {
        discussion.on_session_deleted(session);
    }
}

#[cfg(test)]
mod tests;
