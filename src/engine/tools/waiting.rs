//! Calls that are not answered yet: what was said about them, how long they may wait, and whose answer came too late.
//!
//! Refuses to act on any of it.

use std::collections::{BTreeMap, VecDeque};

use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep_until};

use super::door::Doors;
use super::questions::Waits;
use super::{Performer, ToolCall};
use crate::adapter::{AdapterCommand, CallDecision as Answered};
use crate::domain::ids::{DiscussionId, RequestId, RunId, SessionId};
use crate::engine::Inward;
use crate::mcp::socket_protocol::ToolAnswer;

/// A call that is not answered yet.
pub(super) struct Open {
    pub(super) call: ToolCall,
    pub(super) performer: &'static Performer,
    pub(super) give: oneshot::Sender<ToolAnswer>,
    /// Where it is told meanwhile what it waits for; `None` where its CLI does not want to know.
    pub(super) progress: Option<watch::Sender<String>>,
    /// What it waits for, once it does.
    pub(super) waits: Option<Waits>,
    /// The children that it waits for.
    pub(super) awaits: Vec<SessionId>,
    /// The discussion that it waits for.
    pub(super) discusses: Option<DiscussionId>,
}

/// What became of a request.
enum Word {
    /// The decision about a call.
    Decided(Answered),
    /// The user's answer; `None` where there is none.
    Answered(Option<BTreeMap<String, String>>),
}

/// The tools of a run.
#[derive(Default)]
pub(in crate::engine) struct Tools {
    pub(in crate::engine) doors: Doors,
    pub(super) open: BTreeMap<RequestId, Open>,
    /// What was said about calls and is not acted on yet.
    words: VecDeque<(RequestId, Word)>,
    /// Questions whose calls were answered by `pending` and that nobody answers from these instants on.
    late: BTreeMap<RequestId, Instant>,
}

impl Tools {
    /// The tools of a run that nobody called yet.
    pub(in crate::engine) fn of(run: &RunId) -> Self {
        Self {
            doors: Doors::of(run),
            ..Self::default()
        }
    }

    /// Takes an answer where it is for a tool's call; gives it back where it is a CLI's.
    pub(in crate::engine) fn take(&mut self, order: AdapterCommand) -> Option<AdapterCommand> {
        match order {
            AdapterCommand::DecideApproval(request, answer) if self.open.contains_key(&request) => {
                self.words.push_back((request, Word::Decided(answer)));
                None
            }
            AdapterCommand::AnswerQuestions(request, answers) if self.knows(&request) => {
                self.words.push_back((request, Word::Answered(answers)));
                None
            }
            other => Some(other),
        }
    }

    fn knows(&self, request: &RequestId) -> bool {
        self.open.contains_key(request)
    }

    /// Notes what a call waits for.
    pub(super) fn wait(&mut self, request: &RequestId, waits: Waits) {
        if let Some(open) = self.open.get_mut(request) {
            open.waits = Some(waits);
        }
    }

    /// Notes the children that a call waits for.
    pub(super) fn wait_for(&mut self, request: &RequestId, children: Vec<SessionId>) {
        if let Some(open) = self.open.get_mut(request) {
            open.awaits = children;
        }
    }

    /// Notes the discussion that a call waits for.
    pub(super) fn wait_for_discussion(&mut self, request: &RequestId, id: DiscussionId) {
        if let Some(open) = self.open.get_mut(request) {
            open.discusses = Some(id);
        }
    }

    /// Tells the calls that wait for a child, or for the discussion in which it speaks, what it does; no other.
    pub(super) fn tell_progress(
        &self,
        (child, discussion): (&SessionId, Option<&DiscussionId>),
        line: &str,
    ) {
        let waits = |open: &&Open| {
            let is_discussed = discussion.is_some() && open.discusses.as_ref() == discussion;
            open.awaits.contains(child) || is_discussed
        };
        let wanting = self.open.values().filter(waits);
        for progress in wanting.filter_map(|open| open.progress.as_ref()) {
            progress.send_replace(line.to_owned());
        }
    }

    pub(super) fn waits(&self, request: &RequestId) -> Option<&Waits> {
        self.open.get(request)?.waits.as_ref()
    }

    /// Notes until when a question is open whose call waits no longer.
    pub(super) fn make_late(&mut self, request: &RequestId, until: Instant) {
        self.late.insert(request.clone(), until);
    }

    /// Takes out a question that was open for longer than its call waited.
    pub(super) fn take_late(&mut self, request: &RequestId) -> bool {
        self.late.remove(request).is_some()
    }

    /// The call or the question whose time is up next.
    fn due(&self) -> Option<(Instant, RequestId)> {
        let late = self
            .late
            .iter()
            .map(|(request, due)| (*due, request.clone()));
        let waiting = self
            .open
            .iter()
            .filter_map(|(request, open)| Some((open.waits.as_ref()?.due(), request.clone())));
        waiting.chain(late).min_by_key(|(due, _)| *due)
    }

    /// Waits for what comes next: a decision that is to be acted on, or a knock. Cancel safe.
    pub(in crate::engine) async fn next(&mut self) -> Inward {
        match self.words.pop_front() {
            Some((request, Word::Decided(answer))) => {
                return Inward::ToolDecided(request, answer);
            }
            Some((request, Word::Answered(answers))) => {
                return Inward::ToolAnswered(request, answers);
            }
            None => {}
        }
        let due = self.due();
        tokio::select! {
            biased;
            request = passed(due) => Inward::ToolDue(request),
            knock = self.doors.next() => Inward::Knock(knock),
        }
    }
}

/// Waits until the instant, and tells whose it was. Cancel safe.
pub(in crate::engine) async fn passed(due: Option<(Instant, RequestId)>) -> RequestId {
    match due {
        Some((at, request)) => {
            sleep_until(at).await;
            request
        }
        None => std::future::pending().await,
    }
}
