//! Performs the effects of a run: turns, documents, git, tests, permissions, and the record of it all.
//!
//! It owns the run and everything that the run's effects need. It refuses to know who watches or
//! answers: a front end feeds it the user's events and reads what was recorded.

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
use crate::domain::event::Event;
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

/// How many messages of live conversations and of tasks may wait.
const INPUT_CHANNEL_CAPACITY: usize = 256;

/// What the engine cannot go on after.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The disk refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A program could not be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// Git refused what the engine needs of it.
    #[error("failed to {what}: {message}")]
    Git {
        /// What was tried.
        what: String,
        /// What git said.
        message: String,
    },
}

/// Something that came back to the engine.
#[derive(Debug)]
pub enum EngineInput {
    /// A live conversation told something.
    ConversationEvent(Role, ConversationEvent),
    /// A task is done, and this is what happened.
    Event(Box<Event>),
    /// The tree before a turn is stored, and what git and the tests would run was noted.
    TreeStored {
        /// What happened.
        event: Box<Event>,
        /// What would be run.
        runnable: UnversionedCode,
    },
    /// The work of a child session told something.
    ChildEvent(SessionId, ChildEvent),
    /// An agent's server wants something.
    ToolRequest(agent_tools::tool_socket::ToolRequest),
    /// A tool's call that waited came to something.
    ToolDone(RequestId, agent_tools::DeferredToolAnswer),
    /// A tool's call was decided.
    ToolDecided(RequestId, crate::adapter::CallDecision),
    /// The user answered what a tool's call waits for; `None` where nobody does.
    ToolAnswered(RequestId, Option<BTreeMap<String, String>>),
    /// A tool's call has waited as long as it may.
    ToolDeadline(RequestId),
    /// The usage limit is over for which this question waits.
    UsageLimitPassed(u32),
    /// A discussion is to be looked at again.
    DiscussionDue(DiscussionId),
    /// A command that was to settle something in a discussion is through.
    DiscussionCheckDone(DiscussionId, CheckRun),
    /// A document that could not be written is to be tried again.
    RetryDocumentCommit(TurnId),
    /// The documents can be written again, or why not.
    DocumentLock(Result<document_commit::WorkflowDocumentLock, StoreError>),
    /// A turn ended and the program's own files were compared.
    TurnChecked {
        /// The turn.
        turn: TurnId,
        /// How it ended.
        end: CliTurnOutcome,
        /// What differed and was restored.
        tampered: Result<Vec<TamperedFile>, StoreError>,
    },
}

/// How a run's time in this program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EngineOutcome {
    /// The run is over.
    Finished,
    /// The program cannot go on with it.
    Halted(String),
}

/// Both ends of a bounded channel.
type ChannelPair<T> = (mpsc::Sender<T>, mpsc::Receiver<T>);

/// The one owner of a run.
pub struct Engine {
    setup: Arc<RunSetup>,
    journal: RunJournal,
    repository: Option<GitRepository>,
    conversations: BTreeMap<Role, mpsc::Sender<ConversationCommand>>,
    /// The child sessions whose tasks are being done.
    subagent_tasks: SubagentTasks,
    /// The discussions that go on.
    discussions: discussion_runner::DiscussionRegistry,
    /// The turn that a live conversation is at.
    active_turn: Option<ActiveTurn>,
    /// Whether its CLI has told the turn's end; what it asks from then on is declined.
    turn_has_ended: bool,
    /// Whether the run was taken up again by this program and has not recorded a step yet.
    resumed: bool,
    /// What git and the tests would run beside the tree, as it was before the execution's first turn.
    runnable: Option<UnversionedCode>,
    /// The document of a completed turn, until it is committed.
    pending_document: Option<PendingDocument>,
    /// What waits to be written into the documents, and what waits behind it.
    postponed_write: Option<PostponedWrite>,
    /// What agents asked for and nobody has answered yet.
    pending_requests: PendingRequests,
    /// The tools that agents call.
    tools: agent_tools::AgentTools,
    conversation_events: ChannelPair<(Role, ConversationEvent)>,
    inputs: ChannelPair<EngineInput>,
    tasks: JoinSet<()>,
    recorded: Vec<EventLogRecord<Event>>,
    deltas: Vec<TextDelta>,
    /// Stops git and tests under way.
    cancel: CancellationToken,
    /// Stops the tests before the first step.
    baseline_stop: CancellationToken,
    /// Stops what is still to be done when all else is stopped; nobody does.
    final_work_cancel: CancellationToken,
    /// Held by whoever changes the user's tree or compares it while an agent may be at work.
    tree_lock: Arc<tokio::sync::Mutex<()>>,
    outcome: Option<EngineOutcome>,
    warnings: ReportedWarnings,
}

/// The turn that a live conversation is at.
#[derive(Debug)]
struct ActiveTurn {
    order: TurnOrder,
    prompt_sha256: Sha256,
    /// What goes out in place of the prompt where the CLI has lost the conversation.
    recovery_prompt: String,
    staging: TurnStagingFolder,
    /// The last calls of its agent.
    loop_detector: LoopDetector,
    /// Tools that its CLI was started without.
    removed_tools: &'static [&'static str],
    /// The tasks in the background of whose end its prompt tells.
    background_reports: Vec<SessionId>,
}

/// The document of a completed turn, until it is committed.
#[derive(Debug, Clone)]
struct PendingDocument {
    order: TurnOrder,
    final_text: String,
    staging: TurnStagingFolder,
    /// What the user's text and the turn's were merged into, in the turn's place.
    merged_text: Option<String>,
    /// How often the disk refused it.
    n_failed_writes: u8,
}

impl Engine {
    /// Makes the owner of a run that stands in a journal.
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

    /// What is known of the run.
    pub fn state(&self) -> &RunState {
        self.journal.state()
    }

    /// Where the run's files lie.
    pub fn journal(&self) -> &RunJournal {
        &self.journal
    }

    /// The repository that trees go to.
    pub fn repository(&self) -> Option<&GitRepository> {
        self.repository.as_ref()
    }

    /// How it ended, once it has.
    pub fn outcome(&self) -> Option<&EngineOutcome> {
        self.outcome.as_ref()
    }

    /// What holds the CLI of each role: the adapter's name, then what the kernel holds and what only its protocol does.
    pub fn describe_role_sandboxes(&self) -> Vec<(String, (String, String))> {
        sandbox::describe_role_sandboxes(&self.setup.sandbox_support, &self.setup.config)
    }

    /// Tells whether an agent of a role runs with nothing to hold it.
    pub fn has_uncontained_role(&self) -> bool {
        let setup = &self.setup;
        !setup.spawner.is_simulated()
            && sandbox::has_uncontained_role(&setup.sandbox_support, &setup.config)
    }

    /// Records which agents the user's configuration makes or changes; nothing where it does neither.
    ///
    /// # Errors
    /// The record of the run cannot be kept.
    pub fn record_configured_agents(&mut self) -> Result<(), EngineError> {
        let profiles = &self.setup.permissions.profiles;
        let mode = |name: &String| {
            Some((
                name.clone(),
                profiles.find_by_name(name).ok()?.mode.name().to_owned(),
            ))
        };
        let agents: BTreeMap<String, String> =
            self.setup.config.agents.keys().filter_map(mode).collect();
        if agents.is_empty() {
            Ok(())
        } else {
            self.apply_event(Event::AgentsRegistered { agents })
        }
    }

    /// Lets whoever watches know of the event with which the record began.
    pub fn prepend_recorded(&mut self, record: EventLogRecord<Event>) {
        self.recorded.insert(0, record);
    }

    /// Takes what was recorded since the last call, in order.
    pub fn take_recorded(&mut self) -> Vec<EventLogRecord<Event>> {
        std::mem::take(&mut self.recorded)
    }

    /// Takes the pieces of text that came since the last call, in order.
    pub fn take_deltas(&mut self) -> Vec<TextDelta> {
        std::mem::take(&mut self.deltas)
    }

    /// Waits for what comes back next. Cancel safe.
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

    /// Takes in what came back.
    ///
    /// # Errors
    /// The record of the run cannot be kept.
    pub fn handle_input(&mut self, inward: EngineInput) -> Result<(), EngineError> {
        match inward {
            EngineInput::ConversationEvent(role, told) => self.on_conversation_event(role, told),
            EngineInput::Event(event) => self.apply_event(*event),
            EngineInput::ChildEvent(session, said) => self.handle_child_event(session, said),
            EngineInput::TreeStored { event, runnable } => {
                // What the first look of an execution found is what later changes are told against.
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

    /// Says that no run goes on here: what was asked for on a command line is all that is done.
    pub fn set_one_shot(&mut self) {
        self.subagent_tasks.set_one_shot();
    }

    /// Sends other instructions of the project from now on, each with its path.
    pub fn set_instructions(&mut self, instructions: Vec<(String, String)>) {
        Arc::make_mut(&mut self.setup).instructions = instructions;
    }

    /// Takes the run up again after an end of the program.
    ///
    /// # Errors
    /// The record of the run cannot be kept.
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

    /// Writes the last event's entry into log.md where the end of the program came between the two.
    fn complete_run_log(&self) -> Result<(), EngineError> {
        let last = self.journal.load_last_record()?;
        let iteration = self.state().iteration;
        let Some(entry) =
            last.and_then(|record| run_log_entries::event_log_entry(&record, iteration))
        else {
            return Ok(());
        };
        let log = documents_on_disk::read_document(&self.journal.layout().log())?;
        let log = log.map(|log| String::from_utf8_lossy(&log.bytes).into_owned());
        if !log.unwrap_or_default().contains(&entry) {
            self.journal.append_log_entry(&entry)?;
        }
        Ok(())
    }

    /// Lets the conversations end by themselves: the run is over and nobody says anything more.
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
