//! Runs child sessions: tasks for agents of their own, beside the roles' turns and without influence on the
//! workflow.
//!
//! Each task is run by one `task_runner` when the controller gives it a slot. A child's calls are decided like all
//! others, under its own rules and the run's hard limits.

mod authorization;
pub(super) mod background_results;
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

/// The child sessions of a run and their active tasks.
pub(super) struct SubagentTasks {
    controller: TaskSemaphore,
    /// Whether the engine only does what a command line asked for and continues no run.
    is_one_shot: bool,
    active_tasks: BTreeMap<SessionId, ActiveTask>,
    user_timeouts: user_timeouts::UserTimeouts,
    events: ChannelPair<(SessionId, ChildEvent)>,
}

/// A child whose task waits for a slot or runs.
struct ActiveTask {
    order: TaskOrder,
    to_conversation: mpsc::Sender<ConversationCommand>,
    cancel: CancellationToken,
    /// The longest time that it may take, counted from when it gets its slot.
    time_limit: Duration,
    /// Tracks the last calls of the task's agent.
    loop_detector: LoopDetector,
    /// Tools that the CLI was started without.
    removed_tools: &'static [&'static str],
    /// Why it was stopped, if it was.
    stop_reason: Option<String>,
    /// Receivers that wait for its end.
    waiters: Vec<oneshot::Sender<TaskResult>>,
    /// The child's own work tree, if it writes.
    worktree: Option<Arc<ChildWorktree>>,
    stage: ActiveTaskStage,
    /// The agent's messages and calls.
    transcript: TaskTranscript,
}

/// An event of a child's task.
#[derive(Debug)]
pub enum ChildEvent {
    /// The task got its slot.
    Started,
    Conversation(ConversationEvent),
    /// The user did not answer the child's request in time.
    RequestExpired(RequestId),
    /// The task is over, all its processes are gone, and the program's own files were checked.
    Finished {
        end: TaskOutcome,
        took: Duration,
        /// Files that differed and were restored.
        tampered: Result<Vec<TamperedFile>, StoreError>,
    },
    /// An event of the transfer of its changes into the user's tree.
    Patch(PatchEvent),
    /// The worktree of an earlier process was collected, with this result.
    WorktreeCollected(WorktreeGcResult),
}

impl SubagentTasks {
    /// Creates the state without tasks; the configuration gives the number of slots.
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

    /// Waits for the next event of a child's task. Cancel safe.
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

    /// Returns the child that made a request, and the request's id at its CLI.
    fn task_of_request(&self, request: &RequestId) -> Option<(&ActiveTask, RequestId)> {
        let (session, own) = request.as_str().split_once('/')?;
        let at_task = self.active_tasks.get(&SessionId::new(session))?;
        Some((at_task, RequestId::new(own)))
    }
}

/// Creates an id for a new session.
fn new_session_id() -> SessionId {
    SessionId::new(format!("ses_{}", uuid::Uuid::now_v7().simple()))
}

/// Returns the id of a child's request among those of all sessions.
fn qualified_request_id(session: &SessionId, own: &RequestId) -> RequestId {
    RequestId::new(format!("{session}/{own}"))
}

impl Engine {
    /// Returns a child session of this run.
    pub fn child_session(&self, session: &SessionId) -> Option<&ChildSession> {
        self.run.child_session(session)
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
                self.warn_once("save the raw stream", error)
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
                let known = self.run.child_session(&session);
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
                self.run.deltas.push(TextDelta::Child { session, text });
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

    /// Finishes a task after its processes are gone, and informs everyone that waits for it.
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
            // The receiver may be gone.
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
            .run
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

    /// Stops the task of a child; returns `false` if none is active.
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
            self.stop_child_task(
                session,
                "the agent that started the task no longer waits for it",
            );
        }
    }

    /// Marks tasks as cancelled that were active when an earlier process ended.
    ///
    /// # Errors
    /// Writing the record of the run failed.
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
            let error = "the program ended, the task can be continued".to_owned();
            self.record_task_end(
                &order,
                TaskOutcome::Cancelled { error },
                Duration::ZERO,
                None,
            )?;
        }
        self.mark_interrupted_discussions()
    }

    /// Returns whether a task waits for its slot or runs.
    pub fn has_active_tasks(&self) -> bool {
        !self.subagent_tasks.active_tasks.is_empty()
    }

    /// Returns how long a finished run waits for tasks that are still active.
    pub fn drain_timeout(&self) -> Duration {
        self.run.setup.config.limits.drain
    }

    /// Stops all children and records how they ended; afterwards none of their processes, slots or folders is left.
    pub(super) async fn shut_down_children(&mut self) {
        let all: Vec<SessionId> = self.subagent_tasks.active_tasks.keys().cloned().collect();
        for session in &all {
            self.stop_child_task(session, "the program ended, the task can be continued");
        }
        let controller = self.subagent_tasks.controller.clone();
        tokio::join!(controller.drain(Duration::ZERO), self.drain_child_events());
    }

    async fn drain_child_events(&mut self) {
        while !self.subagent_tasks.active_tasks.is_empty() {
            let (session, said) = self.subagent_tasks.next_event().await;
            // Its other requests need no denial: its process is being stopped.
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
            tracing::warn!("an answer arrived that no task was waiting for");
        }
    }
}

/// Cleans an agent's message so that it can be stored and shown.
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
