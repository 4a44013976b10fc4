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
use crate::domain::run::ProgramOperation;
use crate::domain::turn::TurnOrder;
use crate::store::StoreError;

use super::document_commit::{self, WorkflowDocumentLock};
use crate::engine::{
    Engine, EngineError, EngineInput, EngineOutcome, error_with_hint, warning_event,
};

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
    /// The status of the plan in the current phase.
    PlanStatus,
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
            Self::Remarks(_) | Self::PlanStatus | Self::StepRecord(_) | Self::Reversal(..) => None,
        }
    }
}

/// A write that waits until another program releases the documents.
#[derive(Debug)]
pub(in crate::engine) struct PostponedWrite {
    write: DocumentWrite,
    /// The effects to perform after it.
    queued_effects: Vec<Effect>,
}

impl Engine {
    /// Performs an effect, or queues it behind a postponed write.
    pub(in crate::engine) fn perform_or_queue(
        &mut self,
        effect: Effect,
    ) -> Result<Vec<Event>, EngineError> {
        // After a halt only effects that end something are performed; events are still recorded.
        let halted = matches!(self.run.outcome, Some(EngineOutcome::Halted(_)));
        let ends_something = matches!(
            effect,
            Effect::InterruptTurn(_) | Effect::StopChildren(_) | Effect::ExpireApprovals { .. }
        );
        if halted && !ends_something {
            return Ok(Vec::new());
        }
        if self.postponed_write.is_none() {
            return self.perform_effect(effect);
        }
        // A queued document must survive the end of the program.
        if let Effect::CollectDocument(order) | Effect::SettleConflict { order, .. } = &effect {
            self.save_returned_document(&order.turn);
        }
        if let Some(put_off) = &mut self.postponed_write {
            put_off.queued_effects.push(effect);
        }
        Ok(Vec::new())
    }

    /// Writes now, or postpones the write while another program locks one of the documents.
    pub(in crate::engine) fn write_or_postpone(&mut self, writing: DocumentWrite) -> Vec<Event> {
        let pen = WorkflowDocumentLock::try_acquire(self.run.journal.guard());
        if !matches!(pen, Err(StoreError::LockBusy { .. })) {
            return self.perform_write(pen, writing);
        }
        if let Some(order) = writing.turn_order() {
            self.save_returned_document(&order.turn);
        }
        self.postponed_write = Some(PostponedWrite {
            write: writing,
            queued_effects: Vec::new(),
        });
        let (guard, done) = (self.run.journal.guard().clone(), self.run.inputs.clone());
        self.run.tasks.spawn(async move {
            let pen = WorkflowDocumentLock::acquire(&guard).await;
            // The receiver is gone only if the program is about to end.
            let _nobody = done.send(EngineInput::DocumentLock(pen)).await;
        });
        Vec::new()
    }

    /// Writes the plan's status into `plan.md`. A postponed write includes the status, so nothing is queued then.
    pub(in crate::engine) fn write_plan_status(&mut self) -> Vec<Event> {
        match self.postponed_write {
            None => self.write_or_postpone(DocumentWrite::PlanStatus),
            Some(_) => Vec::new(),
        }
    }

    /// Writes the status for the current phase into `plan.md`, if the file is the version that the run knows.
    fn mark_plan_status(&self, pen: Result<WorkflowDocumentLock, StoreError>) -> Vec<Event> {
        let known = self
            .state()
            .plan
            .as_ref()
            .map(|plan| plan.file_sha256.clone());
        let status = PlanStatus::for_phase(self.state().phase);
        let (Some(known), Some(status)) = (known, status) else {
            return Vec::new();
        };
        let now = self.run.journal.now();
        let marked =
            pen.and_then(|pen| document_commit::set_plan_status(&pen, &known, status, now));
        match marked {
            Ok(Some(file_sha256)) => vec![Event::PlanMarked { file_sha256 }],
            Ok(None) => Vec::new(),
            Err(error) => vec![warning_event(
                "write the plan's status",
                error_with_hint(&error),
            )],
        }
    }

    /// Performs the postponed write, or reports why it is impossible; then performs the queued effects.
    pub(in crate::engine) fn on_document_lock(
        &mut self,
        pen: Result<WorkflowDocumentLock, StoreError>,
    ) -> Result<(), EngineError> {
        let Some(PostponedWrite {
            write: writing,
            queued_effects: behind,
        }) = self.postponed_write.take()
        else {
            return Ok(());
        };
        let mut events = self.perform_write(pen, writing);
        for effect in behind {
            events.extend(self.perform_or_queue(effect)?);
        }
        for event in events {
            self.apply_event(event)?;
        }
        Ok(())
    }

    /// Returns whether the run still needs the write: the user may have stopped the run while the write waited.
    fn is_write_wanted(&self, writing: &DocumentWrite) -> bool {
        writing.turn_order().is_none_or(|order| {
            let busy = self.state().busy.as_ref();
            busy.is_some_and(
                |busy| matches!(busy, ProgramOperation::Collecting { order: at, .. } if at.turn == order.turn),
            )
        })
    }

    fn perform_write(
        &mut self,
        pen: Result<WorkflowDocumentLock, StoreError>,
        writing: DocumentWrite,
    ) -> Vec<Event> {
        if !self.is_write_wanted(&writing) {
            return Vec::new();
        }
        match writing {
            DocumentWrite::TurnDocument(order) => self.collect_document(&order, pen),
            DocumentWrite::ConflictResolution { order, answer } => {
                self.resolve_conflict(&order, &answer, pen)
            }
            DocumentWrite::RecoveredDraft(order) => self.accept_draft(&order, pen),
            DocumentWrite::Remarks(text) => self.append_remarks(&text, pen),
            DocumentWrite::PlanStatus => self.mark_plan_status(pen),
            DocumentWrite::StepRecord(step) => self.record_step(step, pen),
            DocumentWrite::Reversal(reversal, kept, commit) => {
                self.record_reversal(&reversal, kept, commit, pen)
            }
        }
    }
}
