//! Emits trace events between two durable changes, so that a test can simulate a crash there.
//!
//! Does nothing else at these places: a test listens for the events, and ends the process from outside.

use std::path::Path;

/// The target of the trace events; no log of the program writes them.
pub const FAILPOINT_TARGET: &str = "agent_collab::boundary";

/// Traces that the program is just before a change of a file, or after the last part of one.
pub fn trace_file_change(place: &'static str, path: &Path) {
    tracing::trace!(target: FAILPOINT_TARGET, place, path = %path.display());
}

/// Traces that the program is about to perform an effect.
pub fn trace_effect(effect: &impl std::fmt::Debug) {
    tracing::trace!(target: FAILPOINT_TARGET, place = "effect", path = first_word(effect));
}

fn first_word(effect: &impl std::fmt::Debug) -> String {
    let mut text = format!("{effect:?}");
    let end = text.find(|c: char| !c.is_alphanumeric());
    text.truncate(end.unwrap_or(text.len()));
    text
}
