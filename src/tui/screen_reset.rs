//! Resets the screen for a new run.
//!
//! The user's own drafts and open views are kept.

use super::dialog::ComposerDraft;
use super::{Screen, prompt_preview, tabs};

impl Screen {
    /// Drops answers that were chosen but not sent yet.
    pub(super) fn clear_picked_answers(&mut self) {
        self.picked_answers.clear();
        self.ticked_answers.clear();
    }

    /// Drops what belongs to the previous run, because numbers of findings and lines of the plan start over.
    pub(super) fn reset_run_state(&mut self) {
        // Calls and questions are numbered from the start in each run.
        (self.chosen_choice, self.exact_call) = (None, None);
        self.input_guard.clear_dialog();
        self.finding_selection = tabs::comments::FindingSelection::default();
        let form = self.plan_view.form;
        self.plan_view = tabs::plan::plan_view_state::PlanViewState::default();
        self.plan_view.form = form;
        self.clear_prompt_history();
        self.prompt_preview = None;
        self.versions.clear();
        self.clear_picked_answers();
        (self.silent_turn, self.cross_tab_toast) = (None, None);
        if self.draft == Some(ComposerDraft::Line) {
            self.composer.set_text("");
        }
        (self.draft, self.noted_line) = (None, None);
        self.mark_all_tabs_seen();
    }

    /// Marks all tabs as seen: unread changes belong to the previous run.
    pub(super) fn mark_all_tabs_seen(&mut self) {
        for tab in tabs::TabKind::ALL {
            self.seen_tabs.record_seen(tab, self.tab_revision(tab));
        }
    }

    /// Forgets the sent prompts, because a new conversation does not contain them.
    pub(super) fn clear_prompt_history(&mut self) {
        self.prompt_history = prompt_preview::PromptHistory::default();
    }
}
