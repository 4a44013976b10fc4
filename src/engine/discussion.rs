//! Group discussions: performs what comes next in each, and tells each what came of it.
//!
//! Who speaks when, what counts and when it is over is said by the discussion itself, which is pure. Each participant
//! speaks in a child session of its own (`children`), or there is an error. Refuses to decide anything of a discussion.

mod asked;
mod checks;
mod derived;
mod finding;
mod participants;
mod sources;
mod speaking;
mod stored;
mod unread;

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::domain::discussion::{
    DiscussionEffect, DiscussionEvent, DiscussionOutcome, DiscussionStatus, DiscussionStopReason,
    GroupDiscussion, SpeechErrorCode, StopRequest,
};
use crate::domain::event::Event;
use crate::domain::ids::{DiscussionId, SessionId, UnixMillis};
use crate::domain::phase::{Phase, TurnHold};
use crate::domain::task::TaskWaitMode;
use crate::domain::turn::Role;
use crate::engine::{Caller, Engine, EngineError};
use crate::store::scoped_read::FileText;
use crate::store::{WorkdirLayout, run_archives};

pub use asked::{DiscussionAsk, DiscussionRefused, MAX_CONTEXT, Means, Planned, TOO_MUCH_CONTEXT};
pub use derived::{Derived, derived};
pub(super) use derived::{budget_in_words, derived_budgets};
pub use sources::SourceRefused;
pub(super) use stored::for_an_agent;
pub use stored::{as_json, in_markdown};

/// The discussions that this program performs.
#[derive(Default)]
pub(super) struct Discussions {
    at_work: BTreeMap<DiscussionId, Table>,
}

/// What a discussion takes that goes on.
struct Table {
    /// The texts of its files.
    sources: Vec<FileText>,
    /// Whoever waits for its end.
    waiter: Option<oneshot::Sender<GroupDiscussion>>,
    /// When to look at it again without an event.
    due: Option<Instant>,
    /// With which error those end who were stopped.
    stopped: BTreeMap<SessionId, SpeechErrorCode>,
    /// Stops the command that runs.
    cancel: CancellationToken,
}

/// A discussion that was begun: its id, and where it comes once it is over.
pub type Begun = (DiscussionId, oneshot::Receiver<GroupDiscussion>);

impl Discussions {
    /// Stops the commands of these, and has each be looked at at once: it knows already that it is to stop.
    pub(super) fn stop(&mut self, all: &[DiscussionId]) {
        for id in all {
            if let Some(table) = self.at_work.get_mut(id) {
                table.cancel.cancel();
                table.due = Some(Instant::now());
            }
        }
    }

    /// Waits until one is to be looked at again. Cancel safe.
    pub(super) fn due(&self) -> impl Future<Output = DiscussionId> + use<> {
        let all = self.at_work.iter();
        let due = all.filter_map(|(id, table)| Some((table.due?, id.clone())));
        let next = due.min_by_key(|(at, _)| *at);
        async move {
            match next {
                Some((at, id)) => {
                    sleep_until(at).await;
                    id
                }
                None => std::future::pending().await,
            }
        }
    }
}

impl Engine {
    /// A discussion of this run.
    pub fn discussion(&self, id: &DiscussionId) -> Option<&GroupDiscussion> {
        let mut all = self.state().discussions.iter();
        all.find(|discussion| discussion.id() == id)
    }

    /// Begins a discussion. What comes back at once is its id, and where it comes once it is over.
    ///
    /// # Errors
    /// The record of the run cannot be kept. A discussion that is not begun is no error: the inner one says why.
    pub fn begin_discussion(
        &mut self,
        ask: &DiscussionAsk,
    ) -> Result<Result<Begun, DiscussionRefused>, EngineError> {
        let Planned { order, sources } = match self.plan_discussion(ask) {
            Ok(planned) => planned,
            Err(refused) => return Ok(Err(refused)),
        };
        let id = order.id.clone();
        let begun = DiscussionEvent::Begun {
            order: Box::new(order),
        };
        let waiting = self.open_table(&id, sources, ask.waits);
        self.feed_discussion(&id, begun)?;
        self.go_on_discussing(&id)?;
        Ok(Ok((id, waiting)))
    }

    /// Goes on with a discussion that was stopped, was cut off or failed, after its last finished round.
    ///
    /// # Errors
    /// As [`Engine::begin_discussion`].
    pub fn continue_discussion(
        &mut self,
        id: &DiscussionId,
        waits: TaskWaitMode,
    ) -> Result<Result<Begun, DiscussionRefused>, EngineError> {
        let sources = match self.may_go_on(id) {
            Ok(sources) => sources,
            Err(refused) => return Ok(Err(refused)),
        };
        let waiting = self.open_table(id, sources, waits);
        self.feed_discussion(id, DiscussionEvent::Continued)?;
        self.go_on_discussing(id)?;
        Ok(Ok((id.clone(), waiting)))
    }

    fn may_go_on(&self, id: &DiscussionId) -> Result<Vec<FileText>, DiscussionRefused> {
        let cannot = |why: String| Err(DiscussionRefused::CannotGoOn(why));
        let discussion = match self.discussion(id) {
            None => {
                return cannot(elsewhere(self.journal().layout(), id));
            }
            Some(discussion) => discussion,
        };
        match discussion.status {
            DiscussionStatus::Cancelled | DiscussionStatus::Failed => {}
            DiscussionStatus::Running => return cannot(format!("{id} is still going on")),
            DiscussionStatus::Completed => {
                return cannot(format!("{id} is over; begin another one on what is left"));
            }
        }
        let names: Vec<String> = discussion
            .order
            .files
            .iter()
            .map(|file| file.path.clone())
            .collect();
        let caller = match &discussion.order.parent {
            None => Caller::User,
            Some(session) => Caller::Session(session.clone()),
        };
        Ok(self.means().sources(&caller, &names)?)
    }

    fn open_table(
        &mut self,
        id: &DiscussionId,
        sources: Vec<FileText>,
        waits: TaskWaitMode,
    ) -> oneshot::Receiver<GroupDiscussion> {
        let (waiter, waiting) = oneshot::channel();
        let table = Table {
            sources,
            waiter: match waits {
                TaskWaitMode::Foreground => Some(waiter),
                TaskWaitMode::Background => None,
            },
            due: None,
            stopped: BTreeMap::new(),
            cancel: self.cancel.child_token(),
        };
        self.discussions.at_work.insert(id.clone(), table);
        waiting
    }

    /// Stops a discussion; `false` where it does not go on.
    ///
    /// # Errors
    /// The record of the run cannot be kept.
    pub fn stop_discussion(
        &mut self,
        id: &DiscussionId,
        reason: DiscussionStopReason,
    ) -> Result<bool, EngineError> {
        let Some(table) = self.discussions.at_work.get(id) else {
            return Ok(false);
        };
        table.cancel.cancel();
        self.feed_discussion(id, DiscussionEvent::StopAsked { reason })?;
        self.go_on_discussing(id)?;
        Ok(true)
    }

    /// Stops what the turn of a role waits for that is over.
    pub(super) fn stop_awaited_discussions(&mut self, role: Role) -> Result<(), EngineError> {
        let session = self.state().session(role).map(|session| session.id.clone());
        let is_awaited = |(id, table): (&DiscussionId, &Table)| {
            let discussion = self.discussion(id)?;
            let waits = table
                .waiter
                .as_ref()
                .is_some_and(|waiter| !waiter.is_closed());
            (waits && discussion.order.parent.is_some() && discussion.order.parent == session)
                .then(|| id.clone())
        };
        let awaited: Vec<DiscussionId> = self
            .discussions
            .at_work
            .iter()
            .filter_map(is_awaited)
            .collect();
        for id in awaited {
            self.stop_discussion(&id, DiscussionStopReason::User)?;
        }
        Ok(())
    }

    /// The program ends: nobody begins to speak any more, and each discussion is kept as it stands.
    pub(super) fn end_discussions(&mut self) {
        let all: Vec<DiscussionId> = self.discussions.at_work.keys().cloned().collect();
        for id in all {
            if let Err(error) = self.cut_off(&id) {
                tracing::error!(%error, "the end of a discussion is not recorded");
                self.discussions.at_work.remove(&id);
            }
        }
    }

    /// Says of discussions that went on when an earlier program ended that they were cut off.
    pub(super) fn settle_discussions(&mut self) -> Result<(), EngineError> {
        let all = self.state().discussions.iter();
        let cut_off: Vec<DiscussionId> = all
            .filter(|each| each.is_running() && !self.discussions.at_work.contains_key(each.id()))
            .map(|each| each.id().clone())
            .collect();
        cut_off.iter().try_for_each(|id| self.cut_off(id))
    }

    /// What was being said is given up, and the finished rounds stay.
    fn cut_off(&mut self, id: &DiscussionId) -> Result<(), EngineError> {
        self.feed_discussion(id, DiscussionEvent::CutOff)?;
        if let Some(table) = self.discussions.at_work.remove(id) {
            table.cancel.cancel();
        }
        Ok(())
    }

    pub(super) fn feed_discussion(
        &mut self,
        id: &DiscussionId,
        news: DiscussionEvent,
    ) -> Result<(), EngineError> {
        self.feed(Event::Discussion {
            id: id.clone(),
            news,
        })?;
        self.save_discussion(id)
    }

    /// Does what comes next in a discussion until there is nothing to be done before something happens.
    pub(super) fn go_on_discussing(&mut self, id: &DiscussionId) -> Result<(), EngineError> {
        while self.discussions.at_work.contains_key(id) {
            let now = self.journal.now();
            let next = self
                .discussion(id)
                .map(|discussion| discussion.next_effect(now));
            match next {
                Some(DiscussionEffect::Speak(_)) if self.state().turn_hold == TurnHold::Held => {
                    // It goes on once turns may start again.
                    if let Some(table) = self.discussions.at_work.get_mut(id) {
                        table.due = None;
                    }
                    return Ok(());
                }
                Some(DiscussionEffect::Speak(speakers)) => self.have_speak(id, speakers)?,
                Some(DiscussionEffect::RunCheck {
                    n,
                    round,
                    asked_by,
                    order,
                }) => self.check(id, (n, round), asked_by, order)?,
                Some(DiscussionEffect::Stop(stop)) => {
                    if !self.stop_speakers(id, stop)? {
                        return Ok(());
                    }
                }
                Some(DiscussionEffect::Wait { until }) => {
                    self.look_again(id, now, until);
                    return Ok(());
                }
                Some(DiscussionEffect::Conclude(outcome)) => return self.conclude(id, *outcome),
                Some(DiscussionEffect::Over) | None => drop(self.discussions.at_work.remove(id)),
            }
        }
        Ok(())
    }

    pub(super) fn go_on_with_all_discussions(&mut self) -> Result<(), EngineError> {
        let ids: Vec<DiscussionId> = self.discussions.at_work.keys().cloned().collect();
        for id in ids {
            self.go_on_discussing(&id)?;
        }
        Ok(())
    }

    fn look_again(&mut self, id: &DiscussionId, now: UnixMillis, until: UnixMillis) {
        let wait = u64::try_from(until.0.saturating_sub(now.0)).unwrap_or(0);
        if let Some(table) = self.discussions.at_work.get_mut(id) {
            // Not sooner than it takes to look: a clock that stands must not make a circle of it.
            table.due = Some(Instant::now() + Duration::from_millis(wait.max(1)));
        }
    }

    /// Stops who speaks; tells whether somebody was found to speak no more, so that there is more to be done.
    fn stop_speakers(&mut self, id: &DiscussionId, stop: StopRequest) -> Result<bool, EngineError> {
        let mut is_more = false;
        if stop.check.is_some()
            && let Some(table) = self.discussions.at_work.get(id)
        {
            table.cancel.cancel();
        }
        for session in stop.sessions {
            if let Some(table) = self.discussions.at_work.get_mut(id) {
                table.stopped.insert(session.clone(), stop.code);
                table.due = None;
            }
            if !self.stop_child(&session, "the discussion does not wait for it any more") {
                self.spoke_no_more(id, &session, stop.code)?;
                is_more = true;
            }
        }
        Ok(is_more)
    }

    /// It is over: who waited is told, and the sessions go unless they are kept or could be gone on with.
    fn conclude(
        &mut self,
        id: &DiscussionId,
        outcome: DiscussionOutcome,
    ) -> Result<(), EngineError> {
        let outcome = Box::new(outcome);
        self.feed_discussion(id, DiscussionEvent::Ended { outcome })?;
        let table = self.discussions.at_work.remove(id);
        let Some(discussion) = self.discussion(id).cloned() else {
            return Ok(());
        };
        let goes = !discussion.order.terms.keep_sessions && !discussion.can_resume();
        if goes {
            for session in discussion.sessions.values() {
                // One that is gone already is where it is to be.
                let _gone = self.delete_child(session)?;
            }
        }
        let waiter = table.and_then(|table| table.waiter);
        let heard = waiter.is_some_and(|waiter| waiter.send(discussion.clone()).is_ok());
        let later = match heard {
            true => Vec::new(),
            false => self.hear_later(&discussion),
        };
        let mut later = later.into_iter();
        later.try_for_each(|(role, text)| self.feed(Event::LateResultReceived { role, text }))
    }

    /// Who is told with their next turn how it ended: who began it; of one about a finding the reviewer, and while the
    /// review goes on the planner, who answers it next.
    fn hear_later(&self, discussion: &GroupDiscussion) -> Vec<(Role, String)> {
        let roles = [Role::Planner, Role::Reviewer];
        let is_its = |role: &Role| {
            let session = self.state().session(*role);
            session.is_some_and(|session| Some(&session.id) == discussion.order.parent.as_ref())
        };
        let told = for_an_agent(discussion);
        let Some(n) = discussion.order.finding else {
            let role = roles.into_iter().find(is_its);
            return role.map(|role| (role, told)).into_iter().collect();
        };
        let evidence = |whose: &str, what: &str| {
            format!(
                "Other agents discussed finding {n} of {whose}. Weigh what they came to as evidence{what}; it settles \
                 nothing by itself.\n{told}"
            )
        };
        let planner = (self.state().phase == Phase::Review)
            .then(|| (Role::Planner, evidence("the review", " when you answer it")));
        let reviewer = (Role::Reviewer, evidence("yours", ""));
        std::iter::once(reviewer).chain(planner).collect()
    }
}

/// That a discussion is not of this run, and how it is gone on with where it lies in the history.
fn elsewhere(layout: &WorkdirLayout, id: &DiscussionId) -> String {
    match run_archives::find_archive_of_discussion(layout, id) {
        Ok(Some(name)) => format!(
            "{id} lies with its run in the history: `agent-collab resume {name}` brings that back, then \
             `agent-collab discuss --id {id}` goes on with it"
        ),
        // A history that cannot be listed is told by whoever lists it.
        Ok(None) | Err(_) => format!("there is no discussion {id} in this run, nor in the history"),
    }
}
