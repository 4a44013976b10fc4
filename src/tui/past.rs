//! What was recorded before this screen was there, made ready to be shown in front of what it has.
//!
//! Made beside the loop, where cleaning and retelling a long past delays no key. Refuses to know where
//! the events were kept.

use super::tabs::log::Record;
use super::transcript::{Transcript, WantsEarlier};
use super::{Screen, ScreenSettings};
use crate::domain::event::Recorded;
use crate::domain::ids::At;

/// A piece of the past as a screen shows it that has seen nothing else.
#[derive(Debug)]
pub struct Past {
    transcript: Transcript,
    record: Record,
    proposed_goal: Option<String>,
    goal_before: Option<String>,
    ended_at: Option<At>,
}

impl Past {
    /// Retells events in the order in which they happened; so many of their log came before them.
    pub fn of<'a>(before: u64, events: impl IntoIterator<Item = &'a Recorded>) -> Self {
        let mut screen = Screen::new(ScreenSettings::default());
        screen.transcript.begin_after(before);
        for recorded in events {
            screen.on_event(recorded.at, &recorded.event);
        }
        Self {
            transcript: screen.transcript,
            record: screen.record,
            proposed_goal: screen.proposed_goal,
            goal_before: screen.goal_before,
            ended_at: screen.ended_at,
        }
    }
}

impl Screen {
    /// Takes a piece of the past that lies right before everything that is shown.
    pub fn on_past(&mut self, past: Past) {
        self.dirty = true;
        self.transcript.put_before(past.transcript);
        self.record.put_before(past.record);
        self.ended_at = self.ended_at.or(past.ended_at);
        if self.proposed_goal.is_none() {
            (self.proposed_goal, self.goal_before) = (past.proposed_goal, past.goal_before);
        }
    }

    /// What of the log before everything that is shown somebody wants to see.
    pub fn wants_earlier(&self) -> Option<WantsEarlier> {
        self.transcript.wants_earlier()
    }

    /// Forgets everything that was said and done: it belongs to a run that is not gone on with.
    pub fn forget(&mut self) {
        self.dirty = true;
        self.transcript = Transcript::default();
        self.settle();
        self.record = Record::default();
        (self.proposed_goal, self.goal_before) = (None, None);
        self.ended_at = None;
    }
}
