//! What was recorded before this screen was there, made ready to be shown in front of what it has.
//!
//! Made beside the loop, where cleaning and retelling a long past delays no key. Refuses to know where
//! the events were kept.

use super::tabs::Tab;
use super::tabs::log::Record;
use super::transcript::{Looked, Transcript, WantsEarlier};
use super::{Screen, ScreenSettings};
use crate::domain::event::EventRecord;
use crate::domain::ids::UnixMillis;

/// A piece of the past as a screen shows it that has seen nothing else.
#[derive(Debug)]
pub struct Past {
    transcript: Transcript,
    record: Record,
    proposed_goal: Option<String>,
    goal_before: Option<String>,
    is_goal_known: bool,
    ended_at: Option<UnixMillis>,
    looked: Option<Looked>,
}

impl Past {
    /// Retells events in the order in which they happened; so many of their log came before them.
    pub fn of<'a>(before: u64, events: impl IntoIterator<Item = &'a EventRecord>) -> Self {
        let mut screen = Screen::new(ScreenSettings::default());
        screen.transcript.begin_after(before);
        screen.record.begin_after(before);
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
            looked: None,
        }
    }

    /// Looks for letters, given in lower case, and keeps nothing but what came of it.
    #[must_use]
    pub fn looked_through(self, letters: &str) -> Self {
        let looked = self.transcript.looked_through(letters);
        Self {
            looked: Some(looked),
            ..Self::of(0, [])
        }
    }
}

impl Screen {
    /// Takes a piece of the past that lies right before what is shown or was looked through.
    pub fn on_past(&mut self, past: Past) {
        self.dirty = true;
        if let Some(looked) = past.looked {
            return self.on_looked(&looked);
        }
        self.transcript.put_before(past.transcript);
        self.record.put_before(past.record);
        self.go_to_what_was_told();
        self.ended_at = self.ended_at.or(past.ended_at);
        // What was proposed before the goal was given or confirmed is proposed no more.
        if !self.is_goal_known {
            self.is_goal_known = past.is_goal_known;
            (self.proposed_goal, self.goal_before) = (past.proposed_goal, past.goal_before);
        }
    }

    /// What of the log before everything that is shown somebody wants to see, or to have looked through.
    pub fn wants_earlier(&self) -> Option<WantsEarlier> {
        let looks = self.looks_further_back();
        let of_log = || {
            let is_seen = self.tab == Tab::Log;
            self.record.wants_earlier().filter(|_| is_seen)
        };
        looks
            .or_else(of_log)
            .or_else(|| self.transcript.wants_earlier())
    }

    /// Takes in that the log cannot be read: nobody waits for more of it.
    pub fn on_past_unread(&mut self) {
        self.dirty |= self.looks_further_back().is_some() || self.record.wants_earlier().is_some();
        self.record.stop_reading();
        self.end_looking_back();
    }

    /// Forgets everything that was said and done: it belongs to a run that is not gone on with.
    pub fn forget(&mut self) {
        self.dirty = true;
        self.transcript = Transcript::default();
        self.settle();
        self.record = Record::default();
        (self.proposed_goal, self.goal_before) = (None, None);
        self.is_goal_known = false;
        self.ended_at = None;
        self.note_all_read();
    }
}
