//! The watch over a turn that says nothing: when its processes are looked at, and what came of it.
//!
//! While events flow, while the user is asked something and while no turn runs, nothing is looked at.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tokio::time::Instant;

use super::verdict::{Observed, OpenCall, verdict};
use crate::adapter::AdapterEvent;
use crate::domain::ids::{RequestId, UnixMillis};
use crate::process::{ProcessActivity, ProcessIdentity, read_tree_activity};
use crate::store::utc_time;

/// Into how many parts the first silence is divided: one of them lies between two looks.
const PARTS: u32 = 3;

/// What is known of the running turn's silence.
#[derive(Debug, Default)]
pub struct Silence {
    /// How long nothing must have come before the first look; zero while no turn runs.
    patience: Duration,
    last_sign: Option<Instant>,
    due: Option<Instant>,
    calls: BTreeMap<String, (String, Instant, UnixMillis)>,
    /// What waits for the user.
    asked: BTreeSet<RequestId>,
    looked: Option<(Instant, Vec<ProcessActivity>)>,
    told: Option<String>,
}

impl Silence {
    /// The watch over a turn that begins now.
    pub fn begin(patience: Duration) -> Self {
        let mut silence = Self {
            patience,
            ..Self::default()
        };
        silence.on_sign();
        silence
    }

    /// When it is time to look.
    pub fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Notes that something came.
    pub fn on_sign(&mut self) {
        let now = Instant::now();
        (self.looked, self.told) = (None, None);
        self.last_sign = Some(now);
        let is_wanted = !self.patience.is_zero() && self.asked.is_empty();
        self.due = is_wanted.then(|| now + self.patience);
    }

    /// Notes what an event of the turn means for its silence.
    pub fn on_event(&mut self, event: &AdapterEvent) {
        match event {
            AdapterEvent::ToolStarted { item, title, .. } => {
                let call = (title.clone(), Instant::now(), utc_time::now());
                self.calls.insert(item.clone(), call);
            }
            AdapterEvent::ToolEnded { item, .. } => drop(self.calls.remove(item)),
            AdapterEvent::ApprovalRequested { request, .. }
            | AdapterEvent::QuestionAsked { request, .. } => {
                self.asked.insert(request.clone());
            }
            AdapterEvent::RequestWithdrawn { request } => drop(self.asked.remove(request)),
            _ => {}
        }
        self.on_sign();
    }

    /// Notes that the user, or the rules, answered.
    pub fn on_answered(&mut self, request: &RequestId) {
        self.asked.remove(request);
        self.on_sign();
    }

    /// Its agent waits for an answer of the program's.
    pub fn on_waits(&mut self, request: RequestId) {
        self.asked.insert(request);
        self.on_sign();
    }

    /// Looks at the processes; from the second look on tells how long nothing came and why, where that is
    /// another reason than was told.
    pub async fn look(&mut self, root: Option<ProcessIdentity>) -> Option<(Duration, String)> {
        let at = Instant::now();
        self.due = Some(at + self.patience / PARTS);
        let root = root?;
        // A look that did not come to its end has seen nothing.
        let now = tokio::task::spawn_blocking(move || read_tree_activity(root))
            .await
            .ok()?;
        let (before_at, before) = self.looked.replace((at, now))?;
        let (_, now) = self.looked.as_ref()?;
        let oldest = self.calls.values().min_by_key(|(_, since, _)| *since);
        let call = oldest.map(|(title, since, at_clock)| OpenCall {
            title: title.clone(),
            since: *at_clock,
            age: at - *since,
        });
        let verdict = verdict(&Observed {
            root,
            call: call.as_ref(),
            before: &before,
            now,
            between: at - before_at,
        });
        if self.told.as_ref() == Some(&verdict) {
            return None;
        }
        self.told = Some(verdict.clone());
        Some((at - self.last_sign?, verdict))
    }
}
