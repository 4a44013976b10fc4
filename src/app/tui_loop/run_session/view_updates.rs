//! Collects what the screen is to show of a run, in order.

use crate::domain::event::Event;
use crate::domain::ids::UnixMillis;
use crate::domain::proof_progress::ProofProgress;
use crate::domain::text_delta::TextDelta;
use crate::engine::Engine;
use crate::store::event_log::EventLogRecord;

/// An update for the screen.
pub enum ViewUpdate {
    /// A piece of an agent's text.
    TextDelta(TextDelta),
    /// A test run of a proof starts or has ended.
    ProofProgress(UnixMillis, ProofProgress),
    EventRecord(Box<EventLogRecord<Event>>),
}

/// The updates that are not on the screen yet.
#[derive(Default)]
pub struct ViewUpdates {
    waiting: Vec<ViewUpdate>,
}

/// What was collected.
#[derive(Debug, Clone, Copy)]
pub struct CollectedUpdates {
    /// Whether all of it can wait for the next frame of agent output.
    pub is_all_output: bool,
    /// Whether the next turn will send more than before.
    pub changes_prompt: bool,
}

impl ViewUpdates {
    /// Returns whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Returns what waits.
    pub fn take(&mut self) -> Vec<ViewUpdate> {
        std::mem::take(&mut self.waiting)
    }

    /// Collects what the engine has for the screen.
    pub fn collect(&mut self, engine: &mut Engine) -> CollectedUpdates {
        let deltas = engine.take_deltas().into_iter();
        self.waiting.extend(deltas.map(ViewUpdate::TextDelta));
        let records = engine.take_recorded();
        let says_more = |record: &EventLogRecord<Event>| {
            matches!(
                record.event,
                Event::NoteMade(_)
                    | Event::NoteRemoved { .. }
                    | Event::ThreadResolved { .. }
                    | Event::MessageQueued { .. }
            )
        };
        let is_output =
            |record: &EventLogRecord<Event>| matches!(record.event, Event::Agent { .. });
        let collected = CollectedUpdates {
            is_all_output: records.iter().all(is_output),
            changes_prompt: records.iter().any(says_more),
        };
        let records = records.into_iter().map(Box::new);
        self.waiting.extend(records.map(ViewUpdate::EventRecord));
        // An event before them may be what they follow from.
        let progress = engine.take_proof_progress().into_iter();
        self.waiting
            .extend(progress.map(|(at, progress)| ViewUpdate::ProofProgress(at, progress)));
        collected
    }
}
