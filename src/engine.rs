//! Performs the effects of a run: turns, documents, git, tests, permissions, and the record of it all.
//!
//! A front end passes the user's events in and fetches what happened; who that is, the engine does not know.
//!
//! ```text
//!  front end ── Engine::apply_event ──▶ RunContext::record ──▶ Run::step ──▶ effects ──▶ Engine::perform_effect ─┐
//!      ▲                                   ▲                                                                     │
//!      │ ViewUpdate: events, deltas        │ record(event)                                 one call to one owner │
//!      │                                   │                                                                     ▼
//!      │    ┌───────────────┬──────────────┼─┬──────────────┬─────────────┬──────────────┬─────────────────────┐
//!      └────│ conversations │ approvals      │ subagents    │ tools       │ discussions  │ documents, checks   │
//!           └───────┬───────┴────────────────┴──────┬───────┴─────────────┴──────────────┴──────────┬──────────┘
//!                   │ commands, events              │ request(OwnerRequest) ──▶ request_router       │ git, tests, files
//!                   ▼                               └──▶ another owner, after this one returned      ▼
//!            AgentConversation ◀─▶ the CLI                                              tasks ── EngineInput ──▶ back in
//! ```
//!
//! What lives where, each with its state, in a file, most with a folder of the same name:
//!
//! - `run_context`: what all share: setup, journal, repository, background work, view updates. Only it records events.
//! - `conversations`: the open conversations by session, and the role's turn that runs; `agent_conversation` is one.
//! - `approvals`: requests without an answer; the decision about a call, from any CLI, tool or task; the user's answers.
//! - `subagents`: tasks in sessions of their own, their slots, worktrees and patches.
//! - `agent_tools`: the sockets and calls of the tools that agents have.
//! - `discussion_runner`: the running group discussions.
//! - `documents`: `plan.md`, `comments.md` and `log.md`: what waits to be written, and conflicts.
//! - `execution_effects`: survey, branch, snapshots, tests, commits and undo; it keeps what they are compared with.
//!
//! Owners do not change each other, with two exceptions. Discussions run on subagents: a discussion starts a speech by
//! a call, because whether the speech has a session decides what it does next. Approvals count a call in the loop detector
//! of its turn. Subagents and tools read the turn that is open. `Engine` itself connects the owners, in five files: this one (inputs), `request_router` (event → effects; request →
//! owner, and each answer on its way back), `effects` (effect → owner), `conversation_events` (what a CLI said → events) and
//! `public_api`. What a tool does is a function in `agent_tools` that changes no owner: it reads, and saves what the agent
//! submits; for what another owner has to do it returns a request, and the router brings the result back to the call.
//!
//! What goes wrong, and what prevents it:
//!
//! - An effect before its event is durable: effects are performed by `request_router` alone, after the journal has synced.
//! - An owner called in the middle of another one's change: it gets a request instead, performed afterwards. A method of
//!   `Engine` that records events therefore ends with `Engine::settle`.
//! - An answer to nobody, or to the wrong CLI: each request carries its `RequestAddress`.
//! - A call after its turn: the `CallingTurn` of the session is closed first, and every decision asks it.
//! - Work that outlives the run: all of it is in `RunContext::tasks`, and conversations and tasks end before it returns.
//! - A slow disk or git on the main loop: it runs in a task, and its result comes back as an [`EngineInput`].
//!
//! Recipes for an adapter, an event, an effect and a tool are in CONTRIBUTING.md.

pub mod agent_activity;
pub mod agent_conversation;
mod agent_tools;
mod approvals;
mod blocked_calls;
pub mod call_paths;
pub mod cli_probe;
mod conversation_events;
mod conversations;
pub mod discussion_runner;
pub mod doctor_report;
mod documents;
mod effects;
mod engine_error;
mod engine_input;
mod execution_effects;
pub mod git;
mod input_channel;
pub mod log_sinks;
pub mod named_adapter;
mod owner_request;
mod prompt_builder;
pub mod proof_cells;
mod public_api;
pub mod read_target_resolver;
mod receipt_writer;
mod request_deadline;
mod request_router;
mod role_messages;
mod role_session;
pub mod run_changes;
mod run_context;
pub mod run_journal;
mod run_log_entries;
pub mod run_setup;
pub mod runtime_dir;
pub mod sandbox;
pub mod sandbox_escapes;
pub mod staging_folder;
pub mod stored_run;
pub mod subagents;
pub mod test_runner;
pub mod tool_output;
pub mod tree_reversal;
mod turn_calls;
mod turn_start;
mod usage_limit_wait;
mod warnings;

#[cfg(test)]
mod example_adapter_tests;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::domain::event::Event;
use crate::domain::phase::Gate;
use crate::domain::run::RunState;
use crate::domain::turn::TurnOrder;
use crate::store::{EventLogRecord, document_files as documents_on_disk};

use approvals::ApprovalRequests;
use conversations::OpenConversations;
use documents::RunDocuments;
use execution_effects::ExecutionChecks;
use git::GitRepository;
use input_channel::INPUT_CHANNEL_CAPACITY;
use prompt_builder::PromptBuilder;
use run_context::RunContext;
use run_journal::RunJournal;
use run_setup::RunSetup;
use tree_reversal::CommitRepository;

pub use approvals::{ApprovalDecisionResult, ApprovalDetail};
pub use discussion_runner::{DiscussionRequest, DiscussionStartError};
pub use engine_error::{EngineError, EngineOutcome};
pub use engine_input::EngineInput;
pub use prompt_builder::RunPromptReader;
pub use public_api::LeftoverKind;
pub use run_context::ViewUpdate;
use subagents::SubagentTasks;
use subagents::child_event::ChildEvent;
pub use subagents::{ChildDeletionError, TaskCaller, TaskRequest, TaskStartError, find_subagent};
use warnings::failure_event;
pub use warnings::{error_with_hint, warning_event};

/// Owns a run: its journal, conversations, child sessions, discussions and tools.
pub struct Engine {
    run: RunContext,
    conversations: OpenConversations,
    approvals: ApprovalRequests,
    /// Child sessions and their tasks.
    subagents: SubagentTasks,
    tools: agent_tools::AgentTools,
    discussions: discussion_runner::DiscussionRegistry,
    documents: RunDocuments,
    execution_checks: ExecutionChecks,
    inputs: mpsc::Receiver<EngineInput>,
}

impl Engine {
    /// Creates the owner of a run that a journal has loaded. `created` is the first record of a run that the journal has
    /// just created: front ends see it before all others.
    pub fn new(
        setup: RunSetup,
        journal: RunJournal,
        created: Option<EventLogRecord<Event>>,
        repository: Option<GitRepository>,
        cancel: CancellationToken,
    ) -> Self {
        let (done, inputs) = mpsc::channel(INPUT_CHANNEL_CAPACITY);
        Self {
            conversations: OpenConversations::default(),
            approvals: ApprovalRequests::default(),
            subagents: SubagentTasks::new(&setup),
            tools: agent_tools::AgentTools::new(&journal.state().run),
            discussions: discussion_runner::DiscussionRegistry::default(),
            documents: RunDocuments::default(),
            execution_checks: ExecutionChecks::default(),
            inputs,
            run: RunContext {
                view_updates: created.map(ViewUpdate::from).into_iter().collect(),
                ..RunContext::new(setup, journal, repository, done, cancel)
            },
        }
    }

    /// Returns the current state of the run.
    pub fn state(&self) -> &RunState {
        self.run.journal.state()
    }

    /// Returns what is fixed for the run: settings, adapters, policies.
    pub fn setup(&self) -> &RunSetup {
        &self.run.setup
    }

    /// Returns the run's journal, which knows where the run's files are.
    pub fn journal(&self) -> &RunJournal {
        &self.run.journal
    }

    /// Returns the repository in which trees are stored.
    pub fn repository(&self) -> Option<&GitRepository> {
        self.run.repository.as_ref()
    }

    /// Returns how the run ended in this process, once it has.
    pub fn outcome(&self) -> Option<&EngineOutcome> {
        self.run.outcome.as_ref()
    }

    /// Returns where the commits of this execution go, for a reversal.
    pub fn reversal_commit_repository(&self) -> CommitRepository {
        execution_effects::reversal_commit_repository(&self.run)
    }

    /// Builds the prompt that a turn would send if it started now; changes nothing.
    ///
    /// # Errors
    /// The reason why there is no prompt; the turn itself would fail with the same.
    pub fn preview_prompt(&self, order: &TurnOrder) -> Result<String, String> {
        PromptBuilder::new(&self.run, order).preview_prompt()
    }

    /// Returns what happened since the last call, in order.
    pub fn take_view_updates(&mut self) -> Vec<ViewUpdate> {
        std::mem::take(&mut self.run.view_updates)
    }

    #[cfg(test)]
    fn take_recorded(&mut self) -> Vec<EventLogRecord<Event>> {
        let updates = self.take_view_updates().into_iter();
        updates.filter_map(ViewUpdate::into_record).collect()
    }

    /// Waits for the next input. Cancel safe.
    pub async fn next_input(&mut self) -> EngineInput {
        let limit = usage_limit_wait::pending_usage_limit(self.state());
        let discussion = self.discussions.wait_until_due();
        tokio::pin!(discussion);
        loop {
            tokio::select! {
                biased;
                id = usage_limit_wait::wait_until_limit_passed(limit), if limit.is_some() => return EngineInput::UsageLimitPassed(id),
                Some(inward) = self.inputs.recv() => return inward,
                Some((session, event)) = self.conversations.next_event() => return EngineInput::ConversationEvent(session, event),
                (session, said) = self.subagents.next_event() => return EngineInput::ChildEvent(session, said),
                inward = self.tools.next_input() => return inward,
                id = &mut discussion => return EngineInput::DiscussionDue(id),
                Some(ended) = self.run.tasks.join_next() => {
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
        // A door may have left something to do.
        self.settle()?;
        self.dispatch_input(inward)?;
        self.settle()
    }

    fn dispatch_input(&mut self, inward: EngineInput) -> Result<(), EngineError> {
        let run = &mut self.run;
        match inward {
            EngineInput::ConversationEvent(session, event) => {
                self.on_conversation_event(&session, event)
            }
            EngineInput::Event(event) => self.apply_event(*event),
            EngineInput::ProofProgress(progress) => {
                run.show_proof_progress(progress);
                Ok(())
            }
            EngineInput::ChildEvent(session, ChildEvent::Conversation(event)) => {
                self.on_conversation_event(&session, event)
            }
            EngineInput::ChildEvent(_, ChildEvent::RequestExpired(request, limit)) => {
                self.approvals.on_user_timeout(run, request, limit)
            }
            EngineInput::ChildEvent(session, event) => {
                self.subagents
                    .on_event(run, &self.conversations, &session, event)
            }
            EngineInput::TreeStored {
                event,
                unversioned_code,
            } => {
                self.execution_checks
                    .note_unversioned_code(unversioned_code);
                self.apply_event(*event)
            }
            EngineInput::ToolRequest(request) => {
                self.tools.on_request(run, &self.conversations, request)
            }
            EngineInput::ToolDone(request, later) => self.tools.on_done(run, &request, later),
            EngineInput::ToolDeadline(request) => self.tools.on_deadline(run, &request),
            EngineInput::UsageLimitPassed(id) => self.apply_event(Event::LimitPassed { id }),
            EngineInput::DiscussionDue(id) => {
                self.discussions.advance(run, &mut self.subagents, &id)
            }
            EngineInput::DiscussionCheckDone(id, check) => {
                let subagents = &mut self.subagents;
                self.discussions
                    .on_check_finished(run, subagents, &id, check)
            }
            EngineInput::RetryDocumentCommit(turn) => {
                let retry = documents::find_commit_to_retry(run.state(), &turn);
                self.perform_queued(Vec::new(), retry)
            }
            EngineInput::DocumentLock(lock) => {
                let (events, queued) = self.documents.on_lock(run, lock);
                self.perform_queued(events, queued)
            }
            EngineInput::TurnChecked {
                turn,
                end,
                tampered,
            } => self.on_turn_checked(&turn, &end, &tampered?),
        }
    }

    /// Replaces the project's instructions from now on, each with its path.
    pub fn set_instructions(&mut self, instructions: Vec<(String, String)>) {
        Arc::make_mut(&mut self.run.setup).instructions = instructions;
    }

    /// Resumes the run after the program ended.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub fn resume(&mut self, gate: Gate) -> Result<(), EngineError> {
        self.documents.on_run_resumed();
        self.complete_run_log()?;
        if let Some(told) = self.run.find_unrecorded_phase_change()? {
            self.apply_event(told)?;
        }
        self.recover_leftovers(LeftoverKind::Tasks)?;
        self.apply_events(documents::detect_user_edits(&self.run))?;
        if let Some(found) = documents::find_recovered_draft(&self.run)? {
            self.apply_event(found)?;
        }
        self.apply_event(Event::RunResumed { gate })
    }

    /// Writes the last event's entry into log.md if the program ended between the two writes.
    fn complete_run_log(&self) -> Result<(), EngineError> {
        let last = self.run.journal.load_last_record()?;
        let iteration = self.state().iteration;
        let Some(entry) =
            last.and_then(|record| run_log_entries::event_log_entry(&record, iteration))
        else {
            return Ok(());
        };
        let log = documents_on_disk::read_document(&self.run.journal.layout().log())?;
        let log = log.map(|log| log.bytes).unwrap_or_default();
        self.run.journal.complete_log_entry(&log, &entry)?;
        Ok(())
    }

    /// Ends all conversations and waits until their processes are gone.
    pub async fn shut_down(&mut self) {
        self.discussions.shut_down(&mut self.run);
        self.run.cancel.cancel();
        self.shut_down_children().await;
        self.conversations.close_roles();
        while let Some((session, event)) = self.conversations.next_closing_event().await {
            self.queue_undelivered_input(&session, event);
        }
        // Not stopped with the other tasks: a git command that is killed may leave its lock behind.
        self.run.finish_notes().await;
        self.run.tasks.shutdown().await;
    }

    /// Stops all children and records how they ended; afterwards none of their processes, slots or folders is left.
    async fn shut_down_children(&mut self) {
        let why = "the program ended, the task can be continued";
        self.subagents.stop_all(&mut self.run, why);
        let semaphore = self.subagents.semaphore();
        tokio::join!(semaphore.drain(Duration::ZERO), self.drain_child_events());
    }

    async fn drain_child_events(&mut self) {
        while self.subagents.has_active_tasks() {
            let (session, event) = self.subagents.next_event().await;
            // Its other requests need no denial: its process is being stopped.
            if !matches!(event, ChildEvent::Finished { .. } | ChildEvent::Patch(_)) {
                continue;
            }
            if let Err(error) = self.handle_input(EngineInput::ChildEvent(session.clone(), event)) {
                tracing::error!(%error, "the end of a task is not recorded");
                self.subagents.forget_task(&session);
            }
        }
    }

    /// Notes how the run ended, and closes the conversations of the roles without waiting for them: nothing more is sent.
    fn set_outcome(&mut self, outcome: EngineOutcome) {
        self.run.outcome.get_or_insert(outcome);
        self.conversations.close_roles();
    }
}
