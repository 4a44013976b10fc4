//! Takes events in: each is recorded and stepped, and what it leads to is performed.
//!
//! Refuses to know what an event means.

use std::collections::VecDeque;

use crate::domain::event::Event;
use crate::domain::phase::TurnHold;

use super::{Engine, EngineError, run_log_entries};

impl Engine {
    /// Takes an event in: it is recorded, stepped, and its effects are performed.
    ///
    /// # Errors
    /// The record of the run cannot be kept.
    pub fn apply_event(&mut self, event: Event) -> Result<(), EngineError> {
        let mut queue = VecDeque::from([event]);
        while let Some(event) = queue.pop_front() {
            let before = self.state().phase;
            let is_taken_up = matches!(event, Event::RunResumed { .. });
            let (record, effects) = self.journal.record(event)?;
            if let Some(entry) = run_log_entries::event_log_entry(&record, self.state().iteration) {
                self.journal.append_log_entry(&entry)?;
            }
            self.save_role_sessions(&record.event)?;
            self.report_call_progress(&record.event);
            self.recorded.push(record);
            let after = self.state().phase;
            if before != after {
                self.continue_waiting_patches();
                queue.push_back(Event::PhaseChanged {
                    from: before,
                    to: after,
                });
            }
            if before != after || is_taken_up {
                // On record before anything looks at the file: it is no edit of the user's.
                for marked in self.write_plan_status() {
                    let (record, _none) = self.journal.record(marked)?;
                    self.recorded.push(record);
                }
            }
            for effect in effects {
                queue.extend(self.perform_or_queue(effect)?);
            }
        }
        Ok(())
    }

    /// Holds turns back while the user is being asked whether to stop, or lets them start again.
    ///
    /// # Errors
    /// The record of the run cannot be kept.
    pub fn hold_turns(&mut self, hold: TurnHold) -> Result<(), EngineError> {
        self.apply_event(Event::TurnHoldChanged { hold })?;
        match hold {
            TurnHold::Held => Ok(()),
            TurnHold::Free => self.advance_all_discussions(),
        }
    }

    /// Takes in an event that another one follows at once and that nothing comes of by itself; it is durable with that.
    pub(super) fn apply_event_unsynced(&mut self, event: Event) -> Result<(), EngineError> {
        let (record, _none) = self.journal.record_unsynced(event)?;
        self.recorded.push(record);
        Ok(())
    }
}
