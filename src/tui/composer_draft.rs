//! Texts that the composer gets as a starting point, such as a line of the plan or a pattern that a dialog
//! suggests.
//!
//! The program writes a changed plan line to the file, and only if the line has not changed since.

use super::action::Action;
use super::dialog::ComposerDraft;
use super::keymap::ComposerFocus;
use super::{Screen, dialogs};
use crate::domain::run::{RunState, notes_blocker};

/// Shown because a half-written text would be sent together with the draft.
const SEND_FIRST: &str = "Send or delete your text first.";

impl Screen {
    /// Puts the selected line of the plan into the composer.
    pub(super) fn rewrite_plan_line(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let Some(state) = state else {
            return self.show_toast("No run yet. Write the goal first.");
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

    /// Focuses the composer. Closes a diff or a board, because they leave no room for it.
    pub(super) fn focus_composer(&mut self) {
        (self.diff_view, self.board) = (None, None);
        self.composer_focus = ComposerFocus::Focused;
    }

    /// Lets the user write what a dialog asks for. A suggestion is only put into an empty composer.
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

    /// Leaves the composer. A prefilled text is discarded, so that it is not sent as a message later.
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
