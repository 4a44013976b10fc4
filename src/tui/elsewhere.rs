//! A word on what happened in Chat, for whoever looks at another tab: it stands in the footer for a moment.
//!
//! Refuses to take the place of a word that answers the user, or of keys of an open dialog.

use std::time::Duration;

use super::Screen;
use super::tabs::Tab;
use super::transcript::facts;
use crate::domain::event::Event;
use crate::domain::ids::At;

/// How long it stands, in milliseconds.
const STANDS_MS: i64 = 4_000;

/// What happened, and when.
#[derive(Debug)]
pub(super) struct Elsewhere {
    text: String,
    at: At,
}

impl Screen {
    /// Keeps the word on an event that the user waits for.
    pub(super) fn note_elsewhere(&mut self, at: At, event: &Event) {
        let is_awaited = matches!(
            event,
            Event::PlanCommitted { .. }
                | Event::ReviewCommitted { .. }
                | Event::ResponseCommitted { .. }
                | Event::TestsRan { .. }
                | Event::StepRecorded { .. }
                | Event::CommitSkipped { .. }
                | Event::SessionMoved { .. }
                | Event::TaskEnded(_)
        );
        let facts = if is_awaited { facts(event) } else { Vec::new() };
        if !facts.is_empty() {
            let text = facts.join(" · ");
            self.elsewhere = Some(Elsewhere { text, at });
        }
    }

    /// The word, while it stands; a replayed event is long over.
    pub(super) fn elsewhere(&self) -> Option<&str> {
        let elsewhere = self.elsewhere.as_ref().filter(|_| self.tab != Tab::Chat)?;
        self.left_of(elsewhere).map(|_| elsewhere.text.as_str())
    }

    /// How long it still stands.
    pub fn elsewhere_for(&self) -> Option<Duration> {
        self.left_of(self.elsewhere.as_ref()?)
    }

    fn left_of(&self, elsewhere: &Elsewhere) -> Option<Duration> {
        let age = self.time()?.0.saturating_sub(elsewhere.at.0);
        let left = u64::try_from(STANDS_MS.saturating_sub(age)).ok()?;
        ((0..STANDS_MS).contains(&age)).then(|| Duration::from_millis(left))
    }
}
