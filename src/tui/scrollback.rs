//! Older events from the log, prepared for display in front of what the screen has.
//!
//! Runs outside the event loop, so that cleaning and replaying a long history does not delay keys.
//! The caller reads the log.

use super::tabs::TabKind;
use super::tabs::log::EventLogList;
use super::transcript::{ChatTranscript, LogSearchResult, ScrollbackDemand};
use super::{Screen, ScreenSettings};
use crate::domain::event::EventRecord;
use crate::domain::ids::UnixMillis;

/// The display data of a piece of the log, built as on an empty screen.
#[derive(Debug)]
pub struct ScrollbackChunk {
    transcript: ChatTranscript,
    record: EventLogList,
    proposed_goal: Option<String>,
    goal_before: Option<String>,
    is_goal_known: bool,
    ended_at: Option<UnixMillis>,
    log_search: Option<LogSearchResult>,
}

impl ScrollbackChunk {
    /// Replays events in their original order; `before` is the number of events in the log before them.
    pub fn from_events<'a>(before: u64, events: impl IntoIterator<Item = &'a EventRecord>) -> Self {
        let mut screen = Screen::new(ScreenSettings::default());
        screen.transcript.start_after(before);
        screen.record.start_after(before);
        for recorded in events {
            screen.on_event(recorded.at, &recorded.event);
        }
        Self {
            transcript: screen.transcript,
            record: screen.record,
            proposed_goal: screen.proposed_goal,
            goal_before: screen.goal_before,
            is_goal_known: screen.is_goal_known,
            ended_at: screen.ended_at,
            log_search: None,
        }
    }

    /// Searches for letters, given in lower case, and keeps only the result.
    #[must_use]
    pub fn search(self, letters: &str) -> Self {
        let looked = self.transcript.search_chunk(letters);
        Self {
            log_search: Some(looked),
            ..Self::from_events(0, [])
        }
    }
}

impl Screen {
    /// Adds the piece of the log directly before what the screen shows or has searched.
    pub fn on_scrollback(&mut self, past: ScrollbackChunk) {
        self.is_dirty = true;
        if let Some(looked) = past.log_search {
            return self.on_log_search_result(&looked);
        }
        self.transcript.prepend_chunk(past.transcript);
        self.record.prepend_chunk(past.record);
        self.go_to_loaded_match();
        self.ended_at = self.ended_at.or(past.ended_at);
        // Proposals from before the goal was given or confirmed no longer count.
        if !self.is_goal_known {
            self.is_goal_known = past.is_goal_known;
            (self.proposed_goal, self.goal_before) = (past.proposed_goal, past.goal_before);
        }
    }

    /// Returns the part of the log that should be loaded or searched next.
    pub fn wanted_scrollback(&self) -> Option<ScrollbackDemand> {
        let looks = self.wanted_log_search();
        let of_log = || {
            let is_seen = self.tab == TabKind::Log;
            self.record.wanted_scrollback().filter(|_| is_seen)
        };
        looks
            .or_else(of_log)
            .or_else(|| self.transcript.wanted_scrollback())
    }

    /// Handles a log that cannot be read: stops waiting for more of it.
    pub fn on_scrollback_error(&mut self) {
        self.is_dirty |=
            self.wanted_log_search().is_some() || self.record.wanted_scrollback().is_some();
        self.record.stop_scrollback();
        self.stop_log_search();
    }

    /// Clears everything that was said and done: it belongs to a run that is not resumed.
    pub fn clear_run(&mut self) {
        self.is_dirty = true;
        self.transcript = ChatTranscript::default();
        self.apply_settings();
        self.record = EventLogList::default();
        (self.proposed_goal, self.goal_before) = (None, None);
        self.is_goal_known = false;
        self.ended_at = None;
        self.mark_all_tabs_seen();
    }
}
