//! What is put into the composer to be worded otherwise, until it is sent or left: a line of the plan, what a dialog
//! proposes.
//!
//! Refuses to write a file: whoever holds the screen does, and only where the line still says what it said.

use super::action::Action;
use super::dialog::ComposerDraft;
use super::keymap::ComposerFocus;
use super::{Screen, dialogs};
use crate::domain::run::{RunState, notes_blocker};

/// What is half written would be sent with what is put there.
const SEND_FIRST: &str = "send or remove what you have written first";

impl Screen {
    /// Puts the line that is pointed at into the composer.
    pub(super) fn rewrite_plan_line(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let Some(state) = state else {
            return self.show_toast("there is no run yet: write the goal first");
        };
        // A plan that takes no notes takes no edits either.
        if let Some(why) = notes_blocker(state) {
            return self.show_toast(why);
        }
        let Some((line, was)) = self
            .pointed_plan_line()
            .or_else(|| self.point_at_first_visible_line())
        else {
            return self.explain_pointing("a line of the plan");
        };
        if !self.composer.is_empty() {
            return self.show_toast(SEND_FIRST);
        }
        self.composer.set_text(&was);
        self.noted_line = Some((line, was));
        self.draft = Some(ComposerDraft::Line);
        self.focus_composer();
        Vec::new()
    }

    /// Gives the keys to the composer: a diff or a board, which has none of its rows, makes place for it.
    pub(super) fn focus_composer(&mut self) {
        (self.diff_view, self.board) = (None, None);
        self.composer_focus = ComposerFocus::Focused;
    }

    /// Lets the user write what a dialog asks for; what it proposes is put into an empty composer only.
    pub(super) fn begin_draft(
        &mut self,
        draft: ComposerDraft,
        state: Option<&RunState>,
    ) -> Vec<Action> {
        let proposed = match (draft, state) {
            (ComposerDraft::Pattern { .. }, Some(state)) => {
                Some(dialogs::approval_dialog::suggest_pattern(state))
            }
            (ComposerDraft::Topic { .. }, _) => Some(self.talks.planned_topic.clone()),
            _ => None,
        };
        if proposed.is_some() && !self.composer.is_empty() {
            return self.show_toast(SEND_FIRST);
        }
        if let Some(text) = proposed {
            let _fits = self.composer.on_paste(&text);
        }
        self.draft = Some(draft);
        self.own_dialog = None;
        self.focus_composer();
        Vec::new()
    }

    /// Leaves the composer; what was put there to be worded otherwise stays as it is, and is nothing to be sent to
    /// anybody.
    pub(super) fn leave_composer(&mut self) {
        self.close_completion();
        if let Some(
            ComposerDraft::Line | ComposerDraft::Pattern { .. } | ComposerDraft::Topic { .. },
        ) = self.draft
        {
            self.composer.set_text("");
        }
        self.composer_focus = ComposerFocus::Unfocused;
        (self.draft, self.noted_line) = (None, None);
    }
}
