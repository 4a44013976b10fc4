//! Older events, prepared for display.

use super::tabs::log::EventLogList;
use super::transcript::{ChatTranscript, LogSearchResult};
use crate::domain::ids::UnixMillis;

/// The display data of a piece of the log, built as on an empty screen.
#[derive(Debug)]
pub struct ScrollbackChunk {
    pub(super) transcript: ChatTranscript,
    pub(super) record: EventLogList,
    pub(super) proposed_goal: Option<String>,
    pub(super) goal_before: Option<String>,
    pub(super) is_goal_known: bool,
    pub(super) ended_at: Option<UnixMillis>,
    pub(super) log_search: Option<LogSearchResult>,
}
