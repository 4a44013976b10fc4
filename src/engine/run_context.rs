//! What every owner of the engine shares: the run's setup and record, its repository, and work in the background.
//!
//! An owner records an event with [`RunContext::record`]: the state is stepped at once. What follows from it (effects,
//! requests to other owners) waits in a queue until the owner has returned; the engine performs it then.

use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::engine_error::{EngineError, EngineOutcome};
use super::engine_input::EngineInput;
use super::warnings::{error_with_hint, warning_event};
use crate::domain::effect::Effect;
use crate::domain::event::Event;
use crate::domain::event::tampering::RestoredFile;
use crate::domain::ids::{SessionId, UnixMillis};
use crate::domain::phase::Phase;
use crate::domain::proof_progress::ProofProgress;
use crate::domain::run::{ProgramOperation, RunState};
use crate::domain::task::ChildSession;
use crate::domain::text_delta::TextDelta;
use crate::domain::turn::Role;
use crate::permission::{DecisionContext, PhaseAccess, StoredApproval};
use crate::store::{EventLogRecord, RawStream, StoreError, TamperedFile};
use crate::text::clean_json_line;

use super::git::GitRepository;
use super::named_adapter::NamedAdapter;
use super::owner_request::OwnerRequest;
use super::proof_cells::SeenTrees;
use super::receipt_writer::ReceiptWriter;
use super::run_journal::RunJournal;
use super::run_setup::RunSetup;
use super::warnings::ReportedWarnings;
use super::{agent_activity, role_session, run_log_entries};

/// The largest size of one file of a session's raw stream, in bytes; one older file is kept.
const MAX_RAW_FILE_BYTES: u64 = 20_000_000;

/// The shared parts of a run.
pub struct RunContext {
    pub(super) setup: Arc<RunSetup>,
    pub(super) journal: RunJournal,
    pub(super) repository: Option<GitRepository>,
    /// Where background work sends its results.
    pub(super) inputs: mpsc::Sender<EngineInput>,
    pub(super) tasks: JoinSet<()>,
    /// What front ends have not fetched yet, in the order in which it happened.
    pub(super) view_updates: Vec<ViewUpdate>,
    /// Stops running git commands and tests.
    pub(super) cancel: CancellationToken,
    /// Passed to work that must finish even when everything else is stopped; it is never cancelled.
    pub(super) final_work_cancel: CancellationToken,
    /// Locked by the code that changes the user's tree, or compares it while an agent may be working.
    pub(super) tree_lock: Arc<tokio::sync::Mutex<()>>,
    pub(super) outcome: Option<EngineOutcome>,
    pub(super) warnings: ReportedWarnings,
    /// The program's own files that were restored while the current turn ran; empty where none were.
    pub(super) restored_in_turn: Vec<RestoredFile>,
    pub(super) follow_ups: Vec<FollowUp>,
    /// The chain of the run's receipts.
    pub(super) receipts: ReceiptWriter,
    /// The trees that were laid down for test runs.
    pub(super) seen_trees: SeenTrees,
}

/// What happened, for front ends.
#[derive(Debug)]
pub enum ViewUpdate {
    EventRecord(Box<EventLogRecord<Event>>),
    /// A piece of an agent's text. It is not recorded: the finished text is.
    TextDelta(TextDelta),
    /// A test run of a proof starts or has ended. It is not recorded: the whole proof is.
    ProofProgress(UnixMillis, ProofProgress),
}

impl ViewUpdate {
    /// Returns the event that was recorded; `None` if the update is for views only.
    pub fn into_record(self) -> Option<EventLogRecord<Event>> {
        match self {
            Self::EventRecord(record) => Some(*record),
            Self::TextDelta(_) | Self::ProofProgress(..) => None,
        }
    }
}

impl From<EventLogRecord<Event>> for ViewUpdate {
    fn from(record: EventLogRecord<Event>) -> Self {
        Self::EventRecord(Box::new(record))
    }
}

/// What the engine does after an owner has returned.
pub(super) enum FollowUp {
    Step(RecordedStep),
    Request(OwnerRequest),
}

/// What a recorded event causes.
pub(super) struct RecordedStep {
    pub(super) phase_before: Phase,
    pub(super) phase_after: Phase,
    /// Whether the event resumed the run.
    pub(super) is_resume: bool,
    pub(super) effects: Vec<Effect>,
}

/// The operation that a warning names.
const WRITE_RECEIPTS: &str = "write the receipts of the run";

/// The operation that a warning names.
const WRITE_NOTES: &str = "write the receipts into git notes";

/// Returns whether an event ends something that the notes of commits tell: a step, an undo, or a kill.
fn completes_notes(event: &Event) -> bool {
    matches!(
        event,
        Event::StepRecorded { .. } | Event::UndoFinished { .. } | Event::RunResumed { .. }
    )
}

/// Returns whether receipts may be missing after an event.
fn completes_chain(event: &Event) -> bool {
    matches!(
        event,
        Event::ExecutionEntered { .. }
            | Event::ApprovalChecked { .. }
            | Event::BaselineRan(_)
            | Event::TestsRan { .. }
            | Event::StepProved { .. }
            | Event::StepRecorded { .. }
            | Event::UndoFinished { .. }
            | Event::RunResumed { .. }
    )
}

impl RunContext {
    /// Creates the shared parts of a run that a journal has loaded.
    pub(super) fn new(
        setup: RunSetup,
        journal: RunJournal,
        repository: Option<GitRepository>,
        inputs: mpsc::Sender<EngineInput>,
        cancel: CancellationToken,
    ) -> Self {
        let receipts = ReceiptWriter::new(journal.guard().clone(), journal.state().run.clone());
        Self {
            setup: Arc::new(setup),
            receipts,
            seen_trees: SeenTrees::default(),
            journal,
            repository,
            inputs,
            tasks: JoinSet::new(),
            view_updates: Vec::new(),
            cancel,
            final_work_cancel: CancellationToken::new(),
            tree_lock: Arc::default(),
            outcome: None,
            warnings: ReportedWarnings::default(),
            restored_in_turn: Vec::new(),
            follow_ups: Vec::new(),
        }
    }

    /// Returns the current state of the run.
    pub(super) fn state(&self) -> &RunState {
        self.journal.state()
    }

    /// Returns the adapter of a role's session.
    pub(super) fn role_adapter(&self, role: Role) -> Result<&NamedAdapter, String> {
        let session = self.state().session(role);
        let name = &session.ok_or("this run has no such role")?.adapter;
        self.find_adapter(name)
            .ok_or_else(|| format!("no adapter `{name}` is set up for this run"))
    }

    pub(super) fn find_adapter(&self, name: &str) -> Option<&NamedAdapter> {
        let mut adapters = self.setup.adapters.values();
        adapters.find(|adapter| adapter.name == name)
    }

    /// Returns the other adapter that a role could move to: one that was probed before the start and can keep a
    /// turn to what it may write.
    pub(super) fn failover_adapter(&self, role: Role) -> Option<String> {
        let current = &self.state().session(role)?.adapter;
        let mut adapters = self.setup.adapters.values();
        let other =
            adapters.find(|adapter| adapter.name != *current && adapter.traits().is_sandboxed());
        other.map(|adapter| adapter.name.clone())
    }

    pub(super) fn raw_stream(&self, session: &SessionId) -> RawStream {
        self.journal
            .session_files(session)
            .open_raw_stream(MAX_RAW_FILE_BYTES, Box::new(clean_json_line))
    }

    /// Returns the part of the decision context that does not depend on who makes the call under this profile.
    pub(super) fn base_decision_context(
        &self,
        profile: &str,
        access: PhaseAccess,
        root: &Path,
    ) -> DecisionContext {
        DecisionContext {
            program_folders: vec![self.journal.layout().workdir().to_path_buf()],
            mode: self.state().mode,
            uncontained_policy: self.setup.uncontained_policy,
            ..self
                .setup
                .permissions
                .decision_context(profile, access, root)
        }
    }

    /// Returns the stored approvals; if they cannot be read, the user is asked again.
    pub(super) fn load_stored_approvals(&mut self) -> Result<Vec<StoredApproval>, EngineError> {
        match self.setup.approvals.list_for_run(&self.state().run) {
            Ok(approved) => Ok(approved),
            Err(error) => {
                self.warn_once("read your earlier approvals", error_with_hint(&error))?;
                Ok(Vec::new())
            }
        }
    }

    /// Returns the repository for commits; `None` means that commits are off.
    pub(super) fn commit_repository(&self) -> Option<&GitRepository> {
        self.repository
            .as_ref()
            .filter(|_| self.setup.commits_off_reason.is_none())
    }

    /// Returns the repository with calls that outlive the cancellation of the run.
    pub(super) fn uncancelled_repository(&self) -> Option<GitRepository> {
        let git = self.repository.clone()?;
        Some(git.with_cancel(self.final_work_cancel.clone()))
    }

    /// Returns the number of the folder under `iterations/` for the plan that the next review is about.
    pub(super) fn next_iteration(&self) -> u32 {
        self.state().findings.review_count() + 1
    }

    /// Returns a child session of this run.
    pub(super) fn child_session(&self, session: &SessionId) -> Option<&ChildSession> {
        let mut children = self.state().children.iter();
        children.find(|child| child.session_id() == session)
    }

    /// Records an event and steps the run; its effects are performed after the calling owner has returned.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub(super) fn record(&mut self, event: Event) -> Result<(), EngineError> {
        let step = self.record_step(event)?;
        let is_inert = step.effects.is_empty() && step.phase_before == step.phase_after;
        if !is_inert || step.is_resume {
            self.follow_ups.push(FollowUp::Step(step));
        }
        Ok(())
    }

    /// Records events in order.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub(super) fn record_all(
        &mut self,
        events: impl IntoIterator<Item = Event>,
    ) -> Result<(), EngineError> {
        events.into_iter().try_for_each(|event| self.record(event))
    }

    /// Records an event that has no effects and is followed by another at once; it becomes durable with that one.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub(super) fn record_unsynced(&mut self, event: Event) -> Result<(), EngineError> {
        let (record, _none) = self.journal.record_unsynced(event)?;
        self.show_record(record);
        Ok(())
    }

    /// Records an event, steps the run, writes the files that follow from it, and returns what else it causes.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub(super) fn record_step(&mut self, event: Event) -> Result<RecordedStep, EngineError> {
        let phase_before = self.state().phase;
        let is_resume = matches!(event, Event::RunResumed { .. });
        let (record, effects) = self.journal.record(event)?;
        if let Some(entry) = run_log_entries::event_log_entry(&record, self.state().iteration) {
            self.journal.append_log_entry(&entry)?;
        }
        role_session::save_role_sessions(&self.journal, &record.event)?;
        if let Some(progress) = OwnerRequest::from_child_event(self.state(), &record.event) {
            self.request(progress);
        }
        let completes = completes_chain(&record.event);
        let is_noted = completes_notes(&record.event);
        self.show_record(record);
        if completes {
            self.complete_receipts()?;
        }
        if is_noted && let Some(git) = self.notes_repository() {
            let receipts = self.receipts.clone();
            self.spawn_events_task(async move {
                let failed = receipts.write_notes(&git).await.err();
                let warning = failed.map(|why| warning_event(WRITE_NOTES, why));
                warning.into_iter().collect()
            });
        }
        Ok(RecordedStep {
            phase_before,
            phase_after: self.state().phase,
            is_resume,
            effects,
        })
    }

    /// Returns the event that says that the run has left `from` for its current phase.
    pub(super) fn phase_change_from(&self, from: Phase) -> Event {
        let to = self.state().phase;
        let is_agreed = to == Phase::Approved;
        Event::PhaseChanged {
            from,
            to,
            reason: is_agreed
                .then(|| self.state().describe_review_end())
                .flatten(),
        }
    }

    /// Returns the change of phase that was not recorded because the program ended just before; `None` if it was.
    ///
    /// # Errors
    /// The log cannot be read.
    pub(super) fn find_unrecorded_phase_change(&self) -> Result<Option<Event>, EngineError> {
        let last = self.journal.load_last_phase_change()?;
        let from = last.filter(|phase| *phase != self.state().phase);
        Ok(from.map(|from| self.phase_change_from(from)))
    }

    /// Appends the receipts that the chain lacks, and records its new head.
    fn complete_receipts(&mut self) -> Result<(), EngineError> {
        let event = match self.receipts.complete_chain(self.state()) {
            Ok(Some(event)) => event,
            Ok(None) => return Ok(()),
            Err(error) => {
                let why = format!("{error} (hint: {})", error.hint());
                if !self.warnings.insert(WRITE_RECEIPTS, &why) {
                    return Ok(());
                }
                warning_event(WRITE_RECEIPTS, why)
            }
        };
        let (record, _none) = self.journal.record(event)?;
        self.show_record(record);
        Ok(())
    }

    /// Returns the repository whose notes get the receipts; its calls outlive the cancellation of the run.
    fn notes_repository(&self) -> Option<GitRepository> {
        let git = self.commit_repository()?.clone();
        let is_wanted = self.setup.config.commit.notes && self.state().receipt_head.is_some();
        is_wanted.then(|| git.with_cancel(self.final_work_cancel.clone()))
    }

    /// Waits until all receipts that this process wrote are in notes.
    pub(super) async fn finish_notes(&self) {
        let Some(git) = self.notes_repository().filter(|_| self.receipts.is_open()) else {
            return;
        };
        if let Err(error) = self.receipts.write_notes(&git).await {
            tracing::error!(%error, "the last receipts are not in git notes");
        }
    }

    /// Asks another owner for something; it is done after the calling owner has returned.
    pub(super) fn request(&mut self, request: OwnerRequest) {
        self.follow_ups.push(FollowUp::Request(request));
    }

    /// Reports a failure that nothing waits for, once per process.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub(super) fn warn_once(&mut self, what: &str, error: impl Display) -> Result<(), EngineError> {
        let error = error.to_string();
        if self.warnings.insert(what, &error) {
            self.record(warning_event(what, error))
        } else {
            Ok(())
        }
    }

    /// Compares the program's own files with what it wrote, and restores them, outside the main loop.
    pub(super) fn check_tampering(
        &self,
    ) -> impl Future<Output = Result<Vec<TamperedFile>, StoreError>> + Send + use<> {
        RunJournal::check_tampering(self.journal.guard().clone())
    }

    /// Records which of the program's own files another process changed, if any.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub(super) fn report_tampered_files(
        &mut self,
        tampered: &[TamperedFile],
    ) -> Result<(), EngineError> {
        if tampered.is_empty() {
            return Ok(());
        }
        let name = |path: &Path| agent_activity::clean_line(&path.to_string_lossy());
        let files = tampered
            .iter()
            .map(|file| (name(&file.path), file.kept_copy.as_deref().map(name)));
        let files: Vec<RestoredFile> = files.collect();
        if self.state().has_running_turn_that_counts() {
            self.restored_in_turn.extend(files.iter().cloned());
        }
        self.record(Event::StoreTampered { files })
    }

    fn show_record(&mut self, record: EventLogRecord<Event>) {
        self.view_updates.push(ViewUpdate::from(record));
    }

    /// Shows front ends a piece of an agent's text.
    pub(super) fn show_delta(&mut self, delta: TextDelta) {
        self.view_updates.push(ViewUpdate::TextDelta(delta));
    }

    /// Shows front ends how far a proof is; what is said of tests that were stopped comes too late.
    pub(super) fn show_proof_progress(&mut self, progress: ProofProgress) {
        let state = self.state();
        let is_present = match progress.step {
            0 => state.busy == Some(ProgramOperation::Baseline),
            step => state.is_testing_step() && state.current_step_number() == Some(step),
        };
        if is_present {
            let at = self.journal.now();
            self.view_updates
                .push(ViewUpdate::ProofProgress(at, progress));
        }
    }

    /// Runs work outside the main loop; its result comes back as an event.
    pub(super) fn spawn_event_task(&mut self, work: impl Future<Output = Event> + Send + 'static) {
        self.spawn_events_task(async move { vec![work.await] });
    }

    /// Runs work outside the main loop; its results come back as events, in order.
    pub(super) fn spawn_events_task(
        &mut self,
        work: impl Future<Output = Vec<Event>> + Send + 'static,
    ) {
        let done = self.inputs.clone();
        self.tasks.spawn(async move {
            for event in work.await {
                // The receiver is gone only if the program is about to end.
                let _nobody = done.send(EngineInput::Event(Box::new(event))).await;
            }
        });
    }

    /// Runs work outside the main loop; its result comes back as an input.
    pub(super) fn spawn_input_task(
        &mut self,
        work: impl Future<Output = EngineInput> + Send + 'static,
    ) {
        let done = self.inputs.clone();
        self.tasks.spawn(async move {
            // The receiver is gone only if the program is about to end.
            let _nobody = done.send(work.await).await;
        });
    }
}
