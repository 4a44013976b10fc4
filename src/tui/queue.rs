//! What the user sent while an agent talked: kept, and given to the agent once it is done.
//!
//! Refuses to send it to anybody else: where the talk is over it goes back to the composer.

use super::Screen;
use super::action::Action;
use super::keymap::IsWriting;
use crate::domain::event::Event;
use crate::domain::phase::Phase;
use crate::domain::run::State;

impl Screen {
    /// Gives out what was queued, once it can be said; to be asked after each change of the run.
    pub fn due(&mut self, state: Option<&State>) -> Vec<Action> {
        let Some(state) = state.filter(|_| !self.helped.queued.is_empty()) else {
            return Vec::new();
        };
        if state.phase != Phase::RefineGoal {
            self.take_queued_back();
            return self.refuse("the talk about the goal is over; what you queued was not sent");
        }
        let is_idle = state.running.is_none() && state.busy.is_none();
        if !is_idle || state.awaiting.is_some() || !state.approvals.is_empty() {
            return Vec::new();
        }
        self.dirty = true;
        let text = std::mem::take(&mut self.helped.queued).join("\n\n");
        vec![Action::Event(Event::Said { text })]
    }

    /// Puts what was queued before what is written; says whether there was something.
    pub(super) fn take_queued_back(&mut self) -> bool {
        if self.helped.queued.is_empty() {
            return false;
        }
        self.dirty = true;
        let mut texts = std::mem::take(&mut self.helped.queued);
        texts.push(self.composer.text());
        let text = texts.join("\n\n");
        self.composer.set(text.trim());
        self.writing = IsWriting::Yes;
        true
    }
}
