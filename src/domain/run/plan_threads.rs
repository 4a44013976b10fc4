//! Handles the threads about the plan.
//!
//! They change no phase: they go into the next prompts about the plan.

use super::RunState;
use crate::domain::effect::Effect;
use crate::domain::ids::Sha256;
use crate::domain::phase::Phase;
use crate::domain::plan_thread::{ThreadChanges, ThreadEntry};

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

pub(super) fn on_note_made(state: &mut RunState, entry: &ThreadEntry) -> Vec<Effect> {
    if notes_blocker(state).is_some() || !state.threads.say(entry) {
        return Vec::new();
    }
    write_when_idle(state)
}

pub(super) fn on_note_removed(state: &mut RunState, n: u32) -> Vec<Effect> {
    if state.phase.is_final() || !state.threads.remove(n) {
        return Vec::new();
    }
    write_when_idle(state)
}

pub(super) fn on_thread_resolved(state: &mut RunState, n: u32) -> Vec<Effect> {
    if state.phase.is_final() || !state.threads.resolve(n) {
        return Vec::new();
    }
    write_when_idle(state)
}

pub(super) fn on_threads_changed(state: &mut RunState, changes: &ThreadChanges) -> Vec<Effect> {
    let version = state.findings.plan_version();
    state.threads.apply(changes, version);
    Vec::new()
}

pub(super) fn on_threads_written(state: &mut RunState, file_sha256: &Sha256) -> Vec<Effect> {
    state.comments_sha256 = Some(file_sha256.clone());
    Vec::new()
}

/// Writes the threads to `comments.md`. While an agent works on the documents, the commit of its turn does it.
fn write_when_idle(state: &RunState) -> Vec<Effect> {
    let is_idle = state.running.is_none() && state.busy.is_none() && state.draft.is_none();
    let has_comments = state.comments_sha256.is_some();
    if is_idle && has_comments && state.remarks.is_none() {
        vec![Effect::WriteThreads]
    } else {
        Vec::new()
    }
}
