//! Resets the screen for a new run.
//!
//! The user's own drafts and open views are kept.

use super::dialog::ComposerDraft;
use super::{Screen, prompt_preview, tabs};

impl Screen {
    /// Drops answers that were chosen but not sent yet.
    pub(super) fn clear_picked_answers(&mut self) {
        self.dialogs.picked_answers.clear();
        self.dialogs.ticked_answers.clear();
    }

    /// Drops what belongs to the previous run, because numbers of findings and lines of the plan start over.
    pub(super) fn reset_run_state(&mut self) {
        // Calls and questions are numbered from the start in each run.
        (self.dialogs.chosen, self.dialogs.exact_call) = (None, None);
        self.dialogs.guard.clear_dialog();
        self.tabs.comments.selection = tabs::comments::FindingSelection::default();
        let form = self.tabs.plan.view.form;
        self.tabs.plan.view = tabs::plan::plan_view_state::PlanViewState::default();
        self.tabs.plan.view.form = form;
        self.clear_prompt_history();
        self.dialogs.prompt_preview = None;
        self.dialogs.versions.clear();
        self.clear_picked_answers();
        (self.tabs.status.silent_turn, self.toast.cross_tab) = (None, None);
        if self.composer.draft == Some(ComposerDraft::Line) {
            self.composer.editor.set_text("");
        }
        (self.composer.draft, self.composer.noted_line) = (None, None);
        self.tabs.mark_all_seen(&self.documents);
    }

    /// Forgets the sent prompts, because a new conversation does not contain them.
    pub(super) fn clear_prompt_history(&mut self) {
        self.dialogs.prompt_history = prompt_preview::PromptHistory::default();
    }
}
