//! Messages that the user sends while an agent talks: they are queued and sent when its turn ends.
//!
//! If the talk about the goal is over by then, they go back to the composer.

use super::Screen;
use super::action::Action;
use super::keymap::ComposerFocus;
use crate::domain::event::Event;
use crate::domain::phase::Phase;
use crate::domain::run::RunState;

impl Screen {
    /// Returns the queued messages as actions once the agent can take them; call it after each change of the run.
    pub fn drain_due_messages(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let Some(state) = state.filter(|_| !self.composer.assist.queued_messages.is_empty()) else {
            return Vec::new();
        };
        if state.phase != Phase::RefineGoal {
            self.recall_queued_messages();
            return self.show_toast("The goal is confirmed. Your queued messages were not sent.");
        }
        let is_idle = state.running.is_none() && state.busy.is_none();
        if !is_idle || state.awaiting.is_some() || !state.approvals.is_empty() {
            return Vec::new();
        }
        self.is_dirty = true;
        let text = std::mem::take(&mut self.composer.assist.queued_messages).join("\n\n");
        vec![Action::Event(Event::GoalMessageAdded { text })]
    }

    /// Puts the queued messages before the composer's text; returns whether there were any.
    pub(super) fn recall_queued_messages(&mut self) -> bool {
        let queued = std::mem::take(&mut self.composer.assist.queued_messages);
        let was_there = !queued.is_empty();
        self.return_messages(queued);
        was_there
    }

    /// Puts texts that could not be delivered before the composer's text, so that the user can send them again.
    pub fn return_messages(&mut self, mut texts: Vec<String>) {
        if texts.is_empty() {
            return;
        }
        self.is_dirty = true;
        texts.push(self.composer.editor.text());
        self.close_completion();
        self.composer.editor.set_text(texts.join("\n\n").trim());
        if self.overlays.diff.is_none() && self.overlays.board.is_none() {
            self.composer.focus = ComposerFocus::Focused;
        }
    }
}
