//! What opens where the user points: a call, a finding, an event, a step's diff, the finished steps of a plan.
//!
//! Refuses to make events: nothing here changes the run.

use super::Screen;
use super::action::Action;
use super::discussion_board::DiscussionBoard;
use super::finding_location::is_step_checkbox;
use super::pager::{PagerFormat, TextPager};
use super::scroll_view::ScrollTarget;
use super::tabs::TabKind;
use crate::domain::diff_scope::DiffScope;
use crate::domain::plan_execution::PlanExecution;
use crate::domain::run::RunState;

impl Screen {
    /// Opens or folds the block that is pointed at; goes to the line of the plan that the finding speaks of.
    pub(super) fn open_selection(&mut self, state: Option<&RunState>) -> Vec<Action> {
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
        if self.transcript.toggle_selected() {
            Vec::new()
        } else {
            self.explain_pointing("a call or at thinking")
        }
    }

    /// Shows each of the finished steps of the plan that a row stands for, where that is pointed at or nothing is.
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

    /// Shows what the step changed whose line of the plan is pointed at.
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
            None => {
                self.show_toast("point at a step that has changed something: its diff opens here")
            }
        }
    }
}
