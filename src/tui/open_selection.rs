//! Opens the selected entry: a tool call, a finding, an event, a step's diff, the folded steps of a plan.
//!
//! Nothing here changes the run.

use super::Screen;
use super::action::Action;
use super::discussion_board::DiscussionBoard;
use super::finding_location::is_step_checkbox;
use super::pager::{PagerFormat, TextPager, front_transcript};
use super::scroll_view::ScrollTarget;
use super::tabs::TabKind;
use crate::domain::diff_scope::DiffScope;
use crate::domain::plan_execution::PlanExecution;
use crate::domain::run::RunState;

impl Screen {
    /// Opens or folds the selected entry of the tab in front.
    pub(super) fn open_selection(&mut self, state: Option<&RunState>) -> Vec<Action> {
        if self.open_child_session().is_some() {
            return self.toggle_selected_block();
        }
        if self.focused_tab() == TabKind::Plan && self.unfold_steps() {
            return Vec::new();
        }
        if let (TabKind::Plan, Some(_)) = (self.focused_tab(), self.plan_view.selected_line()) {
            return self.open_step_diff(state);
        }
        if self.focused_tab() == TabKind::Log {
            let of = (self.local_clock(), self.settings.repository.as_str());
            return match self.record.selected_detail(state, of.0, of.1) {
                Some((title, text)) => {
                    self.open_pager(TextPager::new(&title, &text, PagerFormat::Plain))
                }
                None => self.explain_pointing("an event"),
            };
        }
        if self.focused_tab() == TabKind::Comments {
            return if self.finding_selection.toggle_selected() {
                Vec::new()
            } else {
                self.explain_pointing("a finding")
            };
        }
        if let Some(id) = self.transcript.selected_discussion().cloned() {
            return self.open_board(DiscussionBoard::new(id));
        }
        self.toggle_selected_block()
    }

    fn toggle_selected_block(&mut self) -> Vec<Action> {
        if front_transcript(&mut self.pager, &mut self.transcript).toggle_selected() {
            Vec::new()
        } else {
            self.explain_pointing("a call or at thinking")
        }
    }

    /// Unfolds the finished steps of the plan if their row is selected or nothing is; returns whether it did.
    fn unfold_steps(&mut self) -> bool {
        let page = self.pages.for_tab(TabKind::Plan);
        let first = match self.plan_view.selected_line() {
            Some(line) => Some(line).filter(|line| page.is_folded(*line)),
            None => page.first_fold(),
        };
        if let Some(line) = first {
            self.plan_view.unfold();
            page.scroll_to(ScrollTarget::Line(line));
        }
        first.is_some()
    }

    /// Opens the diff of the step on the selected line of the plan.
    fn open_step_diff(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let execution = state.and_then(|state| state.execution.as_ref());
        let scopes = execution
            .map(PlanExecution::diff_scopes)
            .unwrap_or_default();
        let line = self.pointed_plan_line().map(|(_, line)| line);
        let of_line = scopes.into_iter().find(|scope| match (scope, &line) {
            (DiffScope::Step(n), Some(line)) => is_step_checkbox(line.trim_start(), *n),
            _ => false,
        });
        match of_line {
            Some(scope) => self.open_diff(scope),
            None => self.show_toast("Select a step with changes to open its diff here."),
        }
    }
}
