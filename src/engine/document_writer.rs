//! Writes what is to stand in plan.md and comments.md, one after the other, whoever else writes them too.
//!
//! Another program may hold a document for seconds: what is to be written waits for it beside the loop, and every effect
//! that comes after it waits behind it, so that the order stays. The document of a turn that waits lies on the disk
//! meanwhile. Refuses to know what is written.

use crate::domain::effect::Effect;
use crate::domain::event::Event;
use crate::domain::plan::PlanStatus;
use crate::domain::question::QuestionAnswer;
use crate::domain::reversal_plan::ReversalPlan;
use crate::domain::run::ProgramOperation;
use crate::domain::turn::TurnOrder;
use crate::store::StoreError;

use super::document_commit::{self, WorkflowDocumentLock};
use super::{Engine, EngineError, EngineInput, EngineOutcome, error_with_hint, warning_event};

/// What is to be written.
#[derive(Debug)]
pub(super) enum DocumentWrite {
    /// What a completed turn returned.
    TurnDocument(TurnOrder),
    /// What a conflict came to.
    ConflictResolution {
        /// Whose document it is about.
        order: TurnOrder,
        /// Whose text counts.
        answer: QuestionAnswer,
    },
    /// What a turn left when the program ended.
    RecoveredDraft(TurnOrder),
    /// Remarks of the user.
    Remarks(String),
    /// What the plan is in the phase at hand.
    PlanStatus,
    /// The end of a step.
    StepRecord(u32),
    /// Steps taken or brought back, with the tree from before and the commit.
    Reversal(ReversalPlan, String, Option<String>),
}

impl DocumentWrite {
    /// The turn whose document it is, where it is one's.
    fn turn_order(&self) -> Option<&TurnOrder> {
        match self {
            Self::TurnDocument(order)
            | Self::ConflictResolution { order, .. }
            | Self::RecoveredDraft(order) => Some(order),
            Self::Remarks(_) | Self::PlanStatus | Self::StepRecord(_) | Self::Reversal(..) => None,
        }
    }
}

/// What waits until another program lets go of the documents.
#[derive(Debug)]
pub(super) struct PostponedWrite {
    write: DocumentWrite,
    /// What is to be done after it.
    queued_effects: Vec<Effect>,
}

impl Engine {
    /// Performs an effect, or lines it up behind what waits to be written.
    pub(super) fn perform_or_queue(&mut self, effect: Effect) -> Result<Vec<Event>, EngineError> {
        // Once halted, nothing is done any more; what happened is still recorded.
        let halted = matches!(self.outcome, Some(EngineOutcome::Halted(_)));
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
        if let Effect::CollectDocument(order) | Effect::SettleConflict { order, .. } = &effect {
            self.save_returned_document(&order.turn);
        }
        if let Some(put_off) = &mut self.postponed_write {
            put_off.queued_effects.push(effect);
        }
        Ok(Vec::new())
    }

    /// Writes, or puts it off where another program holds one of the documents.
    pub(super) fn write_or_postpone(&mut self, writing: DocumentWrite) -> Vec<Event> {
        let pen = WorkflowDocumentLock::try_acquire(self.journal.guard());
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
        let (guard, done) = (self.journal.guard().clone(), self.inputs.0.clone());
        self.tasks.spawn(async move {
            let pen = WorkflowDocumentLock::acquire(&guard).await;
            // Nobody listens any more only when the program is about to end.
            let _nobody = done.send(EngineInput::DocumentLock(pen)).await;
        });
        Vec::new()
    }

    /// Writes into `plan.md` what it is now. What is written before it says so as well, so that nothing is lined up.
    pub(super) fn write_plan_status(&mut self) -> Vec<Event> {
        match self.postponed_write {
            None => self.write_or_postpone(DocumentWrite::PlanStatus),
            Some(_) => Vec::new(),
        }
    }

    /// Says in `plan.md` what the plan is in the phase at hand, where the file is the one that the run knows.
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
        let now = self.journal.now();
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

    /// Writes what was put off, or says why it cannot be; then what waited behind it is done.
    pub(super) fn on_document_lock(
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

    /// Whether the run still waits for it: the user may have stopped the run while it waited, or stood behind what did.
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
