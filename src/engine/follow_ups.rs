//! Records each event, steps the run with it, and performs the effects that follow.

use std::collections::VecDeque;

use super::engine_error::{EngineError, EngineOutcome};
use crate::domain::effect::Effect;
use crate::domain::event::Event;
use crate::domain::phase::TurnHold;

use super::Engine;
use super::run_context::{FollowUp, RecordedStep};

impl Engine {
    /// Applies an event: records it, steps the run, and performs the effects.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub fn apply_event(&mut self, event: Event) -> Result<(), EngineError> {
        let step = self.run.record_step(event)?;
        self.finish_step(step)
    }

    /// Applies events in order.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub(super) fn apply_events(
        &mut self,
        events: impl IntoIterator<Item = Event>,
    ) -> Result<(), EngineError> {
        events
            .into_iter()
            .try_for_each(|event| self.apply_event(event))
    }

    /// Performs effects that were queued, then applies the events of before and those that follow from the effects.
    pub(super) fn perform_queued(
        &mut self,
        mut events: Vec<Event>,
        effects: impl IntoIterator<Item = Effect>,
    ) -> Result<(), EngineError> {
        for effect in effects {
            events.extend(self.perform_or_queue(effect)?);
            self.settle()?;
        }
        self.apply_events(events)
    }

    /// Performs an effect, or queues it behind a write to the documents that waits.
    pub(super) fn perform_or_queue(&mut self, effect: Effect) -> Result<Vec<Event>, EngineError> {
        // After a halt only effects that end something are performed; events are still recorded.
        let halted = matches!(self.run.outcome, Some(EngineOutcome::Halted(_)));
        let ends_something = matches!(
            effect,
            Effect::InterruptTurn(_)
                | Effect::StopTests
                | Effect::StopChildren(_)
                | Effect::ExpireApprovals { .. }
        );
        if halted && !ends_something {
            return Ok(Vec::new());
        }
        match self.documents.queue_behind_write(&self.run, effect) {
            Some(effect) => self.perform_effect(effect),
            None => Ok(Vec::new()),
        }
    }

    /// Performs what a recorded event causes, and the events that follow from that, in order.
    fn finish_step(&mut self, step: RecordedStep) -> Result<(), EngineError> {
        let mut queue = VecDeque::new();
        let mut next = Some(step);
        while let Some(step) = next {
            self.documents.clear_committed(self.run.state());
            self.settle()?;
            let is_new_phase = step.phase_before != step.phase_after;
            if is_new_phase {
                self.subagents.continue_waiting_patches(&mut self.run);
                queue.push_back(self.run.phase_change_from(step.phase_before));
            }
            if is_new_phase || step.is_resume {
                // Recorded before any code compares the file: otherwise the status would look like an edit of the
                // user.
                for marked in self.documents.write_plan_status(&mut self.run) {
                    self.run.record_step(marked)?;
                }
            }
            for effect in step.effects {
                queue.extend(self.perform_or_queue(effect)?);
                self.settle()?;
            }
            next = match queue.pop_front() {
                Some(event) => Some(self.run.record_step(event)?),
                None => None,
            };
        }
        Ok(())
    }

    /// Performs what the owners left to do, until nothing is left.
    pub(super) fn settle(&mut self) -> Result<(), EngineError> {
        for follow_up in std::mem::take(&mut self.run.follow_ups) {
            match follow_up {
                FollowUp::Step(step) => self.finish_step(step)?,
                FollowUp::Request(request) => self.perform_request(request)?,
            }
        }
        Ok(())
    }

    /// Holds turns while the user is asked whether to stop, or lets them start again.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub fn hold_turns(&mut self, hold: TurnHold) -> Result<(), EngineError> {
        self.apply_event(Event::TurnHoldChanged { hold })?;
        match hold {
            TurnHold::Held => Ok(()),
            TurnHold::Free => {
                self.discussions
                    .advance_all(&mut self.run, &mut self.subagents)?;
                self.settle()
            }
        }
    }
}
