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
        screen.tabs.chat.transcript.start_after(before);
        screen.tabs.log.events.start_after(before);
        for recorded in events {
            screen.on_event(recorded.at, &recorded.event);
        }
        Self {
            transcript: screen.tabs.chat.transcript,
            record: screen.tabs.log.events,
            proposed_goal: screen.dialogs.proposed_goal,
            goal_before: screen.dialogs.goal_before,
            is_goal_known: screen.dialogs.is_goal_known,
            ended_at: screen.run_facts.ended_at,
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
            return self.tabs.chat.on_log_search_result(&looked);
        }
        self.tabs.chat.transcript.prepend_chunk(past.transcript);
        self.tabs.log.events.prepend_chunk(past.record);
        self.tabs.chat.go_to_loaded_match();
        self.run_facts.ended_at = self.run_facts.ended_at.or(past.ended_at);
        // Proposals from before the goal was given or confirmed no longer count.
        if !self.dialogs.is_goal_known {
            self.dialogs.is_goal_known = past.is_goal_known;
            (self.dialogs.proposed_goal, self.dialogs.goal_before) =
                (past.proposed_goal, past.goal_before);
        }
    }

    /// Returns the part of the log that should be loaded or searched next.
    pub fn wanted_scrollback(&self) -> Option<ScrollbackDemand> {
        let looks = self.tabs.chat.wanted_log_search();
        let of_log = || {
            let is_seen = self.tabs.view.shown == TabKind::Log;
            self.tabs.log.events.wanted_scrollback().filter(|_| is_seen)
        };
        looks
            .or_else(of_log)
            .or_else(|| self.tabs.chat.transcript.wanted_scrollback())
    }

    /// Handles a log that cannot be read: stops waiting for more of it.
    pub fn on_scrollback_error(&mut self) {
        self.is_dirty |= self.tabs.chat.wanted_log_search().is_some()
            || self.tabs.log.events.wanted_scrollback().is_some();
        self.tabs.log.events.stop_scrollback();
        self.tabs.chat.stop_log_search();
    }

    /// Clears everything that was said and done: it belongs to a run that is not resumed.
    pub fn clear_run(&mut self) {
        self.is_dirty = true;
        self.tabs.chat.transcript = ChatTranscript::default();
        self.apply_settings();
        self.tabs.log.events = EventLogList::default();
        (self.dialogs.proposed_goal, self.dialogs.goal_before) = (None, None);
        self.dialogs.is_goal_known = false;
        self.run_facts.ended_at = None;
        self.tabs.mark_all_seen(&self.documents);
    }
}
