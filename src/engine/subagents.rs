//! Child sessions: tasks given to agents of their own, beside the roles' turns and without a word in the workflow.
//!
//! One piece of work each (`errand`), for which the controller gives places out. What a child asks for goes the way
//! of every call, under its own rules and the run's floors (`loop_detector`). Refuses to know who shows any of it.

mod authorization;
mod background_results;
mod child_approvals;
mod child_deletion;
mod child_prompt;
mod child_sandbox;
mod child_session_files;
mod child_worktree;
mod patch_apply;
mod speech_session;
mod task_runner;
pub mod task_semaphore;
mod task_start;
mod task_transcript;
mod user_timeouts;
mod worktree_gc;
mod write_access;

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

use super::agent_conversation::{ConversationCommand, ConversationEvent};
use super::agent_tools::wait_until_due;
use super::run_setup::RunSetup;
use super::{ChannelPair, Engine, EngineError, INPUT_CHANNEL_CAPACITY, agent_activity};
use child_worktree::ChildWorktree;
use patch_apply::{ActiveTaskStage, PatchEvent};
use task_semaphore::TaskSemaphore;
use task_transcript::TaskTranscript;
use worktree_gc::WorktreeGcResult;

pub use child_deletion::ChildDeletionError;
pub(super) use speech_session::SpeechTask;
pub use task_start::{TaskCaller, TaskRequest, TaskStartError, find_subagent};

/// The children of a run whose tasks are being done.
pub(super) struct SubagentTasks {
    controller: TaskSemaphore,
    /// Whether no run goes on here: what was asked for on a command line is all that is done.
    is_one_shot: bool,
    active_tasks: BTreeMap<SessionId, ActiveTask>,
    user_timeouts: user_timeouts::UserTimeouts,
    events: ChannelPair<(SessionId, ChildEvent)>,
}

/// A child whose task waits for a place or is being done.
struct ActiveTask {
    order: TaskOrder,
    to_conversation: mpsc::Sender<ConversationCommand>,
    cancel: CancellationToken,
    /// How long it may take from its place on.
    time_limit: Duration,
    /// The last calls of its agent.
    loop_detector: LoopDetector,
    /// Tools that its CLI was started without.
    removed_tools: &'static [&'static str],
    /// Why it was stopped, where it was.
    stop_reason: Option<String>,
    /// Whoever waits for its end.
    waiters: Vec<oneshot::Sender<TaskResult>>,
    /// The tree of its own in which it writes.
    worktree: Option<Arc<ChildWorktree>>,
    /// How far it is.
    stage: ActiveTaskStage,
    /// What its agent said and did.
    transcript: TaskTranscript,
}

/// What a child's work tells.
#[derive(Debug)]
pub enum ChildEvent {
    /// It got its place.
    Started,
    /// Its conversation told something.
    Conversation(ConversationEvent),
    /// What it asked the user was not answered in time.
    RequestExpired(RequestId),
    /// It is over, nothing of it is left, and the program's own files were compared.
    Finished {
        /// How.
        end: TaskOutcome,
        /// How long it took.
        took: Duration,
        /// What differed and was restored.
        tampered: Result<Vec<TamperedFile>, StoreError>,
    },
    /// Its changes are on their way into the user's tree.
    Patch(PatchEvent),
    /// Its tree was left by an earlier program, and this is what was in it.
    WorktreeCollected(WorktreeGcResult),
}

impl SubagentTasks {
    /// None yet; the places are the configuration's.
    pub(super) fn new(setup: &RunSetup) -> Self {
        let limits = &setup.config.limits;
        Self {
            controller: TaskSemaphore::new(
                limits.max_children,
                limits.per_adapter,
                setup.config.adapters.keys(),
            ),
            is_one_shot: false,
            active_tasks: BTreeMap::new(),
            user_timeouts: user_timeouts::UserTimeouts::default(),
            events: mpsc::channel(INPUT_CHANNEL_CAPACITY),
        }
    }

    /// Waits for what a child's work tells next. Cancel safe.
    pub(super) async fn next_event(&mut self) -> (SessionId, ChildEvent) {
        let request = tokio::select! {
            biased;
            Some(said) = self.events.1.recv() => return said,
            request = wait_until_due(self.user_timeouts.next_deadline()) => request,
        };
        self.on_user_timeout(request)
    }

    pub(super) fn set_one_shot(&mut self) {
        self.is_one_shot = true;
    }

    /// The child that a request is of, and the request as its CLI named it.
    fn task_of_request(&self, request: &RequestId) -> Option<(&ActiveTask, RequestId)> {
        let (session, own) = request.as_str().split_once('/')?;
        let at_task = self.active_tasks.get(&SessionId::new(session))?;
        Some((at_task, RequestId::new(own)))
    }
}

/// An id that no session has yet.
fn new_session_id() -> SessionId {
    SessionId::new(format!("ses_{}", uuid::Uuid::now_v7().simple()))
}

/// The name of a child's request among those of all sessions.
fn qualified_request_id(session: &SessionId, own: &RequestId) -> RequestId {
    RequestId::new(format!("{session}/{own}"))
}

impl Engine {
    /// A child session of this run.
    pub fn child_session(&self, session: &SessionId) -> Option<&ChildSession> {
        let mut children = self.state().children.iter();
        children.find(|child| child.session_id() == session)
    }

    pub(super) fn handle_child_event(
        &mut self,
        session: SessionId,
        said: ChildEvent,
    ) -> Result<(), EngineError> {
        match said {
            ChildEvent::Started => {
                let began = session.clone();
                self.apply_event(Event::TaskDispatched { session: began })?;
                self.save_child(&session, None)
            }
            ChildEvent::Conversation(told) => self.on_child_conversation_event(session, told),
            ChildEvent::RequestExpired(request) => self.on_child_request_expired(request),
            ChildEvent::Finished {
                end,
                took,
                tampered,
            } => self.on_child_finished(session, end, took, tampered?),
            ChildEvent::Patch(handed) => self.on_patch_event(&session, handed),
            ChildEvent::WorktreeCollected(swept) => self.on_worktree_collected(&session, swept),
        }
    }

    fn on_child_conversation_event(
        &mut self,
        session: SessionId,
        told: ConversationEvent,
    ) -> Result<(), EngineError> {
        match told {
            ConversationEvent::Adapter(event) => self.on_child_adapter_event(session, event),
            ConversationEvent::Silent(since, why) => {
                let news = AgentActivity::Silent {
                    seconds: since.as_secs(),
                    verdict: Some(why),
                };
                self.apply_event(Event::TaskActivity { session, news })
            }
            ConversationEvent::RawStreamFailed(error) => {
                self.warn_once("keep the raw stream", error)
            }
            ConversationEvent::Started(_) | ConversationEvent::Closed => Ok(()),
        }
    }

    fn on_child_adapter_event(
        &mut self,
        session: SessionId,
        event: AdapterEvent,
    ) -> Result<(), EngineError> {
        if let Some(news) = agent_activity::to_activity(&event) {
            self.append_child_activity(&session, &news)?;
            return self.apply_event(Event::TaskActivity { session, news });
        }
        match event {
            AdapterEvent::SessionOpened { external_id } => {
                let external_id = agent_activity::clean_line(&external_id);
                let known = self.child_session(&session);
                if known.and_then(|child| child.external_id.as_ref()) != Some(&external_id) {
                    let opened = session.clone();
                    self.apply_event(Event::TaskOpened {
                        session: opened,
                        external_id,
                    })?;
                }
                self.save_child(&session, None)
            }
            asked @ (AdapterEvent::ApprovalRequested { .. }
            | AdapterEvent::HookApprovalRequested { .. }) => {
                self.on_child_approval_request(&session, asked)
            }
            AdapterEvent::QuestionAsked { request, questions } => {
                self.on_child_question(&session, &request, &questions)
            }
            AdapterEvent::RequestWithdrawn { request } => {
                self.on_request_withdrawn(qualified_request_id(&session, &request))
            }
            AdapterEvent::ToolBlocked { tool, reason } => {
                self.record_blocked_call(session, &tool, &reason)
            }
            AdapterEvent::TextDelta { text, .. } => {
                self.deltas.push(TextDelta::Child { session, text });
                Ok(())
            }
            _for_the_views_of_roles_alone => Ok(()),
        }
    }

    fn on_child_finished(
        &mut self,
        session: SessionId,
        end: TaskOutcome,
        took: Duration,
        tampered: Vec<TamperedFile>,
    ) -> Result<(), EngineError> {
        self.report_tampered_files(&tampered)?;
        let Some(at_task) = self.subagent_tasks.active_tasks.get_mut(&session) else {
            return Ok(());
        };
        let end = match (end, &at_task.stop_reason) {
            (TaskOutcome::Cancelled { .. }, Some(error)) => TaskOutcome::Cancelled {
                error: error.clone(),
            },
            (end, _) => sanitize_outcome(end),
        };
        match at_task.worktree.clone() {
            None => self.finish_task(&session, end, took, None),
            Some(plot) => {
                at_task.stage = ActiveTaskStage::Saving(end, took);
                self.save_child_changes(&session, plot);
                Ok(())
            }
        }
    }

    /// Ends a task of which nothing is left, and tells who waits.
    fn finish_task(
        &mut self,
        session: &SessionId,
        end: TaskOutcome,
        took: Duration,
        patch: Option<TaskPatch>,
    ) -> Result<(), EngineError> {
        let Some(at_task) = self.subagent_tasks.active_tasks.remove(session) else {
            return Ok(());
        };
        if let TaskOutcome::Completed { summary } = &end
            && !at_task.transcript.contains_text(summary)
        {
            self.append_final_message(&at_task.order, summary)?;
        }
        let result = self.record_task_end(&at_task.order, end, took, patch)?;
        for waiter in at_task.waiters {
            // Who waited may be gone.
            let _gone = waiter.send(result.clone());
        }
        match at_task.order.speaks {
            Some(speaks) => self.on_speech_finished(&speaks, result),
            None => Ok(()),
        }
    }

    /// Records a task's end, in the child's own files as well.
    fn record_task_end(
        &mut self,
        order: &TaskOrder,
        end: TaskOutcome,
        took: Duration,
        patch: Option<TaskPatch>,
    ) -> Result<TaskResult, EngineError> {
        let tool_calls = self
            .child_session(&order.session)
            .map_or(0, |c| c.tool_calls);
        let result = TaskResult {
            task_id: order.session.clone(),
            agent: order.agent.clone(),
            name: order.short_name(),
            end,
            tool_calls,
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            patch,
        };
        self.apply_event(Event::TaskEnded(result.clone()))?;
        self.save_child(&order.session, Some(&result))?;
        Ok(result)
    }

    /// Stops the task of a child; `false` where none is being done.
    pub fn stop_child_task(&mut self, session: &SessionId, why: &str) -> bool {
        match self.subagent_tasks.active_tasks.get_mut(session) {
            Some(at_task) => {
                at_task
                    .stop_reason
                    .get_or_insert_with(|| agent_activity::clean_line(why));
                at_task.cancel.cancel();
                self.queue_patch_event(session, PatchEvent::Abandoned);
                true
            }
            None => false,
        }
    }

    pub(super) fn stop_child_tasks(&mut self, sessions: &[SessionId]) {
        for session in sessions {
            self.stop_child_task(session, "who gave the task does not wait for it any more");
        }
    }

    /// Says of tasks that were under way when an earlier program ended that they are cancelled.
    ///
    /// # Errors
    /// The record of the run cannot be kept.
    pub fn cancel_orphaned_tasks(&mut self) -> Result<(), EngineError> {
        let children = self.state().children.iter();
        let dead: Vec<TaskOrder> = children
            .filter(|child| {
                child.is_running()
                    && !self
                        .subagent_tasks
                        .active_tasks
                        .contains_key(child.session_id())
            })
            .map(|child| child.order.clone())
            .collect();
        for order in dead {
            let error = "the program ended; the task can be gone on with".to_owned();
            self.record_task_end(
                &order,
                TaskOutcome::Cancelled { error },
                Duration::ZERO,
                None,
            )?;
        }
        self.mark_interrupted_discussions()
    }

    /// Tells whether a task waits for its place or is being done.
    pub fn has_active_tasks(&self) -> bool {
        !self.subagent_tasks.active_tasks.is_empty()
    }

    /// How long a run that is over waits for tasks that are not.
    pub fn drain_timeout(&self) -> Duration {
        self.setup.config.limits.drain
    }

    /// Ends all children and records how they ended; afterwards no process, place or folder of theirs is left.
    pub(super) async fn shut_down_children(&mut self) {
        let all: Vec<SessionId> = self.subagent_tasks.active_tasks.keys().cloned().collect();
        for session in &all {
            self.stop_child_task(session, "the program ended; the task can be gone on with");
        }
        let controller = self.subagent_tasks.controller.clone();
        tokio::join!(controller.drain(Duration::ZERO), self.drain_child_events());
    }

    async fn drain_child_events(&mut self) {
        while !self.subagent_tasks.active_tasks.is_empty() {
            let (session, said) = self.subagent_tasks.next_event().await;
            // What it still asks for is declined by nobody: its process is being ended.
            let counts = matches!(said, ChildEvent::Finished { .. } | ChildEvent::Patch(_));
            if counts && let Err(error) = self.handle_child_event(session.clone(), said) {
                tracing::error!(%error, "the end of a task is not recorded");
                self.subagent_tasks.active_tasks.remove(&session);
            }
        }
    }

    fn send_child_command(&self, session: &SessionId, order: AdapterCommand) {
        let asks = self
            .subagent_tasks
            .active_tasks
            .get(session)
            .map(|task| &task.to_conversation);
        if asks.is_none_or(|asks| asks.try_send(ConversationCommand::Adapter(order)).is_err()) {
            tracing::warn!("an answer found no child that waits for it");
        }
    }
}

/// What an agent said, fit to be kept and shown.
fn sanitize_outcome(end: TaskOutcome) -> TaskOutcome {
    match end {
        TaskOutcome::Completed { summary } => {
            TaskOutcome::from_last_message(&agent_activity::clean_block_keep_end(&summary))
        }
        TaskOutcome::Failed { error } => TaskOutcome::Failed {
            error: agent_activity::clean_block(&error),
        },
        end @ (TaskOutcome::Declined { .. }
        | TaskOutcome::Timeout { .. }
        | TaskOutcome::Cancelled { .. }) => end,
    }
}
