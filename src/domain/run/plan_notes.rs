//! Handles the user's notes on lines of the plan.
//!
//! They change no phase: they go into the next prompts about the plan.

use super::RunState;
use crate::domain::effect::Effect;
use crate::domain::phase::Phase;

/// Returns why no note can be made now.
pub fn notes_blocker(state: &RunState) -> Option<&'static str> {
    match state.phase {
        _ if state.plan.is_none() => Some("no plan yet"),
        Phase::Execute => Some("the plan is running: stop the run first"),
        Phase::Done | Phase::Cancelled => Some("the run is finished"),
        Phase::Init
        | Phase::RefineGoal
        | Phase::WritePlan
        | Phase::Review
        | Phase::Respond
        | Phase::Approved => None,
    }
}

pub(super) fn on_note_made(
    state: &mut RunState,
    line: u32,
    quote: &str,
    text: &str,
) -> Vec<Effect> {
    if notes_blocker(state).is_none() {
        state.notes.add(line, quote, text);
    }
    Vec::new()
}

pub(super) fn on_note_removed(state: &mut RunState, n: u32) -> Vec<Effect> {
    if !state.phase.is_final() {
        state.notes.remove(n);
    }
    Vec::new()
}
