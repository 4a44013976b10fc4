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

use super::documents::{self, Pen};
use super::{Engine, EngineError, Inward, Outcome, troubled, with_hint};

/// What is to be written.
#[derive(Debug)]
pub(super) enum Writing {
    /// What a completed turn returned.
    Returned(TurnOrder),
    /// What a conflict came to.
    Settled {
        /// Whose document it is about.
        order: TurnOrder,
        /// Whose text counts.
        answer: QuestionAnswer,
    },
    /// What a turn left when the program ended.
    Draft(TurnOrder),
    /// Remarks of the user.
    Remarks(String),
    /// What the plan is in the phase at hand.
    Status,
    /// The end of a step.
    Step(u32),
    /// Steps taken or brought back, with the tree from before and the commit.
    Reversal(ReversalPlan, String, Option<String>),
}

impl Writing {
    /// The turn whose document it is, where it is one's.
    fn order(&self) -> Option<&TurnOrder> {
        match self {
            Self::Returned(order) | Self::Settled { order, .. } | Self::Draft(order) => Some(order),
            Self::Remarks(_) | Self::Status | Self::Step(_) | Self::Reversal(..) => None,
        }
    }
}

/// What waits until another program lets go of the documents.
#[derive(Debug)]
pub(super) struct PutOff {
    writing: Writing,
    /// What is to be done after it.
    behind: Vec<Effect>,
}

impl Engine {
    /// Performs an effect, or lines it up behind what waits to be written.
    pub(super) fn perform_next(&mut self, effect: Effect) -> Result<Vec<Event>, EngineError> {
        // Once halted, nothing is done any more; what happened is still recorded.
        let halted = matches!(self.outcome, Some(Outcome::Halted(_)));
        let ends_something = matches!(
            effect,
            Effect::InterruptTurn(_) | Effect::StopChildren(_) | Effect::ExpireApprovals { .. }
        );
        if halted && !ends_something {
            return Ok(Vec::new());
        }
        if self.put_off.is_none() {
            return self.perform(effect);
        }
        if let Effect::CollectDocument(order) | Effect::SettleConflict { order, .. } = &effect {
            self.stage_document_of(&order.turn);
        }
        if let Some(put_off) = &mut self.put_off {
            put_off.behind.push(effect);
        }
        Ok(Vec::new())
    }

    /// Writes, or puts it off where another program holds one of the documents.
    pub(super) fn write(&mut self, writing: Writing) -> Vec<Event> {
        let pen = Pen::take(self.journal.guard());
        if !matches!(pen, Err(StoreError::LockBusy { .. })) {
            return self.write_with(pen, writing);
        }
        if let Some(order) = writing.order() {
            self.stage_document_of(&order.turn);
        }
        self.put_off = Some(PutOff {
            writing,
            behind: Vec::new(),
        });
        let (guard, done) = (self.journal.guard().clone(), self.done.0.clone());
        self.tasks.spawn(async move {
            let pen = Pen::wait(&guard).await;
            // Nobody listens any more only when the program is about to end.
            let _nobody = done.send(Inward::Pen(pen)).await;
        });
        Vec::new()
    }

    /// Writes into `plan.md` what it is now. What is written before it says so as well, so that nothing is lined up.
    pub(super) fn write_status(&mut self) -> Vec<Event> {
        match self.put_off {
            None => self.write(Writing::Status),
            Some(_) => Vec::new(),
        }
    }

    /// Says in `plan.md` what the plan is in the phase at hand, where the file is the one that the run knows.
    fn mark_plan(&self, pen: Result<Pen, StoreError>) -> Vec<Event> {
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
        let marked = pen.and_then(|pen| documents::set_status(&pen, &known, status, now));
        match marked {
            Ok(Some(file_sha256)) => vec![Event::PlanMarked { file_sha256 }],
            Ok(None) => Vec::new(),
            Err(error) => vec![troubled("write the plan's status", with_hint(&error))],
        }
    }

    /// Writes what was put off, or says why it cannot be; then what waited behind it is done.
    pub(super) fn on_pen(&mut self, pen: Result<Pen, StoreError>) -> Result<(), EngineError> {
        let Some(PutOff { writing, behind }) = self.put_off.take() else {
            return Ok(());
        };
        let mut events = self.write_with(pen, writing);
        for effect in behind {
            events.extend(self.perform_next(effect)?);
        }
        for event in events {
            self.feed(event)?;
        }
        Ok(())
    }

    /// Whether the run still waits for it: the user may have stopped the run while it waited, or stood behind what did.
    fn is_wanted(&self, writing: &Writing) -> bool {
        writing.order().is_none_or(|order| {
            let busy = self.state().busy.as_ref();
            busy.is_some_and(
                |busy| matches!(busy, ProgramOperation::Collecting { order: at, .. } if at.turn == order.turn),
            )
        })
    }

    fn write_with(&mut self, pen: Result<Pen, StoreError>, writing: Writing) -> Vec<Event> {
        if !self.is_wanted(&writing) {
            return Vec::new();
        }
        match writing {
            Writing::Returned(order) => self.collect(&order, pen),
            Writing::Settled { order, answer } => self.settle_conflict(&order, &answer, pen),
            Writing::Draft(order) => self.take_draft(&order, pen),
            Writing::Remarks(text) => self.append_remarks(&text, pen),
            Writing::Status => self.mark_plan(pen),
            Writing::Step(step) => self.record_step(step, pen),
            Writing::Reversal(reversal, kept, commit) => {
                self.record_reversal(&reversal, (kept, commit), pen)
            }
        }
    }
}
