//! Runs group discussions: performs the next effect of each, and reports the results to it.
//!
//! Who speaks when, what counts and when it ends is decided by the discussion itself, which is pure. Each
//! participant speaks in a child session of its own (`subagents`); without one there is an error.

mod attachments;
mod check_runner;
mod discussion_file;
mod discussion_planner;
mod discussion_preview;
mod discussion_request;
mod finding_topic;
mod participant_resolver;
mod secret_files;
mod speeches;

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::engine_error::EngineError;
use crate::domain::discussion::{
    DiscussionEffect, DiscussionEvent, DiscussionOutcome, DiscussionStatus, DiscussionStopReason,
    GroupDiscussion, SpeechErrorCode, StopRequest,
};
use crate::domain::event::Event;
use crate::domain::ids::{DiscussionId, SessionId, UnixMillis};
use crate::domain::phase::{Phase, TurnHold};
use crate::domain::task::TaskWaitMode;
use crate::domain::turn::Role;
use crate::engine::TaskCaller;
use crate::engine::discussion_runner::discussion_file::save_discussion;
use crate::engine::discussion_runner::discussion_planner::build_planner;
use crate::engine::owner_request::OwnerRequest;
use crate::engine::run_context::RunContext;
use crate::engine::subagents::SubagentTasks;
use crate::engine::subagents::delete_child;
use crate::store::scoped_read::FileText;
use crate::store::{WorkdirLayout, run_archives};

pub use attachments::AttachmentError;
pub(super) use discussion_file::discussion_for_agent;
pub use discussion_file::{discussion_to_json, discussion_to_markdown};
pub(super) use discussion_planner::plan_discussion;
pub use discussion_planner::{
    CONTEXT_TOO_LONG, DiscussionPlan, DiscussionPlanner, DiscussionStartError, MAX_CONTEXT_CHARS,
};
pub use discussion_preview::{DiscussionPreview, build_discussion_preview};
pub(super) use discussion_preview::{describe_budget, preview_budgets, preview_discussion};
pub use discussion_request::DiscussionRequest;

/// The discussions that this process runs.
#[derive(Default)]
pub(super) struct DiscussionRegistry {
    running: BTreeMap<DiscussionId, RunningDiscussion>,
}

/// The engine's data of a running discussion.
struct RunningDiscussion {
    /// The texts of its attached files.
    attachments: Vec<FileText>,
    /// The receiver that waits for the end.
    waiter: Option<oneshot::Sender<GroupDiscussion>>,
    /// When to advance it if no event arrives.
    wake_at: Option<Instant>,
    /// The error codes of the speakers that were stopped.
    stop_codes: BTreeMap<SessionId, SpeechErrorCode>,
    /// Stops the running check command.
    cancel: CancellationToken,
}

/// The id of a started discussion, and the channel that delivers it once it is over.
pub type DiscussionHandle = (DiscussionId, oneshot::Receiver<GroupDiscussion>);

impl DiscussionRegistry {
    /// Stops the commands of these discussions and wakes each one now: it knows already that it must stop.
    pub(super) fn cancel_and_wake(&mut self, all: &[DiscussionId]) {
        for id in all {
            if let Some(table) = self.running.get_mut(id) {
                table.cancel.cancel();
                table.wake_at = Some(Instant::now());
            }
        }
    }

    /// Waits until a discussion is due. Cancel safe.
    pub(super) fn wait_until_due(&self) -> impl Future<Output = DiscussionId> + use<> {
        let all = self.running.iter();
        let due = all.filter_map(|(id, table)| Some((table.wake_at?, id.clone())));
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

impl DiscussionRegistry {
    /// Starts a discussion. Returns at once with its id and the channel that delivers it once it is over.
    ///
    /// # Errors
    /// Writing the record of the run failed. A discussion that cannot start is not such an error: the inner one
    /// says why.
    pub(super) fn start(
        &mut self,
        run: &mut RunContext,
        subagents: &mut SubagentTasks,
        ask: &DiscussionRequest,
    ) -> Result<Result<DiscussionHandle, DiscussionStartError>, EngineError> {
        let DiscussionPlan {
            order,
            attachments: sources,
        } = match plan_discussion(run, ask) {
            Ok(planned) => planned,
            Err(refused) => return Ok(Err(refused)),
        };
        let id = order.id.clone();
        let started = DiscussionEvent::Started {
            order: Box::new(order),
        };
        let waiting = self.register(run, &id, sources, ask.wait_mode);
        apply_discussion_event(run, &id, started)?;
        self.advance(run, subagents, &id)?;
        Ok(Ok((id, waiting)))
    }

    /// Resumes a discussion that was stopped, was interrupted or failed, after its last finished round.
    ///
    /// # Errors
    /// Writing the record of the run failed; the inner error says why the discussion cannot be resumed.
    pub(super) fn resume(
        &mut self,
        run: &mut RunContext,
        subagents: &mut SubagentTasks,
        id: &DiscussionId,
        waits: TaskWaitMode,
    ) -> Result<Result<DiscussionHandle, DiscussionStartError>, EngineError> {
        let sources = match check_discussion_resumable(run, id) {
            Ok(sources) => sources,
            Err(refused) => return Ok(Err(refused)),
        };
        let waiting = self.register(run, id, sources, waits);
        apply_discussion_event(run, id, DiscussionEvent::Continued)?;
        self.advance(run, subagents, id)?;
        Ok(Ok((id.clone(), waiting)))
    }

    fn register(
        &mut self,
        run: &mut RunContext,
        id: &DiscussionId,
        sources: Vec<FileText>,
        waits: TaskWaitMode,
    ) -> oneshot::Receiver<GroupDiscussion> {
        let (waiter, waiting) = oneshot::channel();
        let table = RunningDiscussion {
            attachments: sources,
            waiter: match waits {
                TaskWaitMode::Foreground => Some(waiter),
                TaskWaitMode::Background => None,
            },
            wake_at: None,
            stop_codes: BTreeMap::new(),
            cancel: run.cancel.child_token(),
        };
        self.running.insert(id.clone(), table);
        waiting
    }

    /// Stops a discussion; returns `false` if it is not running.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub(super) fn stop(
        &mut self,
        run: &mut RunContext,
        subagents: &mut SubagentTasks,
        id: &DiscussionId,
        reason: DiscussionStopReason,
    ) -> Result<bool, EngineError> {
        let Some(table) = self.running.get(id) else {
            return Ok(false);
        };
        table.cancel.cancel();
        apply_discussion_event(run, id, DiscussionEvent::StopAsked { reason })?;
        self.advance(run, subagents, id)?;
        Ok(true)
    }

    /// Stops the discussions that the ended turn of a session was waiting for.
    pub(super) fn stop_awaited(
        &mut self,
        run: &mut RunContext,
        subagents: &mut SubagentTasks,
        session: &SessionId,
    ) -> Result<(), EngineError> {
        let is_awaited = |(id, running): (&DiscussionId, &RunningDiscussion)| {
            let waiter = running.waiter.as_ref();
            let waits = waiter.is_some_and(|waiter| !waiter.is_closed());
            let parent = run.state().discussion(id)?.order.parent.as_ref();
            (waits && parent == Some(session)).then(|| id.clone())
        };
        let awaited: Vec<DiscussionId> = self.running.iter().filter_map(is_awaited).collect();
        for id in awaited {
            self.stop(run, subagents, &id, DiscussionStopReason::User)?;
        }
        Ok(())
    }

    /// Interrupts all discussions when the program ends: no new speech starts, and each discussion keeps its
    /// current state.
    pub(super) fn shut_down(&mut self, run: &mut RunContext) {
        let all: Vec<DiscussionId> = self.running.keys().cloned().collect();
        for id in all {
            if let Err(error) = self.interrupt(run, &id) {
                tracing::error!(%error, "the end of a discussion is not recorded");
                self.running.remove(&id);
            }
        }
    }

    /// Marks discussions as interrupted that were running when an earlier process ended.
    pub(super) fn mark_interrupted(&mut self, run: &mut RunContext) -> Result<(), EngineError> {
        let all = run.state().discussions.iter();
        let cut_off: Vec<DiscussionId> = all
            .filter(|each| each.is_running() && !self.running.contains_key(each.id()))
            .map(|each| each.id().clone())
            .collect();
        cut_off.iter().try_for_each(|id| self.interrupt(run, id))
    }

    /// Interrupts a discussion: unfinished speeches are dropped, and finished rounds stay.
    fn interrupt(&mut self, run: &mut RunContext, id: &DiscussionId) -> Result<(), EngineError> {
        apply_discussion_event(run, id, DiscussionEvent::CutOff)?;
        if let Some(table) = self.running.remove(id) {
            table.cancel.cancel();
        }
        Ok(())
    }

    /// Performs the effects of a discussion until it must wait for something.
    pub(super) fn advance(
        &mut self,
        run: &mut RunContext,
        subagents: &mut SubagentTasks,
        id: &DiscussionId,
    ) -> Result<(), EngineError> {
        while self.running.contains_key(id) {
            let now = run.journal.now();
            let next = run
                .state()
                .discussion(id)
                .map(|discussion| discussion.next_effect(now));
            match next {
                Some(DiscussionEffect::Speak(_)) if run.state().turn_hold == TurnHold::Held => {
                    // It continues when turns may start again.
                    if let Some(table) = self.running.get_mut(id) {
                        table.wake_at = None;
                    }
                    return Ok(());
                }
                Some(DiscussionEffect::Speak(speakers)) => {
                    self.start_speeches(run, subagents, id, speakers)?
                }
                Some(DiscussionEffect::RunCheck {
                    n,
                    round,
                    asked_by,
                    order,
                }) => self.start_check(run, id, n, round, asked_by, order)?,
                Some(DiscussionEffect::Stop(stop)) => {
                    self.stop_speakers(run, id, stop);
                    return Ok(());
                }
                Some(DiscussionEffect::Wait { until }) => {
                    self.schedule_wakeup(id, now, until);
                    return Ok(());
                }
                Some(DiscussionEffect::Conclude(outcome)) => {
                    return self.conclude(run, id, *outcome);
                }
                Some(DiscussionEffect::Over) | None => drop(self.running.remove(id)),
            }
        }
        Ok(())
    }

    pub(super) fn advance_all(
        &mut self,
        run: &mut RunContext,
        subagents: &mut SubagentTasks,
    ) -> Result<(), EngineError> {
        let ids: Vec<DiscussionId> = self.running.keys().cloned().collect();
        for id in ids {
            self.advance(run, subagents, &id)?;
        }
        Ok(())
    }

    fn schedule_wakeup(&mut self, id: &DiscussionId, now: UnixMillis, until: UnixMillis) {
        let wait = u64::try_from(until.0.saturating_sub(now.0)).unwrap_or(0);
        if let Some(table) = self.running.get_mut(id) {
            // At least 1 ms: a clock that does not move must not cause a busy loop.
            table.wake_at = Some(Instant::now() + Duration::from_millis(wait.max(1)));
        }
    }

    /// Stops speakers; the discussion continues as each one ends.
    fn stop_speakers(&mut self, run: &mut RunContext, id: &DiscussionId, stop: StopRequest) {
        if stop.check.is_some()
            && let Some(table) = self.running.get(id)
        {
            table.cancel.cancel();
        }
        if let Some(table) = self.running.get_mut(id) {
            for session in &stop.sessions {
                table.stop_codes.insert(session.clone(), stop.code);
                table.wake_at = None;
            }
        }
        run.request(OwnerRequest::StopSpeeches {
            discussion: id.clone(),
            sessions: stop.sessions,
            code: stop.code,
        });
    }

    /// Ends a discussion: informs the waiter, and deletes the sessions unless they are kept or can be resumed.
    fn conclude(
        &mut self,
        run: &mut RunContext,
        id: &DiscussionId,
        outcome: DiscussionOutcome,
    ) -> Result<(), EngineError> {
        let outcome = Box::new(outcome);
        apply_discussion_event(run, id, DiscussionEvent::Ended { outcome })?;
        let table = self.running.remove(id);
        let Some(discussion) = run.state().discussion(id).cloned() else {
            return Ok(());
        };
        let goes = !discussion.order.terms.keep_sessions && !discussion.can_resume();
        if goes {
            for session in discussion.sessions.values() {
                // An already deleted session is fine.
                let _gone = delete_child(run, session)?;
            }
        }
        let waiter = table.and_then(|table| table.waiter);
        let heard = waiter.is_some_and(|waiter| waiter.send(discussion.clone()).is_ok());
        let later = if heard {
            Vec::new()
        } else {
            deferred_result_recipients(run, &discussion)
        };
        let mut later = later.into_iter();
        later.try_for_each(|(role, text)| run.record(Event::LateResultReceived { role, text }))
    }
}

fn check_discussion_resumable(
    run: &RunContext,
    id: &DiscussionId,
) -> Result<Vec<FileText>, DiscussionStartError> {
    let cannot = |why: String| Err(DiscussionStartError::CannotResume(why));
    let discussion = match run.state().discussion(id) {
        None => {
            return cannot(describe_missing_discussion(run.journal.layout(), id));
        }
        Some(discussion) => discussion,
    };
    match discussion.status {
        DiscussionStatus::Cancelled | DiscussionStatus::Failed => {}
        DiscussionStatus::Running => return cannot(format!("{id} is still running")),
        DiscussionStatus::Completed => {
            return cannot(format!(
                "{id} is finished; start another discussion about what is left"
            ));
        }
    }
    let names: Vec<String> = discussion
        .order
        .files
        .iter()
        .map(|file| file.path.clone())
        .collect();
    let caller = match &discussion.order.parent {
        None => TaskCaller::User,
        Some(session) => TaskCaller::Session(session.clone()),
    };
    Ok(build_planner(run).read_attachments(&caller, &names)?)
}

pub(super) fn apply_discussion_event(
    run: &mut RunContext,
    id: &DiscussionId,
    news: DiscussionEvent,
) -> Result<(), EngineError> {
    run.record(Event::Discussion {
        id: id.clone(),
        news,
    })?;
    save_discussion(run, id)
}

/// Returns the roles that learn the result with their next turn: the one that started the discussion; for one
/// about a finding, the reviewer and, during the review, also the planner, who answers the finding next.
fn deferred_result_recipients(
    run: &RunContext,
    discussion: &GroupDiscussion,
) -> Vec<(Role, String)> {
    let told = discussion_for_agent(discussion);
    let Some(n) = discussion.order.finding else {
        let parent = discussion.order.parent.as_ref();
        let role = parent.and_then(|parent| run.state().role_of_session(parent));
        return role.map(|role| (role, told)).into_iter().collect();
    };
    let evidence = |whose: &str, what: &str| {
        format!(
            "Other agents discussed finding {n} of {whose}. Weigh what they came to as evidence{what}; it settles \
             nothing by itself.\n{told}"
        )
    };
    let planner = (run.state().phase == Phase::Review)
        .then(|| (Role::Planner, evidence("the review", " when you answer it")));
    let reviewer = (Role::Reviewer, evidence("yours", ""));
    std::iter::once(reviewer).chain(planner).collect()
}

/// Says that a discussion is not in this run, and how to resume it if it is in the history.
fn describe_missing_discussion(layout: &WorkdirLayout, id: &DiscussionId) -> String {
    match run_archives::find_archive_of_discussion(layout, id) {
        Ok(Some(name)) => format!(
            "{id} is in the history with its run: run `agent-collab resume {name}` first, then \
             `agent-collab discuss --id {id}`"
        ),
        // A history that cannot be listed is reported by the code that lists it.
        Ok(None) | Err(_) => format!("no discussion {id} in this run or in the history"),
    }
}
