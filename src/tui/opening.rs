//! What opens where the user points: a call, a finding, an event, a step's diff, the finished steps of a plan.
//!
//! Refuses to make events: nothing here changes the run.

use super::Screen;
use super::action::Action;
use super::anchors::is_box_of;
use super::board::Board;
use super::page::Mark;
use super::pager::{Form, Pager};
use super::tabs::Tab;
use crate::domain::diff_scope::DiffScope;
use crate::domain::plan_execution::PlanExecution;
use crate::domain::run::RunState;

impl Screen {
    /// Opens or folds the block that is pointed at; goes to the line of the plan that the finding speaks of.
    pub(super) fn open_picked(&mut self, state: Option<&RunState>) -> Vec<Action> {
        if self.tab_at_hand() == Tab::Plan && self.open_fold() {
            return Vec::new();
        }
        if let (Tab::Plan, Some(_)) = (self.tab_at_hand(), self.plan.picked()) {
            return self.open_line(state);
        }
        if self.tab_at_hand() == Tab::Log {
            let of = (self.clock_of_day(), self.settings.repository.as_str());
            return match self.record.picked_whole(state, of) {
                Some((title, text)) => self.open(Pager::new(&title, &text, Form::Plain)),
                None => self.point_first("an event"),
            };
        }
        if self.tab_at_hand() == Tab::Comments {
            return match self.findings.open_picked() {
                true => Vec::new(),
                false => self.point_first("a finding"),
            };
        }
        if let Some(id) = self.transcript.picked_discussion().cloned() {
            return self.open_board(Board::new(id));
        }
        match self.transcript.open_picked() {
            true => Vec::new(),
            false => self.point_first("a call or at thinking"),
        }
    }

    /// Shows each of the finished steps of the plan that a row stands for, where that is pointed at or nothing is.
    fn open_fold(&mut self) -> bool {
        let page = self.pages.of(Tab::Plan);
        let first = match self.plan.picked() {
            Some(line) => Some(line).filter(|line| page.is_folded(*line)),
            None => page.first_fold(),
        };
        if let Some(line) = first {
            self.plan.unfold();
            page.bring(Mark::Line(line));
        }
        first.is_some()
    }

    /// Shows what the step changed whose line of the plan is pointed at.
    fn open_line(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let execution = state.and_then(|state| state.execution.as_ref());
        let scopes = execution
            .map(PlanExecution::diff_scopes)
            .unwrap_or_default();
        let line = self.pointed_line().map(|(_, line)| line);
        let of_line = scopes.into_iter().find(|scope| match (scope, &line) {
            (DiffScope::Step(n), Some(line)) => is_box_of(line.trim_start(), *n),
            _ => false,
        });
        match of_line {
            Some(scope) => self.open_diff(scope),
            None => self.refuse("point at a step that has changed something: its diff opens here"),
        }
    }
}
