//! Performs the effects of a run: turns, documents, git, tests, permissions, and the record of it all.
//!
//! It owns the run and everything that the run's effects need. It does not know who watches or answers: a front end
//! passes the user's events in and reads what was recorded.

mod adapter_failover;
pub mod agent_activity;
pub mod agent_conversation;
mod agent_tools;
mod approval_decision;
mod approval_request;
mod blocked_calls;
pub mod call_decision;
pub mod cli_probe;
pub mod codex_sandbox_escapes;
mod conversation_events;
pub mod discussion_runner;
pub mod doctor_report;
mod document_collector;
pub mod document_commit;
mod document_conflict;
mod document_writer;
mod effects;
mod event_pump;
mod execution_effects;
pub mod git;
pub mod log_sinks;
mod pending_requests;
mod prompt_builder;
pub mod read_target_resolver;
mod recovered_draft;
mod role_session;
pub mod run_changes;
pub mod run_follower;
pub mod run_journal;
pub mod run_loader;
mod run_log_entries;
pub mod run_setup;
pub mod runtime_dir;
pub mod sandbox;
pub mod staging_folder;
mod steer_message;
pub mod subagents;
pub mod test_runner;
pub mod tool_output;
pub mod tree_reversal;
mod warnings;

use std::collections::BTreeMap;
use std::sync::Arc;

use thiserror::Error;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::adapter::CliTurnOutcome;
use crate::domain::discussion::CheckRun;
use crate::domain::event::{Event, RegisteredMode};
use crate::domain::ids::{DiscussionId, RequestId, SessionId, Sha256, TurnId};
use crate::domain::phase::Gate;
use crate::domain::run::RunState;
use crate::domain::text_delta::TextDelta;
use crate::domain::turn::{Role, TurnOrder};
use crate::permission::loop_detector::LoopDetector;
use crate::process::SpawnError;
use crate::store::{EventLogRecord, StoreError, TamperedFile, document_files as documents_on_disk};

use agent_conversation::{ConversationCommand, ConversationEvent};
use git::{GitRepository, UnversionedCode};
use pending_requests::PendingRequests;
use run_journal::RunJournal;
use run_setup::RunSetup;
use staging_folder::TurnStagingFolder;

pub use approval_decision::{ApprovalDecisionResult, ApprovalDetail};
pub use discussion_runner::{DiscussionRequest, DiscussionStartError};
use document_writer::PostponedWrite;
pub use subagents::{ChildDeletionError, TaskCaller, TaskRequest, TaskStartError, find_subagent};
use subagents::{ChildEvent, SubagentTasks};
pub use warnings::error_with_hint;
use warnings::{ReportedWarnings, failure_event, warning_event};

/// Limits how many messages of live conversations and of tasks can be queued.
const INPUT_CHANNEL_CAPACITY: usize = 256;

/// An error after which the engine cannot continue.
#[derive(Debug, Error)]
pub enum EngineError {
    /// Reading or writing a file failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    #[error("failed to {what}: {message}")]
    Git {
        /// The operation that was tried.
        what: String,
        message: String,
    },
}

/// An input of the engine: an event of a conversation, a task, a tool call, a discussion or a timer.
#[derive(Debug)]
pub enum EngineInput {
    /// An event of a role's live conversation.
    ConversationEvent(Role, ConversationEvent),
    /// An event that a finished task produced.
    Event(Box<Event>),
    /// The tree before a turn was stored, and the code that git and the tests would run was noted.
    TreeStored {
        /// The event to record.
        event: Box<Event>,
        /// The code outside the tree that git and the tests would run.
        runnable: UnversionedCode,
    },
    /// An event of a child session's task.
    ChildEvent(SessionId, ChildEvent),
    /// A request from the tool server of an agent.
    ToolRequest(agent_tools::tool_socket::ToolRequest),
    /// The answer of a tool call that had to wait.
    ToolDone(RequestId, agent_tools::DeferredToolAnswer),
    /// The decision on a tool call.
    ToolDecided(RequestId, crate::adapter::CallDecision),
    /// The user's answer that a tool call waits for; `None` if no user answers.
    ToolAnswered(RequestId, Option<BTreeMap<String, String>>),
    /// A tool call has reached its longest waiting time.
    ToolDeadline(RequestId),
    /// The usage limit that this question waits for has passed.
    UsageLimitPassed(u32),
    /// A discussion's wake-up time has come.
    DiscussionDue(DiscussionId),
    /// A command that checks something for a discussion has ended.
    DiscussionCheckDone(DiscussionId, CheckRun),
    /// It is time to retry the write of a document.
    RetryDocumentCommit(TurnId),
    /// The lock for writing the documents, or the reason why they cannot be written yet.
    DocumentLock(Result<document_commit::WorkflowDocumentLock, StoreError>),
    /// A turn ended and the program's own files were checked.
    TurnChecked {
        turn: TurnId,
        /// How the turn ended.
        end: CliTurnOutcome,
        /// Files that differed and were restored.
        tampered: Result<Vec<TamperedFile>, StoreError>,
    },
}

/// How the run ended in this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EngineOutcome {
    Finished,
    /// The program cannot continue the run, for this reason.
    Halted(String),
}

type ChannelPair<T> = (mpsc::Sender<T>, mpsc::Receiver<T>);

/// Owns a run: its journal, conversations, child sessions, discussions and tools.
pub struct Engine {
    setup: Arc<RunSetup>,
    journal: RunJournal,
    repository: Option<GitRepository>,
    conversations: BTreeMap<Role, mpsc::Sender<ConversationCommand>>,
    /// Child sessions and their tasks.
    subagent_tasks: SubagentTasks,
    discussions: discussion_runner::DiscussionRegistry,
    /// The turn that a live conversation is running.
    active_turn: Option<ActiveTurn>,
    /// Whether the CLI has reported the end of the turn; anything that it asks after that is declined.
    turn_has_ended: bool,
    /// Whether this process resumed the run and has not recorded a step yet.
    resumed: bool,
    /// Code outside the tree that git and the tests would run, as it was before the execution's first turn.
    runnable: Option<UnversionedCode>,
    /// The document of a completed turn, until it is committed.
    pending_document: Option<PendingDocument>,
    /// A write to the documents that waits, and what is queued behind it.
    postponed_write: Option<PostponedWrite>,
    /// Requests of agents that have no answer yet.
    pending_requests: PendingRequests,
    tools: agent_tools::AgentTools,
    conversation_events: ChannelPair<(Role, ConversationEvent)>,
    inputs: ChannelPair<EngineInput>,
    tasks: JoinSet<()>,
    recorded: Vec<EventLogRecord<Event>>,
    deltas: Vec<TextDelta>,
    /// Stops running git commands and tests.
    cancel: CancellationToken,
    /// Stops the tests that run before the first step.
    baseline_stop: CancellationToken,
    /// Passed to work that must finish even when everything else is stopped; it is never cancelled.
    final_work_cancel: CancellationToken,
    /// Locked by the code that changes the user's tree, or compares it while an agent may be working.
    tree_lock: Arc<tokio::sync::Mutex<()>>,
    outcome: Option<EngineOutcome>,
    warnings: ReportedWarnings,
}

/// The turn that a live conversation is running.
#[derive(Debug)]
struct ActiveTurn {
    order: TurnOrder,
    prompt_sha256: Sha256,
    /// Sent in place of the prompt if the CLI has lost the conversation.
    recovery_prompt: String,
    staging: TurnStagingFolder,
    /// Tracks the last calls of the turn's agent.
    loop_detector: LoopDetector,
    /// Tools that the CLI was started without.
    removed_tools: &'static [&'static str],
    /// Background tasks whose end the prompt reports.
    background_reports: Vec<SessionId>,
}

/// The document of a completed turn, until it is committed.
#[derive(Debug, Clone)]
struct PendingDocument {
    order: TurnOrder,
    final_text: String,
    staging: TurnStagingFolder,
    /// The merge of the user's text and the turn's text, which replaces the turn's text.
    merged_text: Option<String>,
    /// How often writing it failed.
    n_failed_writes: u8,
}

impl Engine {
    /// Creates the owner of a run that a journal has loaded.
    pub fn new(
        setup: RunSetup,
        journal: RunJournal,
        repository: Option<GitRepository>,
        cancel: CancellationToken,
    ) -> Self {
        Self {
            subagent_tasks: SubagentTasks::new(&setup),
            discussions: discussion_runner::DiscussionRegistry::default(),
            tools: agent_tools::AgentTools::new(&journal.state().run),
            setup: Arc::new(setup),
            journal,
            repository,
            conversations: BTreeMap::new(),
            active_turn: None,
            turn_has_ended: false,
            resumed: false,
            runnable: None,
            pending_document: None,
            postponed_write: None,
            pending_requests: PendingRequests::default(),
            conversation_events: mpsc::channel(INPUT_CHANNEL_CAPACITY),
            inputs: mpsc::channel(INPUT_CHANNEL_CAPACITY),
            tasks: JoinSet::new(),
            recorded: Vec::new(),
            deltas: Vec::new(),
            baseline_stop: cancel.child_token(),
            cancel,
            final_work_cancel: CancellationToken::new(),
            tree_lock: Arc::default(),
            outcome: None,
            warnings: ReportedWarnings::default(),
        }
    }

    /// Returns the current state of the run.
    pub fn state(&self) -> &RunState {
        self.journal.state()
    }

    /// Returns the run's journal, which knows where the run's files are.
    pub fn journal(&self) -> &RunJournal {
        &self.journal
    }

    /// Returns the repository in which trees are stored.
    pub fn repository(&self) -> Option<&GitRepository> {
        self.repository.as_ref()
    }

    /// Returns how the run ended in this process, once it has.
    pub fn outcome(&self) -> Option<&EngineOutcome> {
        self.outcome.as_ref()
    }

    /// Describes each role's sandbox: the adapter's name, then what the kernel enforces and what only the CLI's
    /// protocol does.
    pub fn describe_role_sandboxes(&self) -> Vec<(String, (String, String))> {
        sandbox::describe_role_sandboxes(&self.setup.sandbox_support, &self.setup.config)
    }

    /// Returns whether the agent of any role runs without a sandbox.
    pub fn has_uncontained_role(&self) -> bool {
        let setup = &self.setup;
        !setup.spawner.is_simulated()
            && sandbox::has_uncontained_role(&setup.sandbox_support, &setup.config)
    }

    /// Records the agents that the user's configuration adds or changes, if there are any.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub fn record_configured_agents(&mut self) -> Result<(), EngineError> {
        let profiles = &self.setup.permissions.profiles;
        let mode = |name: &String| {
            let mode = profiles.find_by_name(name).ok()?.mode;
            Some((name.clone(), RegisteredMode::Known(mode)))
        };
        let agents: BTreeMap<String, RegisteredMode> =
            self.setup.config.agents.keys().filter_map(mode).collect();
        if agents.is_empty() {
            Ok(())
        } else {
            self.apply_event(Event::AgentsRegistered { agents })
        }
    }

    /// Puts the first event of the record in front, so that front ends see it too.
    pub fn prepend_recorded(&mut self, record: EventLogRecord<Event>) {
        self.recorded.insert(0, record);
    }

    /// Returns what was recorded since the last call, in order.
    pub fn take_recorded(&mut self) -> Vec<EventLogRecord<Event>> {
        std::mem::take(&mut self.recorded)
    }

    /// Returns the text deltas that arrived since the last call, in order.
    pub fn take_deltas(&mut self) -> Vec<TextDelta> {
        std::mem::take(&mut self.deltas)
    }

    /// Waits for the next input. Cancel safe.
    pub async fn next_input(&mut self) -> EngineInput {
        let limit = self.pending_usage_limit();
        let discussion = self.discussions.wait_until_due();
        tokio::pin!(discussion);
        loop {
            tokio::select! {
                biased;
                id = adapter_failover::wait_until_limit_passed(limit), if limit.is_some() => return EngineInput::UsageLimitPassed(id),
                Some(inward) = self.inputs.1.recv() => return inward,
                Some((role, told)) = self.conversation_events.1.recv() => return EngineInput::ConversationEvent(role, told),
                (session, said) = self.subagent_tasks.next_event() => return EngineInput::ChildEvent(session, said),
                inward = self.tools.next_input() => return inward,
                id = &mut discussion => return EngineInput::DiscussionDue(id),
                Some(ended) = self.tasks.join_next() => {
                    if let Err(panicked) = ended
                        && !panicked.is_cancelled()
                    {
                        let event = failure_event("do a piece of work", panicked);
                        return EngineInput::Event(Box::new(event));
                    }
                }
                else => return std::future::pending().await,
            }
        }
    }

    /// Handles an input.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub fn handle_input(&mut self, inward: EngineInput) -> Result<(), EngineError> {
        match inward {
            EngineInput::ConversationEvent(role, told) => self.on_conversation_event(role, told),
            EngineInput::Event(event) => self.apply_event(*event),
            EngineInput::ChildEvent(session, said) => self.handle_child_event(session, said),
            EngineInput::TreeStored { event, runnable } => {
                // The first check of an execution is the baseline that later changes are compared with.
                self.runnable.get_or_insert(runnable);
                self.apply_event(*event)
            }
            EngineInput::ToolRequest(knock) => self.on_tool_request(knock),
            EngineInput::ToolDone(request, later) => self.on_tool_done(&request, later),
            EngineInput::ToolDecided(request, answer) => self.on_tool_decided(&request, answer),
            EngineInput::ToolAnswered(request, answers) => self.on_tool_answered(&request, answers),
            EngineInput::ToolDeadline(request) => self.on_tool_due(&request),
            EngineInput::UsageLimitPassed(id) => self.apply_event(Event::LimitPassed { id }),
            EngineInput::DiscussionDue(id) => self.advance_discussion(&id),
            EngineInput::DiscussionCheckDone(id, run) => self.on_check_finished(&id, run),
            EngineInput::RetryDocumentCommit(turn) => self.retry_document_commit(&turn),
            EngineInput::DocumentLock(pen) => self.on_document_lock(pen),
            EngineInput::TurnChecked {
                turn,
                end,
                tampered,
            } => self.on_turn_checked(&turn, &end, tampered),
        }
    }

    /// Sets the one-shot mode: the engine only does what a command line asked for and continues no run.
    pub fn set_one_shot(&mut self) {
        self.subagent_tasks.set_one_shot();
    }

    /// Replaces the project's instructions from now on, each with its path.
    pub fn set_instructions(&mut self, instructions: Vec<(String, String)>) {
        Arc::make_mut(&mut self.setup).instructions = instructions;
    }

    /// Resumes the run after the program ended.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub fn resume(&mut self, gate: Gate) -> Result<(), EngineError> {
        self.resumed = true;
        self.complete_run_log()?;
        self.cancel_orphaned_tasks()?;
        for edit in self.detect_user_edits() {
            self.apply_event(edit)?;
        }
        if let Some(found) = self.find_recovered_draft()? {
            self.apply_event(found)?;
        }
        self.apply_event(Event::RunResumed { gate })
    }

    /// Writes the last event's entry into log.md if the program ended between the two writes.
    fn complete_run_log(&self) -> Result<(), EngineError> {
        let last = self.journal.load_last_record()?;
        let iteration = self.state().iteration;
        let Some(entry) =
            last.and_then(|record| run_log_entries::event_log_entry(&record, iteration))
        else {
            return Ok(());
        };
        let log = documents_on_disk::read_document(&self.journal.layout().log())?;
        let log = log.map(|log| log.bytes).unwrap_or_default();
        self.journal.complete_log_entry(&log, &entry)?;
        Ok(())
    }

    /// Ends all conversations without waiting for them: the run is over and sends nothing more.
    pub fn end_conversations(&mut self) {
        for asks in std::mem::take(&mut self.conversations).into_values() {
            // A full queue is no reason to wait: dropping the sender ends the task as well.
            let _full = asks.try_send(ConversationCommand::Shutdown);
        }
    }

    /// Ends all conversations and waits until their processes are gone.
    pub async fn shut_down(&mut self) {
        self.shut_down_discussions();
        self.cancel.cancel();
        self.shut_down_children().await;
        for asks in self.conversations.values() {
            // A full queue is no reason to wait: dropping the sender below ends the task as well.
            let _full = asks.try_send(ConversationCommand::Shutdown);
        }
        let mut left = self.conversations.len();
        self.conversations.clear();
        while left > 0 {
            match self.conversation_events.1.recv().await {
                Some((_, ConversationEvent::Closed)) => left -= 1,
                Some((role, told)) => self.queue_undelivered_input(role, told),
                None => break,
            }
        }
        self.tasks.shutdown().await;
    }

    fn set_outcome(&mut self, outcome: EngineOutcome) {
        self.outcome.get_or_insert(outcome);
    }
}
