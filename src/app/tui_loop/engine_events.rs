//! Passes the engine's events to the screen.
//!
//! Agent output waits for the next frame of agent output. A key that arrives meanwhile is answered by a frame of a few
//! bytes, not after the terminal has received a page of text.

use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::Instant;

use crate::app::remote_control::halt_reason;
use crate::domain::event::Event;
use crate::domain::ids::UnixMillis;
use crate::domain::proof_progress::ProofProgress;
use crate::domain::text_delta::TextDelta;
use crate::engine::EngineInput;
use crate::store::event_log::EventLogRecord;

use super::TuiApp;
use super::frame_limiter::FrameReason;
use super::shutdown::TuiEnd;

/// Time to process engine inputs before the loop checks the keys again.
const BATCH_TIME: Duration = Duration::from_millis(1);

/// An update for the screen.
pub enum ViewUpdate {
    /// A piece of an agent's text.
    TextDelta(TextDelta),
    /// A test run of a proof starts or has ended.
    ProofProgress(UnixMillis, ProofProgress),
    EventRecord(Box<EventLogRecord<Event>>),
}

impl TuiApp {
    /// Handles an engine input, and all others that are ready.
    pub(super) fn on_engine_inputs(
        &mut self,
        first: EngineInput,
    ) -> Result<Option<TuiEnd>, TuiEnd> {
        let Some(engine) = &mut self.engine else {
            return Ok(None);
        };
        engine.handle_input(first)?;
        let until = Instant::now() + BATCH_TIME;
        while Instant::now() < until {
            let Some(inward) = engine.next_input().now_or_never() else {
                break;
            };
            engine.handle_input(inward)?;
        }
        self.show_updates()
    }

    /// Applies a user's event to the run.
    pub(super) fn feed_event(&mut self, event: Event) -> Result<Option<TuiEnd>, TuiEnd> {
        let Some(engine) = &mut self.engine else {
            return Ok(None);
        };
        if let Some(why) = halt_reason(engine) {
            self.screen.on_notice(&why);
            return Ok(None);
        }
        engine.apply_event(event)?;
        self.show_updates()
    }

    /// Makes the run hold its turns while the user is asked whether to stop.
    pub(super) fn sync_turn_hold(&mut self) -> Result<Option<TuiEnd>, TuiEnd> {
        let hold = self.screen.turn_hold();
        let Some(engine) = &mut self.engine else {
            return Ok(None);
        };
        let state = engine.state();
        let is_so = state.turn_hold == hold || state.phase.is_final();
        if is_so || self.leave_at.is_some() || halt_reason(engine).is_some() {
            return Ok(None);
        }
        engine.hold_turns(hold)?;
        self.show_updates()
    }

    /// Collects updates for the screen; returns whether all of them can wait for the next frame of agent output.
    fn collect_updates(&mut self) -> bool {
        let Some(engine) = &mut self.engine else {
            return true;
        };
        let deltas = engine.take_deltas().into_iter();
        self.pending_updates
            .extend(deltas.map(ViewUpdate::TextDelta));
        let records = engine.take_recorded();
        let says_more = |record: &EventLogRecord<Event>| {
            matches!(
                record.event,
                Event::NoteMade { .. } | Event::NoteRemoved { .. } | Event::MessageQueued { .. }
            )
        };
        if records.iter().any(says_more) {
            // The preview must include it: the turn at the gate will send it, too.
            self.previewed_question = None;
        }
        let is_flow = |record: &EventLogRecord<Event>| matches!(record.event, Event::Agent { .. });
        let is_all_flow = records.iter().all(is_flow);
        self.pending_updates.extend(
            records
                .into_iter()
                .map(|record| ViewUpdate::EventRecord(Box::new(record))),
        );
        // An event before them may be what they follow from.
        let progress = engine.take_proof_progress().into_iter();
        self.pending_updates
            .extend(progress.map(|(at, progress)| ViewUpdate::ProofProgress(at, progress)));
        is_all_flow
    }

    /// Applies the collected updates to the screen.
    pub(super) fn apply_updates(&mut self) {
        for news in std::mem::take(&mut self.pending_updates) {
            match news {
                ViewUpdate::TextDelta(delta) => self.screen.on_delta(delta),
                ViewUpdate::ProofProgress(at, progress) => {
                    self.screen.on_proof_progress(at, &progress);
                }
                ViewUpdate::EventRecord(record) => {
                    self.load_next_task(&record.event);
                    self.screen.on_event(record.at, &record.event);
                }
            }
        }
    }

    /// Takes updates from the run: shows agent output at the pace of its frames, everything else at once.
    pub(super) fn show_updates(&mut self) -> Result<Option<TuiEnd>, TuiEnd> {
        let is_all_flow = self.collect_updates();
        let may_wait = self.input.is_some() && self.views.top().is_none() && is_all_flow;
        if let Some(engine) = &mut self.engine
            && engine.outcome().is_some()
        {
            engine.end_conversations();
        }
        if !may_wait {
            self.apply_updates();
            self.refresh_branch()?;
            // The user may be waiting for it: the start of a turn, a question, an end.
            self.frame_reason = FrameReason::ForUser;
        }
        let _told_with_the_next_frame = self.update_behind_notice();
        self.preview_question();
        if let Some(end) = self.send_queued_text()? {
            return Ok(Some(end));
        }
        let left =
            self.leave_at.is_some() && self.state().is_none_or(|state| state.running.is_none());
        Ok(left.then_some(TuiEnd::Left))
    }
}
