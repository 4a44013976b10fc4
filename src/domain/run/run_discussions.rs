//! The group discussions of a run.
//!
//! Refuses to know what a discussion does: it changes nothing in the workflow, and the workflow waits for none.

use super::RunState;
use crate::domain::discussion::{DiscussionEvent, DiscussionStopReason, GroupDiscussion};
use crate::domain::effect::Effect;
use crate::domain::ids::{DiscussionId, SessionId, UnixMillis};

/// An id counts once: what is begun under one that is there already changes nothing.
pub(super) fn on_discussion_event(
    state: &mut RunState,
    at: UnixMillis,
    id: &DiscussionId,
    news: &DiscussionEvent,
) -> Vec<Effect> {
    let mut known = state.discussions.iter_mut();
    match (known.find(|each| each.id() == id), news) {
        (Some(discussion), _) => discussion.apply(at, news),
        (None, DiscussionEvent::Begun { order }) if order.id == *id => {
            state.discussions.push(GroupDiscussion::begin(at, order));
        }
        (None, _) => {}
    }
    Vec::new()
}

/// The user stopped the run: what is discussed stops too, with what there is.
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

/// The program had ended: rounds that were cut off are given up, finished ones stay.
pub(super) fn on_program_ended(state: &mut RunState) {
    for discussion in &mut state.discussions {
        discussion.on_program_ended();
    }
}

/// A child session is gone for good; whoever spoke in it begins a new one.
pub(super) fn on_session_deleted(state: &mut RunState, session: &SessionId) {
    for discussion in &mut state.discussions {
        discussion.on_session_deleted(session);
    }
}

#[cfg(test)]
mod tests;
