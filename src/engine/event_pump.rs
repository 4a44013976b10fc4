//! Records each event, steps the run with it, and performs the effects that follow.

use std::collections::VecDeque;

use crate::domain::event::Event;
use crate::domain::phase::TurnHold;

use super::{Engine, EngineError, run_log_entries};

impl Engine {
    /// Applies an event: records it, steps the run, and performs the effects.
    ///
    /// # Errors
    /// Writing the record of the run failed.
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
                // Recorded before any code compares the file: otherwise the status would look like an edit of the
                // user.
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

    /// Holds turns while the user is asked whether to stop, or lets them start again.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub fn hold_turns(&mut self, hold: TurnHold) -> Result<(), EngineError> {
        self.apply_event(Event::TurnHoldChanged { hold })?;
        match hold {
            TurnHold::Held => Ok(()),
            TurnHold::Free => self.advance_all_discussions(),
        }
    }

    /// Records an event that has no effects and is followed by another at once; it becomes durable with that one.
    pub(super) fn apply_event_unsynced(&mut self, event: Event) -> Result<(), EngineError> {
        let (record, _none) = self.journal.record_unsynced(event)?;
        self.recorded.push(record);
        Ok(())
    }
}
