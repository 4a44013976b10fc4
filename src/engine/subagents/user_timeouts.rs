//! Limits how long a child waits for the user, for an answer to a question or for a decision about a call.
//!
//! Both wait in the common queue, labelled with the child's path, and only for a part of the task's time: a
//! child that gets no answer decides for itself and still has time left for it.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::domain::ids::{RequestId, SessionId};
use crate::engine::subagents::child_event::ChildEvent;

/// One wait may take this fraction of the task's time.
const TASK_TIME_DIVISOR: u32 = 3;

/// The deadlines of children that wait for the user.
#[derive(Debug, Default)]
pub(super) struct UserTimeouts(BTreeMap<RequestId, UserTimeout>);

#[derive(Debug)]
struct UserTimeout {
    limit: Duration,
    at: Instant,
}

impl UserTimeouts {
    /// Returns the earliest deadline.
    pub(super) fn next_deadline(&self) -> Option<(Instant, RequestId)> {
        let all = self
            .0
            .iter()
            .map(|(request, wait)| (wait.at, request.clone()));
        all.min_by_key(|(at, _)| *at)
    }

    /// Turns the end of a wait into an event of the child.
    pub(super) fn on_due(&mut self, request: RequestId) -> (SessionId, ChildEvent) {
        let wait = self.0.remove(&request);
        let limit = wait.map_or(Duration::ZERO, |wait| wait.limit);
        let session = request.child.clone().unwrap_or(SessionId::new(""));
        (session, ChildEvent::RequestExpired(request, limit))
    }

    /// Starts the timeout for a request of a child whose task may take this time.
    pub(super) fn start(&mut self, request: RequestId, task_time_limit: Duration) {
        let limit = task_time_limit / TASK_TIME_DIVISOR;
        let at = Instant::now() + limit;
        self.0.insert(request, UserTimeout { limit, at });
    }
}

#[cfg(test)]
mod tests;
