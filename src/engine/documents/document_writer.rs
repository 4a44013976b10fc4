//! Writes plan.md and comments.md, one write after the other, while other programs may be writing them too.
//!
//! Another program may lock a document for seconds. A write then waits outside the main loop, and all later effects
//! are queued behind it, so that their order stays the same. A turn's document that waits is saved on disk in the
//! meantime.

use crate::domain::effect::Effect;
use crate::domain::event::Event;
use crate::domain::plan::PlanStatus;
use crate::domain::question::QuestionAnswer;
use crate::domain::reversal_plan::ReversalPlan;
use crate::domain::run::{ProgramOperation, RunState};
use crate::domain::turn::TurnOrder;
use crate::engine::engine_input::EngineInput;
use crate::engine::run_context::RunContext;
use crate::engine::warnings::{error_with_hint, failure_event, warning_event};
use crate::store::StoreError;

use super::document_collector::CommitBase;
use super::document_commit::{
    self, AppendMode, DocumentCommitError, FrontMatterFacts, LockAttempt, ProgramSections,
    WorkflowDocumentLock,
};
use super::step_records::{amend_step, record_reversal};
use super::user_edits::try_detect_user_edits;
use super::{PendingDocument, RunDocuments};

/// A write to the documents.
#[derive(Debug)]
pub(in crate::engine) enum DocumentWrite {
    /// The document that a completed turn returned.
    TurnDocument(TurnOrder),
    /// The resolution of a conflict.
    ConflictResolution {
        /// The turn whose document is in conflict.
        order: TurnOrder,
        /// The user's decision whose text counts.
        answer: QuestionAnswer,
    },
    /// The document that a turn left when the program ended.
    RecoveredDraft(TurnOrder),
    Remarks(String),
    /// The threads about the plan.
    Threads,
    /// The status of the plan in the current phase.
    PlanStatus,
    /// The user's words for a step.
    Amendment {
        step: u32,
        text: String,
    },
    /// The result of a step.
    StepRecord(u32),
    /// Steps that were undone or redone, with the tree from before and the commit.
    Reversal(ReversalPlan, String, Option<String>),
}

impl DocumentWrite {
    /// Returns the turn whose document is written, if it is a turn's document.
    fn turn_order(&self) -> Option<&TurnOrder> {
        match self {
            Self::TurnDocument(order)
            | Self::ConflictResolution { order, .. }
            | Self::RecoveredDraft(order) => Some(order),
            Self::Remarks(_)
            | Self::Threads
            | Self::PlanStatus
            | Self::Amendment { .. }
            | Self::StepRecord(_)
            | Self::Reversal(..) => None,
        }
    }
}

/// A write that waits until another program releases the documents.
#[derive(Debug)]
pub(super) struct PostponedWrite {
    write: DocumentWrite,
    /// The effects to perform after it.
    queued_effects: Vec<Effect>,
}

impl RunDocuments {
    /// Queues an effect behind a postponed write; if there is none, returns the effect, to be performed now.
    pub(in crate::engine) fn queue_behind_write(
        &mut self,
        run: &RunContext,
        effect: Effect,
    ) -> Option<Effect> {
        let Some(postponed) = &mut self.postponed else {
            return Some(effect);
        };
        // A queued document must survive the end of the program.
        if let Effect::CollectDocument(order) | Effect::SettleConflict { order, .. } = &effect {
            save_returned_document(run, self.pending.as_ref(), order);
        }
        postponed.queued_effects.push(effect);
        None
    }

    /// Writes now, or postpones the write while another program locks one of the documents.
    pub(in crate::engine) fn write(
        &mut self,
        run: &mut RunContext,
        write: DocumentWrite,
    ) -> Vec<Event> {
        let lock = WorkflowDocumentLock::try_acquire(run.journal.guard());
        if !matches!(lock, Err(StoreError::LockBusy { .. })) {
            return self.perform_write(run, lock, write);
        }
        if let Some(order) = write.turn_order() {
            save_returned_document(run, self.pending.as_ref(), order);
        }
        self.postponed = Some(PostponedWrite {
            write,
            queued_effects: Vec::new(),
        });
        let guard = run.journal.guard().clone();
        run.spawn_input_task(async move {
            EngineInput::DocumentLock(WorkflowDocumentLock::acquire(&guard).await)
        });
        Vec::new()
    }

    /// Writes the plan's status into `plan.md`. A postponed write includes the status, so nothing is queued then.
    ///
    /// While the user edits the plan it waits: a file that changes under an editor is saved over, or not saved.
    pub(in crate::engine) fn write_plan_status(&mut self, run: &mut RunContext) -> Vec<Event> {
        if self.is_plan_in_editor || self.postponed.is_some() {
            return Vec::new();
        }
        self.write(run, DocumentWrite::PlanStatus)
    }

    /// Performs the postponed write, or reports why it is impossible; returns its events, and the effects that were
    /// queued behind it.
    pub(in crate::engine) fn on_lock(
        &mut self,
        run: &mut RunContext,
        lock: LockAttempt,
    ) -> (Vec<Event>, Vec<Effect>) {
        let Some(postponed) = self.postponed.take() else {
            return (Vec::new(), Vec::new());
        };
        let events = self.perform_write(run, lock, postponed.write);
        (events, postponed.queued_effects)
    }

    fn perform_write(
        &mut self,
        run: &mut RunContext,
        lock: LockAttempt,
        write: DocumentWrite,
    ) -> Vec<Event> {
        if !is_write_wanted(run.state(), &write) {
            return Vec::new();
        }
        match write {
            DocumentWrite::TurnDocument(order) => {
                self.commit_document(run, &order, &CommitBase::TurnStart, lock)
            }
            DocumentWrite::ConflictResolution { order, answer } => {
                self.resolve_conflict(run, &order, &answer, lock)
            }
            DocumentWrite::RecoveredDraft(order) => self.accept_draft(run, &order, lock),
            DocumentWrite::Remarks(text) => self.append_remarks(run, &text, lock),
            DocumentWrite::Threads => write_threads(run, lock),
            DocumentWrite::PlanStatus => mark_plan_status(run, lock),
            DocumentWrite::Amendment { step, text } => amend_step(run, step, &text, lock),
            DocumentWrite::StepRecord(step) => self.record_step(run, step, lock),
            DocumentWrite::Reversal(reversal, kept, commit) => {
                record_reversal(run, &reversal, kept, commit, lock)
            }
        }
    }

    fn append_remarks(&self, run: &RunContext, text: &str, lock: LockAttempt) -> Vec<Event> {
        let (facts, sections) = (comments_facts(run), ProgramSections::of(run.state()));
        let mode = if self.is_resumed {
            AppendMode::AfterCrash
        } else {
            AppendMode::First
        };
        let appended = lock
            .map_err(DocumentCommitError::Store)
            .and_then(|lock| document_commit::append_remarks(&lock, text, mode, &sections, &facts));
        vec![match appended {
            Ok(file_sha256) => Event::RemarksAppended { file_sha256 },
            Err(DocumentCommitError::Conflict) => failure_event(
                "append your remarks",
                format!(
                    "another program keeps writing to {}; end that program",
                    run.journal.layout().names().comments
                ),
            ),
            Err(DocumentCommitError::Store(error)) => failure_event("append your remarks", error),
        }]
    }
}

/// Returns what stands in the front matter of `comments.md` when the program adds to it between two turns.
fn comments_facts(run: &RunContext) -> FrontMatterFacts {
    let state = run.state();
    FrontMatterFacts {
        at: run.journal.now(),
        iteration: state.iteration.max(1),
        iteration_folder: state.findings.review_count().max(1),
        status: PlanStatus::Reviewing,
    }
}

/// Writes the threads to `comments.md`, unless the user edited it: their edit is read first, and the next commit writes both.
fn write_threads(run: &RunContext, lock: LockAttempt) -> Vec<Event> {
    let mut events = match try_detect_user_edits(run) {
        Ok(events) => events,
        Err(error) => return vec![failure_event("read the workflow files", error)],
    };
    if !events.is_empty() {
        return events;
    }
    let (facts, sections) = (comments_facts(run), ProgramSections::of(run.state()));
    let written = lock
        .map_err(DocumentCommitError::Store)
        .and_then(|lock| document_commit::rewrite_sections(&lock, &sections, &facts));
    match written {
        Ok(file_sha256) => events.push(Event::ThreadsWritten { file_sha256 }),
        // An editor saved in the meantime: the watcher reports it.
        Err(DocumentCommitError::Conflict) => {}
        Err(DocumentCommitError::Store(error)) => {
            events.push(failure_event("write the threads", error));
        }
    }
    events
}

/// Saves what a turn returned, because it must wait.
fn save_returned_document(run: &RunContext, pending: Option<&PendingDocument>, order: &TurnOrder) {
    if let Some(pending) = pending.filter(|pending| pending.order.turn == order.turn) {
        pending.save(run.journal.layout().names());
    }
}

/// Returns whether the run still needs the write: the user may have stopped the run while the write waited.
fn is_write_wanted(state: &RunState, write: &DocumentWrite) -> bool {
    let order = write.turn_order();
    order.is_none_or(|order| is_collected(state, order))
}

/// Returns whether the document of this turn is still to be committed.
pub(super) fn is_collected(state: &RunState, order: &TurnOrder) -> bool {
    matches!(&state.busy, Some(ProgramOperation::Collecting { order: at, .. }) if at.turn == order.turn)
}

/// Writes the status for the current phase into `plan.md`, if the file is the version that the run knows.
fn mark_plan_status(run: &RunContext, lock: LockAttempt) -> Vec<Event> {
    let state = run.state();
    let known = state.plan.as_ref().map(|plan| &plan.file_sha256);
    let (Some(known), Some(status)) = (known, PlanStatus::for_phase(state.phase)) else {
        return Vec::new();
    };
    let now = run.journal.now();
    let marked = lock.and_then(|lock| document_commit::set_plan_status(&lock, known, status, now));
    match marked {
        Ok(Some(file_sha256)) => vec![Event::PlanMarked { file_sha256 }],
        Ok(None) => Vec::new(),
        Err(error) => vec![warning_event(
            "write the plan's status",
            error_with_hint(&error),
        )],
    }
}
