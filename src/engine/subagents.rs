//! Runs child sessions: tasks for agents of their own, beside the roles' turns and without influence on the
//! workflow.
//!
//! Each task is run by one `task_runner` when the controller gives it a slot. A child's calls are decided like all
//! others, under its own rules and the run's hard limits.

pub(super) mod authorization;
pub(super) mod background_results;
mod child_deletion;
pub(super) mod child_event;
pub(super) mod child_paths;
mod child_prompt;
pub(super) mod child_session_files;
mod child_worktree;
mod patch_apply;
mod speech_session;
mod task_request;
mod task_runner;
pub mod task_semaphore;
mod task_start;
mod task_start_error;
mod task_transcript;
mod user_timeouts;
mod worktree_gc;
mod write_access;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::engine_error::EngineError;
use super::input_channel::{ChannelPair, INPUT_CHANNEL_CAPACITY};
use crate::domain::event::Event;
use crate::domain::ids::{RequestId, SessionId};
use crate::domain::task::{TaskError, TaskOrder, TaskOutcome, TaskResult};
use crate::domain::task_patch::TaskPatch;
use crate::store::TamperedFile;
use child_event::{ChildEvent, ChildEventSender, PatchEvent};

use super::agent_activity;
use super::conversations::OpenConversations;
use super::owner_request::OwnerRequest;
use super::request_deadline::wait_until_due;
use super::run_context::RunContext;
use super::run_setup::RunSetup;
use child_session_files::{append_final_message, save_child};
use child_worktree::ChildWorktree;
use patch_apply::ActiveTaskStage;
use task_semaphore::TaskSemaphore;
use task_transcript::TaskTranscript;
use worktree_gc::on_worktree_collected;

pub use child_deletion::ChildDeletionError;
pub(super) use child_deletion::{delete_child, prune_children};
pub(super) use speech_session::SpeechTask;
pub use task_request::{TaskCaller, TaskRequest};
pub use task_start::find_subagent;
pub(super) use task_start::{TaskStart, offered_agents};
pub use task_start_error::TaskStartError;

/// The child sessions of a run and their active tasks.
pub(super) struct SubagentTasks {
    controller: TaskSemaphore,
    active_tasks: BTreeMap<SessionId, ActiveTask>,
    user_timeouts: user_timeouts::UserTimeouts,
    events: ChannelPair<(SessionId, ChildEvent)>,
}

/// A child whose task waits for a slot or runs.
struct ActiveTask {
    order: TaskOrder,
    cancel: CancellationToken,
    /// The longest time that it may take, counted from when it gets its slot.
    time_limit: Duration,
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
        self.user_timeouts.on_due(request)
    }

    /// Starts the timeout for a request of a child: a part of its task's own time limit, also for a speech.
    pub(super) fn start_user_timeout(&mut self, request: RequestId) {
        let task = request.child.as_ref();
        let task = task.and_then(|session| self.active_tasks.get(session));
        let time_limit = task.map_or(Duration::ZERO, |task| task.time_limit);
        self.user_timeouts.start(request, time_limit);
    }

    fn event_sender(&self) -> ChildEventSender {
        ChildEventSender(self.events.0.clone())
    }

    /// Returns the semaphore that gives tasks their slots.
    pub(super) fn semaphore(&self) -> TaskSemaphore {
        self.controller.clone()
    }

    /// Forgets a task whose end could not be recorded.
    pub(super) fn forget_task(&mut self, session: &SessionId) {
        self.active_tasks.remove(session);
    }
}

/// Creates an id for a new session.
pub(super) fn new_session_id() -> SessionId {
    SessionId::new(format!("ses_{}", uuid::Uuid::now_v7().simple()))
}

impl SubagentTasks {
    /// Handles an event of a task. Those of its conversation and its user's timeouts are handled by the engine.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub(super) fn on_event(
        &mut self,
        run: &mut RunContext,
        conversations: &OpenConversations,
        session: &SessionId,
        event: ChildEvent,
    ) -> Result<(), EngineError> {
        match event {
            ChildEvent::Started => {
                let session = session.clone();
                run.record(Event::TaskDispatched {
                    session: session.clone(),
                })?;
                save_child(run, &session, None)
            }
            ChildEvent::Finished {
                end,
                took,
                tampered,
            } => self.on_child_finished(run, session, end, took, &tampered?),
            ChildEvent::Patch(event) => self.on_patch_event(run, conversations, session, event),
            ChildEvent::WorktreeCollected(result) => on_worktree_collected(run, session, result),
            ChildEvent::Conversation(_) | ChildEvent::RequestExpired(..) => Ok(()),
        }
    }

    fn on_child_finished(
        &mut self,
        run: &mut RunContext,
        session: &SessionId,
        end: TaskOutcome,
        took: Duration,
        tampered: &[TamperedFile],
    ) -> Result<(), EngineError> {
        run.report_tampered_files(tampered)?;
        let Some(at_task) = self.active_tasks.get_mut(session) else {
            return Ok(());
        };
        let end = match (end, &at_task.stop_reason) {
            (TaskOutcome::Cancelled { .. }, Some(error)) => TaskOutcome::Cancelled {
                error: error.clone(),
            },
            (end, _) => sanitize_outcome(end),
        };
        match at_task.worktree.clone() {
            None => self.finish_task(run, session, end, took, None),
            Some(worktree) => {
                at_task.stage = ActiveTaskStage::Saving(end, took);
                self.event_sender().spawn_work(run, session, async move {
                    ChildEvent::Patch(PatchEvent::Saved(worktree.save_patch().await))
                });
                Ok(())
            }
        }
    }

    /// Finishes a task after its processes are gone, and informs everyone that waits for it.
    fn finish_task(
        &mut self,
        run: &mut RunContext,
        session: &SessionId,
        end: TaskOutcome,
        took: Duration,
        patch: Option<TaskPatch>,
    ) -> Result<(), EngineError> {
        let Some(at_task) = self.active_tasks.remove(session) else {
            return Ok(());
        };
        run.request(OwnerRequest::RemoveConversation(session.clone()));
        if let TaskOutcome::Completed { summary } = &end
            && !at_task.transcript.contains_text(summary)
        {
            append_final_message(run, &at_task.order, summary)?;
        }
        let result = record_task_end(run, &at_task.order, end, took, patch)?;
        for waiter in at_task.waiters {
            // The receiver may be gone.
            let _gone = waiter.send(result.clone());
        }
        if let Some(speaks) = at_task.order.speaks {
            run.request(OwnerRequest::EndSpeech(speaks, Box::new(result)));
        }
        Ok(())
    }

    /// Stops the task of a child; returns `false` if none is active.
    pub(super) fn stop_child_task(
        &mut self,
        run: &mut RunContext,
        session: &SessionId,
        why: &str,
    ) -> bool {
        match self.active_tasks.get_mut(session) {
            Some(at_task) => {
                at_task
                    .stop_reason
                    .get_or_insert_with(|| agent_activity::clean_line(why));
                at_task.cancel.cancel();
                let closed = OwnerRequest::CloseTurn(session.clone(), "the task was stopped");
                run.request(closed);
                self.event_sender()
                    .queue_patch_event(run, session, PatchEvent::Abandoned);
                true
            }
            None => false,
        }
    }

    pub(super) fn stop_all(&mut self, run: &mut RunContext, why: &str) {
        let all: Vec<SessionId> = self.active_tasks.keys().cloned().collect();
        for session in &all {
            self.stop_child_task(run, session, why);
        }
    }

    pub(super) fn stop_unawaited_tasks(&mut self, run: &mut RunContext, sessions: &[SessionId]) {
        for session in sessions {
            self.stop_child_task(
                run,
                session,
                "the agent that started the task no longer waits for it",
            );
        }
    }

    /// Marks tasks as cancelled that were active when an earlier process ended.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub(super) fn cancel_orphaned_tasks(
        &mut self,
        run: &mut RunContext,
    ) -> Result<(), EngineError> {
        let children = run.state().children.iter();
        let dead: Vec<TaskOrder> = children
            .filter(|child| {
                child.is_running() && !self.active_tasks.contains_key(child.session_id())
            })
            .map(|child| child.order.clone())
            .collect();
        for order in dead {
            let error = "the program ended, the task can be continued".to_owned();
            record_task_end(
                run,
                &order,
                TaskOutcome::Cancelled { error },
                Duration::ZERO,
                None,
            )?;
        }
        Ok(())
    }

    /// Returns whether a task waits for its slot or runs.
    pub(super) fn has_active_tasks(&self) -> bool {
        !self.active_tasks.is_empty()
    }
}

/// Records a task's end, in the child's own files as well.
fn record_task_end(
    run: &mut RunContext,
    order: &TaskOrder,
    end: TaskOutcome,
    took: Duration,
    patch: Option<TaskPatch>,
) -> Result<TaskResult, EngineError> {
    let tool_calls = run
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
    run.record(Event::TaskEnded(result.clone()))?;
    save_child(run, &order.session, Some(&result))?;
    Ok(result)
}

/// Cleans an agent's message so that it can be stored and shown.
fn sanitize_outcome(end: TaskOutcome) -> TaskOutcome {
    match end {
        TaskOutcome::Completed { summary } => {
            TaskOutcome::from_last_message(&agent_activity::clean_block_keep_end(&summary))
        }
        TaskOutcome::Failed {
            error: TaskError::Other(text),
        } => TaskOutcome::Failed {
            error: agent_activity::clean_block(&text).into(),
        },
        end @ (TaskOutcome::Failed { .. }
        | TaskOutcome::Declined { .. }
        | TaskOutcome::Timeout { .. }
        | TaskOutcome::Cancelled { .. }) => end,
    }
}
