//! A new run on a screen that has shown another one: what is known of that one is not of this one.
//!
//! Refuses to touch what is the user's own: what they write for nobody yet, and what they have open.

use super::dialog::ComposerDraft;
use super::{Screen, prompt_preview, tabs};

impl Screen {
    /// Drops what was chosen and not given yet.
    pub(super) fn clear_picked_answers(&mut self) {
        self.picked_answers.clear();
        self.ticked_answers.clear();
    }

    /// Forgets what belongs to the run before: numbers of findings and lines of the plan begin anew.
    pub(super) fn reset_run_state(&mut self) {
        // What waits is counted from the beginning in each run.
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

    /// Marks nothing as new: what was not looked at is of another run.
    pub(super) fn mark_all_tabs_seen(&mut self) {
        for tab in tabs::TabKind::ALL {
            self.seen_tabs.record_seen(tab, self.tab_revision(tab));
        }
    }

    /// Forgets which prompts went out: a conversation that is new has heard nothing of them.
    pub(super) fn clear_prompt_history(&mut self) {
        self.prompt_history = prompt_preview::PromptHistory::default();
    }
}
