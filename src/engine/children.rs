//! Child sessions: tasks given to agents of their own, beside the roles' turns and without a word in the workflow.
//!
//! One piece of work each (`errand`), for which the controller gives places out. What a child asks for goes the way
//! of every call, under its own rules and the run's floors (`calls`). Refuses to know who shows any of it.

mod calls;
pub mod controller;
mod entitled;
mod errand;
mod files;
mod handing;
mod held;
mod history;
mod plot;
mod prompt;
mod removing;
mod reports;
mod speech;
mod start;
mod sweeping;
mod waiting;
mod writable;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::adapter::{AdapterCommand, AdapterEvent};
use crate::domain::event::{AgentActivity, Event};
use crate::domain::ids::{RequestId, SessionId};
use crate::domain::task::{ChildSession, TaskOrder, TaskOutcome, TaskResult};
use crate::domain::task_patch::TaskPatch;
use crate::domain::text_delta::TextDelta;
use crate::permission::loop_detector::LoopDetector;
use crate::store::{StoreError, TamperedFile};

use super::live::{Ask, Told};
use super::setup::Setup;
use super::tools::passed;
use super::{Engine, EngineError, INBOX, Mailbox, news};
use controller::Controller;
use handing::{Handed, Stage};
use history::History;
use plot::Plot;
use sweeping::Swept;

pub use removing::NotDeleted;
pub(super) use speech::SpeechAsk;
pub use start::{Caller, TaskAsk, TaskRefused, subagent};

/// The children of a run whose tasks are being done.
pub(super) struct Children {
    controller: Controller,
    /// Whether no run goes on here: what was asked for on a command line is all that is done.
    alone: bool,
    at_work: BTreeMap<SessionId, AtTask>,
    waits: waiting::Waits,
    said: Mailbox<(SessionId, Said)>,
}

/// A child whose task waits for a place or is being done.
struct AtTask {
    order: TaskOrder,
    asks: mpsc::Sender<Ask>,
    cancel: CancellationToken,
    /// How long it may take from its place on.
    limit: Duration,
    /// The last calls of its agent.
    calls: LoopDetector,
    /// Tools that its CLI was started without.
    removed: &'static [&'static str],
    /// Why it was stopped, where it was.
    stopped: Option<String>,
    /// Whoever waits for its end.
    waiters: Vec<oneshot::Sender<TaskResult>>,
    /// The tree of its own in which it writes.
    plot: Option<Arc<Plot>>,
    /// How far it is.
    stage: Stage,
    /// What its agent said and did.
    history: History,
}

/// What a child's work tells.
#[derive(Debug)]
pub enum Said {
    /// It got its place.
    Began,
    /// Its conversation told something.
    Told(Told),
    /// What it asked the user was not answered in time.
    Unanswered(RequestId),
    /// It is over, nothing of it is left, and the program's own files were compared.
    Ended {
        /// How.
        end: TaskOutcome,
        /// How long it took.
        took: Duration,
        /// What differed and was restored.
        tampered: Result<Vec<TamperedFile>, StoreError>,
    },
    /// Its changes are on their way into the user's tree.
    Handed(Handed),
    /// Its tree was left by an earlier program, and this is what was in it.
    Swept(Swept),
}

impl Children {
    /// None yet; the places are the configuration's.
    pub(super) fn new(setup: &Setup) -> Self {
        let limits = &setup.config.limits;
        Self {
            controller: Controller::new(
                limits.max_children,
                limits.per_adapter,
                setup.config.adapters.keys(),
            ),
            alone: false,
            at_work: BTreeMap::new(),
            waits: waiting::Waits::default(),
            said: mpsc::channel(INBOX),
        }
    }

    /// Waits for what a child's work tells next. Cancel safe.
    pub(super) async fn next(&mut self) -> (SessionId, Said) {
        let request = tokio::select! {
            biased;
            Some(said) = self.said.1.recv() => return said,
            request = passed(self.waits.due()) => request,
        };
        self.on_due(request)
    }

    pub(super) fn work_alone(&mut self) {
        self.alone = true;
    }

    /// The child that a request is of, and the request as its CLI named it.
    fn whose(&self, request: &RequestId) -> Option<(&AtTask, RequestId)> {
        let (session, own) = request.as_str().split_once('/')?;
        let at_task = self.at_work.get(&SessionId::new(session))?;
        Some((at_task, RequestId::new(own)))
    }
}

/// An id that no session has yet.
fn new_session() -> SessionId {
    SessionId::new(format!("ses_{}", uuid::Uuid::now_v7().simple()))
}

/// The name of a child's request among those of all sessions.
fn request_of(session: &SessionId, own: &RequestId) -> RequestId {
    RequestId::new(format!("{session}/{own}"))
}

impl Engine {
    /// A child session of this run.
    pub fn child(&self, session: &SessionId) -> Option<&ChildSession> {
        let mut children = self.state().children.iter();
        children.find(|child| child.session_id() == session)
    }

    pub(super) fn on_said(&mut self, session: SessionId, said: Said) -> Result<(), EngineError> {
        match said {
            Said::Began => {
                let began = session.clone();
                self.feed(Event::TaskDispatched { session: began })?;
                self.save_child(&session, None)
            }
            Said::Told(told) => self.on_child_told(session, told),
            Said::Unanswered(request) => self.on_child_unanswered(request),
            Said::Ended {
                end,
                took,
                tampered,
            } => self.on_child_ended(session, end, took, tampered?),
            Said::Handed(handed) => self.on_handed(&session, handed),
            Said::Swept(swept) => self.on_swept(&session, swept),
        }
    }

    fn on_child_told(&mut self, session: SessionId, told: Told) -> Result<(), EngineError> {
        match told {
            Told::Event(event) => self.on_child_event(session, event),
            Told::Silent(since, why) => {
                let news = AgentActivity::Silent {
                    seconds: since.as_secs(),
                    verdict: Some(why),
                };
                self.feed(Event::TaskActivity { session, news })
            }
            Told::RawFailed(error) => self.tell_trouble("keep the raw stream", error),
            Told::Started(_) | Told::Gone => Ok(()),
        }
    }

    fn on_child_event(
        &mut self,
        session: SessionId,
        event: AdapterEvent,
    ) -> Result<(), EngineError> {
        if let Some(news) = news::of(&event) {
            self.append_news(&session, &news)?;
            return self.feed(Event::TaskActivity { session, news });
        }
        match event {
            AdapterEvent::SessionOpened { external_id } => {
                let external_id = news::line(&external_id);
                let known = self.child(&session);
                if known.and_then(|child| child.external_id.as_ref()) != Some(&external_id) {
                    let opened = session.clone();
                    self.feed(Event::TaskOpened {
                        session: opened,
                        external_id,
                    })?;
                }
                self.save_child(&session, None)
            }
            asked @ (AdapterEvent::ApprovalRequested { .. }
            | AdapterEvent::HookApprovalRequested { .. }) => self.on_child_asked(&session, asked),
            AdapterEvent::QuestionAsked { request, questions } => {
                self.on_child_questioned(&session, &request, &questions)
            }
            AdapterEvent::RequestWithdrawn { request } => {
                self.on_withdrawn(request_of(&session, &request))
            }
            AdapterEvent::ToolBlocked { tool, reason } => {
                self.note_blocked(session, &tool, &reason)
            }
            AdapterEvent::TextDelta { text, .. } => {
                self.deltas.push(TextDelta::Child { session, text });
                Ok(())
            }
            _for_the_views_of_roles_alone => Ok(()),
        }
    }

    fn on_child_ended(
        &mut self,
        session: SessionId,
        end: TaskOutcome,
        took: Duration,
        tampered: Vec<TamperedFile>,
    ) -> Result<(), EngineError> {
        self.tell_tampered(&tampered)?;
        let Some(at_task) = self.children.at_work.get_mut(&session) else {
            return Ok(());
        };
        let end = match (end, &at_task.stopped) {
            (TaskOutcome::Cancelled { .. }, Some(error)) => TaskOutcome::Cancelled {
                error: error.clone(),
            },
            (end, _) => cleaned(end),
        };
        match at_task.plot.clone() {
            None => self.close_task(&session, end, took, None),
            Some(plot) => {
                at_task.stage = Stage::Saving(end, took);
                self.save_changes(&session, plot);
                Ok(())
            }
        }
    }

    /// Ends a task of which nothing is left, and tells who waits.
    fn close_task(
        &mut self,
        session: &SessionId,
        end: TaskOutcome,
        took: Duration,
        patch: Option<TaskPatch>,
    ) -> Result<(), EngineError> {
        let Some(at_task) = self.children.at_work.remove(session) else {
            return Ok(());
        };
        if let TaskOutcome::Completed { summary } = &end
            && !at_task.history.has(summary)
        {
            self.append_answer(&at_task.order, summary)?;
        }
        let result = self.end_task(&at_task.order, end, took, patch)?;
        for waiter in at_task.waiters {
            // Who waited may be gone.
            let _gone = waiter.send(result.clone());
        }
        match at_task.order.speaks {
            Some(speaks) => self.on_spoken(&speaks, result),
            None => Ok(()),
        }
    }

    /// Records a task's end, in the child's own files as well.
    fn end_task(
        &mut self,
        order: &TaskOrder,
        end: TaskOutcome,
        took: Duration,
        patch: Option<TaskPatch>,
    ) -> Result<TaskResult, EngineError> {
        let tool_calls = self.child(&order.session).map_or(0, |c| c.tool_calls);
        let result = TaskResult {
            task_id: order.session.clone(),
            agent: order.agent.clone(),
            name: order.short_name(),
            end,
            tool_calls,
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            patch,
        };
        self.feed(Event::TaskEnded(result.clone()))?;
        self.save_child(&order.session, Some(&result))?;
        Ok(result)
    }

    /// Stops the task of a child; `false` where none is being done.
    pub fn stop_child(&mut self, session: &SessionId, why: &str) -> bool {
        match self.children.at_work.get_mut(session) {
            Some(at_task) => {
                at_task.stopped.get_or_insert_with(|| news::line(why));
                at_task.cancel.cancel();
                self.tell_handed(session, Handed::GivenUp);
                true
            }
            None => false,
        }
    }

    pub(super) fn stop_children(&mut self, sessions: &[SessionId]) {
        for session in sessions {
            self.stop_child(session, "who gave the task does not wait for it any more");
        }
    }

    /// Says of tasks that were under way when an earlier program ended that they are cancelled.
    ///
    /// # Errors
    /// The record of the run cannot be kept.
    pub fn settle_children(&mut self) -> Result<(), EngineError> {
        let children = self.state().children.iter();
        let dead: Vec<TaskOrder> = children
            .filter(|child| {
                child.is_running() && !self.children.at_work.contains_key(child.session_id())
            })
            .map(|child| child.order.clone())
            .collect();
        for order in dead {
            let error = "the program ended; the task can be gone on with".to_owned();
            self.end_task(
                &order,
                TaskOutcome::Cancelled { error },
                Duration::ZERO,
                None,
            )?;
        }
        self.settle_discussions()
    }

    /// Tells whether a task waits for its place or is being done.
    pub fn has_tasks(&self) -> bool {
        !self.children.at_work.is_empty()
    }

    /// How long a run that is over waits for tasks that are not.
    pub fn drain_limit(&self) -> Duration {
        self.setup.config.limits.drain
    }

    /// Ends all children and records how they ended; afterwards no process, place or folder of theirs is left.
    pub(super) async fn end_children(&mut self) {
        let all: Vec<SessionId> = self.children.at_work.keys().cloned().collect();
        for session in &all {
            self.stop_child(session, "the program ended; the task can be gone on with");
        }
        let controller = self.children.controller.clone();
        tokio::join!(controller.drain(Duration::ZERO), self.hear_the_last());
    }

    async fn hear_the_last(&mut self) {
        while !self.children.at_work.is_empty() {
            let (session, said) = self.children.next().await;
            // What it still asks for is declined by nobody: its process is being ended.
            let counts = matches!(said, Said::Ended { .. } | Said::Handed(_));
            if counts && let Err(error) = self.on_said(session.clone(), said) {
                tracing::error!(%error, "the end of a task is not recorded");
                self.children.at_work.remove(&session);
            }
        }
    }

    fn order_child(&self, session: &SessionId, order: AdapterCommand) {
        let asks = self.children.at_work.get(session).map(|task| &task.asks);
        if asks.is_none_or(|asks| asks.try_send(Ask::Order(order)).is_err()) {
            tracing::warn!("an answer found no child that waits for it");
        }
    }
}

/// What an agent said, fit to be kept and shown.
fn cleaned(end: TaskOutcome) -> TaskOutcome {
    match end {
        TaskOutcome::Completed { summary } => {
            TaskOutcome::from_last_message(&news::block_with_end(&summary))
        }
        TaskOutcome::Failed { error } => TaskOutcome::Failed {
            error: news::block(&error),
        },
        end @ (TaskOutcome::Declined { .. }
        | TaskOutcome::Timeout { .. }
        | TaskOutcome::Cancelled { .. }) => end,
    }
}
