//! Older events from the log, prepared for display in front of what the screen has.
//!
//! Runs outside the event loop, so that cleaning and replaying a long history does not delay keys.
//! The caller reads the log.

use super::scrollback_chunk::ScrollbackChunk;
use super::{Screen, ScreenSettings};
use crate::domain::event::EventRecord;

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
