//! What the screen does for the commands that only a row of the command table knows.

use super::action::{Action, ExternalViewer};
use super::command_table::CommandTarget;
use super::composer_pane::KeyClaim;
use super::discussion_board::DiscussionBoard;
use super::pager::{PagerFormat, TextPager};
use super::scroll_view::ScrollTarget;
use super::tab_kind::TabKind;
use super::tabs::chat::toggle_block;
use super::tabs::plan::plan_view_state::PlanViewState;
use super::tabs::screen_tab::{OpenedEntry, ScreenTab};
use super::tabs::{MIN_SIDEBAR_COLUMNS, SidePaneKind, WIDE};
use super::text_comparison::{ComparisonForm, MIN_SIDE_BY_SIDE_COLUMNS};
use super::todo_lists::format_todo_lists;
use super::{Screen, finding_location, run_commands, thread_choice};
use crate::domain::findings::Finding;
use crate::domain::run::RunState;

impl CommandTarget for Screen {
    fn open_selection(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let context = self.settings.tab_context(&self.documents, state);
        let child = self.overlays.find_mut().and_then(TextPager::child_mut);
        let opened = match child {
            Some(child) => toggle_block(&mut child.transcript),
            None => match self.tabs.focused().open_selection(&context) {
                OpenedEntry::NoList => self.tabs.chat.open_selection(&context),
                opened => opened,
            },
        };
        match opened {
            OpenedEntry::InPlace | OpenedEntry::NoList => Vec::new(),
            OpenedEntry::Text { title, text } => {
                self.open_pager(TextPager::new(&title, &text, PagerFormat::Plain))
            }
            OpenedEntry::Diff(scope) => self.open_diff(scope),
            OpenedEntry::Discussion(id) => self.open_board(DiscussionBoard::new(id)),
            OpenedEntry::Refused(why) => self.show_toast(why),
            OpenedEntry::NotSelected(what) => self.explain_pointing(what),
        }
    }

    fn cycle_filter(&mut self, state: Option<&RunState>) -> Vec<Action> {
        if self.overlays.has::<TextPager>() {
            return self.show_toast("Close the open text first.");
        }
        let context = self.settings.tab_context(&self.documents, state);
        match self.tabs.focused().cycle_filter(&context) {
            Some(Ok(())) => {}
            Some(Err(why)) => return self.show_toast(why),
            None => {
                self.tabs.comments.selection.next_filter(state);
                self.show_over_all(TabKind::Comments);
            }
        }
        Vec::new()
    }

    fn show_plan_change(&mut self, n: &str, state: Option<&RunState>) -> Vec<Action> {
        let place = state.and_then(|state| self.noted_place(state));
        let (n, texts) = (n.trim().parse().ok(), &self.documents);
        let find = |state| thread_choice::find_comparison(n, place.as_ref(), state, texts);
        let Some(found) = state.and_then(find) else {
            return self.explain_pointing("a finding or a thread");
        };
        if !self.tabs.plan.view.compare_with_review(found.review, texts) {
            return self.show_toast("The plan has not changed since.");
        }
        let change = match found.unchanged {
            Some(_) => None,
            None => self.tabs.plan.view.nearest_change(found.line, texts),
        };
        let change = change.or(found.line);
        if let Some(why) = found.unchanged {
            self.show_toast(&format!("{why}. Nothing was changed for it."));
        }
        self.show_tab(TabKind::Plan);
        if let Some(line) = change {
            self.tabs.plan.view.select_line(line);
            self.tabs.plan.page.scroll_to(ScrollTarget::Line(line));
        }
        Vec::new()
    }

    fn jump_to_counterpart(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let selected = self.tabs.comments.selection.selected_mark(state);
        if let (TabKind::Comments, Some(mark @ ScrollTarget::Note(n)), Some(state)) =
            (self.tabs.view.focused(), selected, state)
        {
            let lines = self.documents.plan_lines();
            let thread = state.threads.get(n);
            let line = thread.and_then(|thread| thread.find_line(&lines));
            return self.show_plan_line(line, mark);
        }
        let text = self.documents.plan.text.as_deref().unwrap_or_default();
        let remaining = state.map(|state| finding_location::locate_remaining_findings(state, text));
        let mut remaining = remaining.into_iter().flatten();
        match (
            self.tabs.view.focused(),
            self.tabs.comments.selection.selected_finding(state),
            self.tabs.plan.view.selected_line(),
        ) {
            (TabKind::Comments, Some(n), _) => {
                let of_finding = |(finding, _): &(&Finding, _)| finding.remark.n == n;
                let line = remaining.find(of_finding).and_then(|(_, line)| line);
                self.show_plan_line(line, ScrollTarget::Finding(n))
            }
            (TabKind::Comments, None, _) => self.explain_pointing("a finding"),
            (TabKind::Plan, _, Some(line)) => {
                let of_line = remaining.find(|(_, at)| *at == Some(line));
                let finding = of_line.map(|(finding, _)| ScrollTarget::Finding(finding.remark.n));
                let context = self.settings.tab_context(&self.documents, state);
                let place = self.tabs.plan.noted_place(&context);
                let thread = place.and_then(|place| place.thread).map(ScrollTarget::Note);
                let Some(mark) = finding.or(thread) else {
                    return self
                        .show_toast("No finding that is left and no thread is about this line.");
                };
                self.tabs.comments.selection.select_listed(mark);
                self.show_tab(TabKind::Comments);
                self.tabs.comments.page.scroll_to(mark);
                Vec::new()
            }
            _ => self.explain_pointing("a finding or a plan line"),
        }
    }

    fn step_tab(&mut self, by: isize) -> Vec<Action> {
        self.close_overlays();
        self.tabs.view.step(by);
        Vec::new()
    }

    fn toggle_chat_arrangement(&mut self) -> Vec<Action> {
        if let Some(columns) = self.columns_if_narrower(WIDE) {
            return self.show_toast(&format!(
                "Planner beside reviewer needs {WIDE} columns, the window has {columns}"
            ));
        }
        self.tabs.chat.arrangement.toggle();
        Vec::new()
    }

    fn toggle_side_pane(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let shown = self.tabs.view.shown;
        if shown == TabKind::Plan && self.tabs.plan.view.compared_version().is_some() {
            let least = u16::try_from(MIN_SIDE_BY_SIDE_COLUMNS).unwrap_or(u16::MAX);
            let form = self.tabs.plan.view.form.opposite();
            self.tabs.plan.view.form = form;
            return match self.columns_if_narrower(least) {
                Some(columns) if form == ComparisonForm::SideBySide => self.show_toast(&format!(
                    "Side by side needs {least} columns, the window has {columns}"
                )),
                Some(_) | None => Vec::new(),
            };
        }
        if let Some(columns) = self.columns_if_narrower(MIN_SIDEBAR_COLUMNS) {
            return self.show_toast(&format!(
                "The sidebar needs {MIN_SIDEBAR_COLUMNS} columns, a second pane {WIDE}, the window has {columns}"
            ));
        }
        let columns = self.hit_areas.window_columns;
        self.tabs.view.side_pane.cycle(columns);
        let beside = self.tabs.tab_beside(columns, &self.documents, state);
        if self.tabs.view.side_pane == SidePaneKind::Document && beside.is_none() {
            self.show_toast(&format!("Nothing is shown beside {} now", shown.title()))
        } else {
            Vec::new()
        }
    }

    fn toggle_mouse_capture(&mut self) -> Vec<Action> {
        let word = self.settings.appearance.toggle_mouse_capture();
        let key = self.keymap().key_label("mouse", self.composer.focus);
        self.show_toast_with_keys(&format!("{word} · {key} switches back"))
    }

    fn show_todo_lists(&mut self, state: Option<&RunState>) -> Vec<Action> {
        match state {
            Some(state) => {
                let lists = format_todo_lists(state);
                self.open_pager(TextPager::new("Todos", &lists, PagerFormat::Plain))
            }
            None => self.show_toast("No run yet."),
        }
    }

    fn copy_code_block(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let mut last = self.tabs.chat.last_copied_code;
        let actions = self.apply_to_front(state, |front| front.copy_code_block(&mut last));
        self.tabs.chat.last_copied_code = last;
        actions
    }

    fn leave_composer(&mut self) -> Vec<Action> {
        self.composer.leave_composer();
        // Where something has taken the keys, the user only goes back to it.
        let claim = &self.composer.key_claim;
        self.composer.is_left = matches!(claim, None | Some(KeyClaim::Talk(_)));
        Vec::new()
    }

    fn open_in_viewer(&mut self, with: ExternalViewer, state: Option<&RunState>) -> Vec<Action> {
        self.apply_to_front(state, |front| front.open_in_viewer(with))
    }

    fn show_agents(&mut self, name: &str, state: Option<&RunState>) -> Vec<Action> {
        self.apply(run_commands::show_agents(
            name,
            &self.composer.assist.agents,
            state,
        ))
    }

    fn list_children(&mut self, state: Option<&RunState>) -> Vec<Action> {
        self.apply(run_commands::list_children(state))
    }

    fn show_toast(&mut self, note: &str) -> Vec<Action> {
        // The screen's own function has the same name and comes first.
        self.show_toast(note)
    }
}

impl Screen {
    /// Returns the width of the window if it is less than `wanted`.
    fn columns_if_narrower(&self, wanted: u16) -> Option<u16> {
        // Before the first frame the width is unknown.
        let columns = self.hit_areas.window_columns;
        (columns > 0 && columns < wanted).then_some(columns)
    }

    fn show_plan_line(&mut self, line: Option<usize>, mark: ScrollTarget) -> Vec<Action> {
        let Some(line) = line else {
            return self.show_toast("It has no known line in the plan.");
        };
        self.tabs.plan.view = PlanViewState::default();
        self.tabs.plan.view.select_line(line);
        self.show_tab(TabKind::Plan);
        self.tabs.plan.page.scroll_to(mark);
        Vec::new()
    }
}
