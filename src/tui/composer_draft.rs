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
        let Some((line, was)) = self.point_at_plan_line() else {
            return self.explain_pointing("a line of the plan");
        };
        if !self.composer.editor.is_empty() {
            return self.show_toast(SEND_FIRST);
        }
        self.composer.editor.set_text(&was);
        self.composer.noted_line = Some((line, was));
        self.composer.draft = Some(ComposerDraft::Line);
        self.focus_composer();
        Vec::new()
    }

    /// Focuses the composer. Closes a diff or a board, because they leave no room for it.
    pub(super) fn focus_composer(&mut self) {
        (self.overlays.diff, self.overlays.board) = (None, None);
        self.composer.focus = ComposerFocus::Focused;
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
            (ComposerDraft::Topic { .. }, _) => Some(self.discussions.planned_topic.clone()),
            _ => None,
        };
        if proposed.is_some() && !self.composer.editor.is_empty() {
            return self.show_toast(SEND_FIRST);
        }
        if let Some(text) = proposed {
            let _fits = self.composer.editor.on_paste(&text);
        }
        self.composer.draft = Some(draft);
        self.dialogs.own = None;
        self.focus_composer();
        Vec::new()
    }

    /// Leaves the composer. A prefilled text is discarded, so that it is not sent as a message later.
    pub(super) fn leave_composer(&mut self) {
        self.close_completion();
        if let Some(
            ComposerDraft::Line | ComposerDraft::Pattern { .. } | ComposerDraft::Topic { .. },
        ) = self.composer.draft
        {
            self.composer.editor.set_text("");
        }
        self.composer.focus = ComposerFocus::Unfocused;
        (self.composer.draft, self.composer.noted_line) = (None, None);
    }
}
