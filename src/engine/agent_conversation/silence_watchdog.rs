//! Watches a silent turn: decides when its processes are checked, and reports what was found.
//!
//! Nothing is checked while events arrive, while the user is asked something, or while no turn runs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tokio::time::Instant;

use super::stall_diagnosis::{RunningToolCall, SilenceObservation, diagnose_silence};
use crate::adapter::AdapterEvent;
use crate::adapter::DecisionWait;
use crate::domain::ids::{RequestId, UnixMillis};
use crate::process::{ProcessActivity, ProcessIdentity, read_tree_activity};
use crate::store::utc_time;

/// The number of checks in one silence timeout, after the first check.
const CHECKS_PER_TIMEOUT: u32 = 3;

/// The silence of the running turn.
#[derive(Debug, Default)]
pub struct SilenceWatchdog {
    /// How long a turn must be silent before the first check; zero while no turn runs.
    timeout: Duration,
    last_activity: Option<Instant>,
    due: Option<Instant>,
    calls: BTreeMap<String, (String, Instant, UnixMillis)>,
    /// The requests that wait for an answer.
    pending_requests: BTreeSet<RequestId>,
    last_check: Option<(Instant, Vec<ProcessActivity>)>,
    last_reported: Option<String>,
}

impl SilenceWatchdog {
    /// Starts watching a turn that begins now.
    pub fn start(patience: Duration) -> Self {
        let mut silence = Self {
            timeout: patience,
            ..Self::default()
        };
        silence.on_activity();
        silence
    }

    /// Returns when the next check is due.
    pub fn next_check_at(&self) -> Option<Instant> {
        self.due
    }

    /// Notes activity, which restarts the timeout.
    pub fn on_activity(&mut self) {
        let now = Instant::now();
        (self.last_check, self.last_reported) = (None, None);
        self.last_activity = Some(now);
        let is_wanted = !self.timeout.is_zero() && self.pending_requests.is_empty();
        self.due = is_wanted.then(|| now + self.timeout);
    }

    /// Updates open calls and requests from an event of the turn.
    pub fn on_event(&mut self, event: &AdapterEvent) {
        match event {
            AdapterEvent::ToolStarted { item, title, .. } => {
                let call = (title.clone(), Instant::now(), utc_time::now());
                self.calls.insert(item.clone(), call);
            }
            AdapterEvent::ToolEnded { item, .. } => drop(self.calls.remove(item)),
            AdapterEvent::ApprovalRequested(asking)
                if asking.wait == DecisionWait::UntilUserDecides =>
            {
                self.pending_requests.insert(asking.request.clone());
            }
            AdapterEvent::QuestionAsked { request, .. } => {
                self.pending_requests.insert(request.clone());
            }
            AdapterEvent::RequestWithdrawn { request } => {
                self.pending_requests.remove(request);
            }
            _ => {}
        }
        self.on_activity();
    }

    /// Notes that a request was answered by the user or the rules.
    pub fn on_request_answered(&mut self, request: &RequestId) {
        self.pending_requests.remove(request);
        self.on_activity();
    }

    /// Notes that the agent waits for an answer of this program.
    pub fn on_agent_waits(&mut self, request: RequestId) {
        self.pending_requests.insert(request);
        self.on_activity();
    }

    /// Checks the processes; from the second check on, returns how long the turn has been silent and why, if the
    /// reason changed since the last report.
    pub async fn check_processes(
        &mut self,
        root: Option<ProcessIdentity>,
    ) -> Option<(Duration, String)> {
        let at = Instant::now();
        self.due = Some(at + self.timeout / CHECKS_PER_TIMEOUT);
        let root = root?;
        // A check that did not finish has seen nothing.
        let now = tokio::task::spawn_blocking(move || read_tree_activity(root))
            .await
            .ok()?;
        let (before_at, before) = self.last_check.replace((at, now))?;
        let (_, now) = self.last_check.as_ref()?;
        let oldest = self.calls.values().min_by_key(|(_, since, _)| *since);
        let call = oldest.map(|(title, since, at_clock)| RunningToolCall {
            title: title.clone(),
            since: *at_clock,
            age: at - *since,
        });
        let verdict = diagnose_silence(&SilenceObservation {
            root,
            call: call.as_ref(),
            before: &before,
            now,
            between: at - before_at,
        });
        if self.last_reported.as_ref() == Some(&verdict) {
            return None;
        }
        self.last_reported = Some(verdict.clone());
        Some((at - self.last_activity?, verdict))
    }
}
