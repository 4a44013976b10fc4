//! Runs one task from its place in the queue to its end, in a conversation of its own, and cleans up
//! afterwards.
//!
//! Does not access the run: what the agent says and asks is passed on, and the answers arrive in the
//! conversation's own queue.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::child_worktree::ChildWorktree;
use super::task_semaphore::{RetryBackoff, TaskPermitError, TaskSemaphore, TimedOutcome};
use crate::adapter::{AdapterEvent, CliTurnOutcome, TurnFailure, TurnFailureKind};
use crate::domain::discussion::STANCE_INFO;
use crate::domain::ids::SessionId;
use crate::domain::task::{TaskError, TaskOutcome};
use crate::engine::agent_conversation::{
    AgentConversation, ConversationCommand, ConversationEvent, ConversationParts, TurnStartRequest,
};
use crate::engine::run_journal::RunJournal;
use crate::engine::subagents::child_event::ChildEvent;
use crate::store::TamperGuard;

/// How many events of a child's conversation may be queued.
const EVENT_CAPACITY: usize = 64;
/// The request to an agent whose last message was empty.
const SUMMARY_REQUEST: &str = "Your last message was empty, and only your last message reaches who gave you the task. \
                      Say now, without any further call, what you found or did.";

/// A task with everything that it needs.
pub(super) struct TaskRunner {
    pub(super) session: SessionId,
    pub(super) adapter: String,
    pub(super) semaphore: TaskSemaphore,
    pub(super) cancel: CancellationToken,
    pub(super) limits: TaskLimits,
    pub(super) staging_folder: ChildStagingFolder,
    /// The child's own work tree, created before the agent starts.
    pub(super) worktree: Option<Arc<ChildWorktree>>,
    pub(super) parts: ConversationParts,
    pub(super) first_turn: TurnStartRequest,
    pub(super) command_channel: (
        mpsc::Sender<ConversationCommand>,
        mpsc::Receiver<ConversationCommand>,
    ),
    pub(super) subagent_events: mpsc::Sender<(SessionId, ChildEvent)>,
    pub(super) guard: TamperGuard,
}

/// The limits of a task.
#[derive(Debug, Clone, Copy)]
pub(in crate::engine) struct TaskLimits {
    /// The time limit, counted from when the task gets its slot.
    pub(in crate::engine) timeout: Duration,
    /// The configuration key of the limit.
    pub(in crate::engine) config_key: &'static str,
    /// The remaining retries after temporary failures.
    pub(in crate::engine) backoff: RetryBackoff,
}

/// A folder that is removed when this value is dropped.
pub(super) struct ChildStagingFolder(PathBuf);

impl ChildStagingFolder {
    /// Creates the folder, empty.
    pub(super) fn create(path: PathBuf) -> io::Result<Self> {
        use std::os::unix::fs::DirBuilderExt;
        let folder = Self(path);
        folder.remove()?;
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder.0)?;
        Ok(folder)
    }

    fn remove(&self) -> io::Result<()> {
        match std::fs::remove_dir_all(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

impl Drop for ChildStagingFolder {
    fn drop(&mut self) {
        if let Err(error) = self.remove() {
            tracing::warn!(%error, "a child's folder was left behind");
        }
    }
}

/// A running conversation, from the listener's side.
struct TaskConversation {
    session: SessionId,
    commands: mpsc::Sender<ConversationCommand>,
    conversation_events: mpsc::Receiver<(SessionId, ConversationEvent)>,
    subagent_events: mpsc::Sender<(SessionId, ChildEvent)>,
    /// The conversation's id in the CLI, once the CLI has reported it.
    external_id: Option<String>,
}

impl TaskRunner {
    /// Runs the task. The outcome is sent last, after all its resources are released.
    pub(super) async fn run(self) {
        let (session, said, guard) = (
            self.session.clone(),
            self.subagent_events.clone(),
            self.guard.clone(),
        );
        let (end, took) = self.run_to_outcome().await;
        let tampered = RunJournal::check_tampering(guard).await;
        let ended = ChildEvent::Finished {
            end,
            took,
            tampered,
        };
        // Sending fails only when the program is about to end.
        let _nobody = said.send((session, ended)).await;
    }

    async fn run_to_outcome(self) -> (TaskOutcome, Duration) {
        let admitted = match self.semaphore.acquire(&self.adapter, &self.cancel).await {
            Ok(admitted) => admitted,
            Err(why) => return (outcome_without_permit(why), Duration::ZERO),
        };
        let _nobody = self
            .subagent_events
            .send((self.session.clone(), ChildEvent::Started))
            .await;
        if let Some(plot) = &self.worktree {
            let laid = tokio::select! {
                laid = plot.create() => laid,
                () = self.cancel.cancelled() => return (to_task_outcome(TimedOutcome::Cancelled, &self.limits), admitted.elapsed()),
            };
            if let Err(error) = laid {
                let error = error.into();
                return (TaskOutcome::Failed { error }, admitted.elapsed());
            }
        }
        let (tell, told) = mpsc::channel(EVENT_CAPACITY);
        let (asks, asked) = self.command_channel;
        let live =
            tokio::spawn(AgentConversation::new(self.parts, asked, tell).run_until_shutdown());
        let live = AbortOnDropHandle::new(live);
        let mut talk = TaskConversation {
            session: self.session,
            commands: asks,
            conversation_events: told,
            subagent_events: self.subagent_events,
            external_id: None,
        };
        let work = talk.run_task(self.first_turn, self.limits.backoff);
        let limit = self.limits.timeout;
        let ended = admitted.run_with_timeout(limit, &self.cancel, work).await;
        talk.shut_down().await;
        let _ended = live.await;
        drop(self.staging_folder);
        (to_task_outcome(ended, &self.limits), admitted.elapsed())
    }
}

impl TaskConversation {
    /// Runs the task; temporary failures are retried, and an agent that says nothing is asked once more.
    async fn run_task(&mut self, ask: TurnStartRequest, mut tries: RetryBackoff) -> TaskOutcome {
        let mut ask = ask;
        let text = loop {
            match self
                .run_turn(build_retry_turn(&ask, None, self.external_id.clone()))
                .await
            {
                Ok(text) => break text,
                Err(end) => match tries.next_delay().filter(|_| is_retryable(&end)) {
                    Some(pause) => tokio::time::sleep(pause).await,
                    None => return outcome_of_failed_turn(end),
                },
            }
        };
        if !text.trim().is_empty() {
            return TaskOutcome::from_last_message(&text);
        }
        ask = build_retry_turn(&ask, Some(SUMMARY_REQUEST), self.external_id.clone());
        match self.run_turn(ask).await {
            Ok(text) => TaskOutcome::from_last_message(&text),
            Err(_) => TaskOutcome::Failed {
                error: TaskError::NoSummary,
            },
        }
    }

    /// Runs one turn and returns the agent's last message.
    async fn run_turn(&mut self, ask: TurnStartRequest) -> Result<String, CliTurnOutcome> {
        let lost = || {
            let lost = "the conversation ended during the task";
            CliTurnOutcome::Failed(TurnFailure::new(TurnFailureKind::Protocol, lost))
        };
        if self
            .commands
            .send(ConversationCommand::StartTurn(Box::new(ask)))
            .await
            .is_err()
        {
            return Err(lost());
        }
        let mut words = String::new();
        while let Some((_, told)) = self.conversation_events.recv().await {
            match told {
                ConversationEvent::Adapter(AdapterEvent::TurnEnded(
                    CliTurnOutcome::Completed { final_text },
                )) => {
                    return Ok(prepend_reasons(&words, final_text));
                }
                ConversationEvent::Adapter(AdapterEvent::Text { ref text, .. }) => {
                    if !is_bare_stance(text) && !text.trim().is_empty() {
                        words.clone_from(text);
                    }
                    self.forward_event(told).await;
                }
                ConversationEvent::Adapter(AdapterEvent::TurnEnded(end)) => return Err(end),
                ConversationEvent::Closed => return Err(lost()),
                told => {
                    if let ConversationEvent::Adapter(AdapterEvent::SessionOpened {
                        external_id,
                        ..
                    }) = &told
                    {
                        self.external_id = Some(external_id.clone());
                    }
                    self.forward_event(told).await;
                }
            }
        }
        Err(lost())
    }

    async fn forward_event(&self, told: ConversationEvent) {
        let said = ChildEvent::Conversation(told);
        let _nobody = self
            .subagent_events
            .send((self.session.clone(), said))
            .await;
    }

    /// Ends the conversation and waits until its process is gone; further output is discarded.
    async fn shut_down(mut self) {
        let gone = async {
            while let Some((_, told)) = self.conversation_events.recv().await {
                if matches!(told, ConversationEvent::Closed) {
                    return;
                }
            }
        };
        // Both run concurrently: the conversation may wait for its events to be read before it reads the
        // command.
        let (_gone, ()) = tokio::join!(self.commands.send(ConversationCommand::Shutdown), gone);
    }
}

/// Prepends the reasons from earlier in the same turn to a last message that is only a stance.
fn prepend_reasons(words: &str, last: String) -> String {
    if is_bare_stance(&last) && !words.is_empty() {
        format!("{words}\n\n{last}")
    } else {
        last
    }
}

fn is_bare_stance(text: &str) -> bool {
    let info = text.trim().strip_prefix("```");
    info.is_some_and(|info| {
        info.trim_start_matches('`')
            .trim_start()
            .starts_with(STANCE_INFO)
    })
}

/// Returns the same turn for a retry, perhaps with another prompt, in the current conversation.
fn build_retry_turn(
    ask: &TurnStartRequest,
    prompt: Option<&str>,
    external_id: Option<String>,
) -> TurnStartRequest {
    let mut session = ask.session.clone();
    session.external_id = external_id.or(session.external_id);
    session.fresh_id = uuid::Uuid::new_v4().to_string();
    let mut turn = ask.turn.clone();
    turn.prompt = prompt.map_or(turn.prompt, str::to_owned);
    TurnStartRequest {
        session,
        turn,
        conversation: ask.conversation,
        recovery: ask.recovery.clone(),
        sandbox: ask.sandbox.clone(),
        timeout: ask.timeout,
        silence_timeout: ask.silence_timeout,
    }
}

fn is_retryable(end: &CliTurnOutcome) -> bool {
    match end {
        CliTurnOutcome::Failed(failure) => matches!(
            failure.kind,
            TurnFailureKind::RateLimit | TurnFailureKind::Service | TurnFailureKind::Connection
        ),
        CliTurnOutcome::Completed { .. } | CliTurnOutcome::Interrupted => false,
    }
}

fn outcome_of_failed_turn(end: CliTurnOutcome) -> TaskOutcome {
    match end {
        CliTurnOutcome::Failed(failure) => TaskOutcome::Failed {
            error: failure.message.into(),
        },
        CliTurnOutcome::Completed { .. } | CliTurnOutcome::Interrupted => TaskOutcome::Declined {
            error: "a call was denied, which ended its turn".to_owned(),
        },
    }
}

fn outcome_without_permit(why: TaskPermitError) -> TaskOutcome {
    let error = match why {
        TaskPermitError::Cancelled => "it was stopped before it started",
        TaskPermitError::Closed => "the program is ending and starts no more tasks",
    };
    TaskOutcome::Cancelled {
        error: error.to_owned(),
    }
}

fn to_task_outcome(ended: TimedOutcome<TaskOutcome>, patience: &TaskLimits) -> TaskOutcome {
    match ended {
        TimedOutcome::Completed(end) => end,
        TimedOutcome::TimedOut => TaskOutcome::Timeout {
            error: format!(
                "it took longer than {}, {} s",
                patience.config_key,
                patience.timeout.as_secs()
            ),
        },
        TimedOutcome::Cancelled => TaskOutcome::Cancelled {
            error: "it was stopped".to_owned(),
        },
    }
}
