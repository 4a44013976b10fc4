//! Moves through the lists of the tabs with the line keys, and opens entries with Enter: plan lines, findings, events.
//!
//! An entry longer than the window is scrolled to its end before the selection moves on.

use ratatui::crossterm::event::{KeyCode, KeyEvent};

use super::Screen;
use super::action::Action;
use super::command::ScrollMove;
use super::scroll_view::ScrollTarget;
use super::tabs::TabKind;
use super::transcript::SelectionMove;
use crate::domain::run::RunState;

/// Returns whether a target is an entry of the tab's list.
fn is_listed(tab: TabKind, mark: ScrollTarget) -> bool {
    matches!(
        (tab, mark),
        (TabKind::Plan, ScrollTarget::Line(_))
            | (TabKind::Comments, ScrollTarget::Finding(_))
            | (TabKind::Log, ScrollTarget::Row(_))
    )
}

impl Screen {
    /// Moves the selection in a list; scrolls by a line elsewhere.
    pub(super) fn move_by_line(&mut self, to: ScrollMove, state: Option<&RunState>) {
        let is_next = match to {
            ScrollMove::Up => false,
            ScrollMove::Down => true,
            ScrollMove::PageUp | ScrollMove::PageDown | ScrollMove::Top | ScrollMove::End => {
                return self.scroll_view(to);
            }
        };
        let is_covered = self.pager.is_some() || self.diff_view.is_some();
        if is_covered || !self.point_at_adjacent(is_next, state) {
            self.scroll_view(to);
        }
    }

    /// Returns the selected entry of a tab's list.
    fn pointed_target(&self, tab: TabKind) -> Option<ScrollTarget> {
        match tab {
            TabKind::Plan => self.plan_view.selected_line().map(ScrollTarget::Line),
            TabKind::Comments => self
                .finding_selection
                .selected_finding()
                .map(ScrollTarget::Finding),
            TabKind::Log => self.record.selected_event().map(ScrollTarget::Row),
            TabKind::Chat | TabKind::Status => None,
        }
    }

    /// Selects the entry above or below; returns whether the selection changed.
    fn point_at_adjacent(&mut self, is_next: bool, state: Option<&RunState>) -> bool {
        let tab = self.focused_tab();
        let before = self.pointed_target(tab);
        let page = self.pages.for_tab(tab);
        let shown = before.filter(|mark| page.is_target_visible(*mark));
        let Some(mark) = shown else {
            // In the log, the latest event is the most interesting.
            let is_first = is_next && tab != TabKind::Log;
            let Some(mark) = page.visible_target(is_first, |mark| is_listed(tab, mark)) else {
                return false;
            };
            page.reveal(mark);
            self.point_at_target(mark);
            return true;
        };
        if page.extends_beyond_view(mark, is_next) {
            return false;
        }
        let along = if is_next {
            SelectionMove::Next
        } else {
            SelectionMove::Previous
        };
        self.select_adjacent(along, state);
        let now = self.pointed_target(tab);
        if let Some(mark) = now {
            self.pages.for_tab(tab).reveal(mark);
        }
        now != before
    }

    /// Selects a target, if it is an entry of a list.
    pub(super) fn point_at_target(&mut self, mark: ScrollTarget) {
        match mark {
            ScrollTarget::Line(line) => self.plan_view.select_line(line),
            ScrollTarget::Finding(_) | ScrollTarget::Settled | ScrollTarget::Reviews => {
                self.finding_selection.select(mark)
            }
            ScrollTarget::Row(n) => self.record.select_event(n),
            ScrollTarget::Folded(_) | ScrollTarget::Step(_) | ScrollTarget::Note(_) => {}
        }
    }

    /// Returns whether a capital G goes to the end here, as in other programs. While the user reads, it must
    /// not count as `g`, which sends a turn.
    pub(super) fn is_go_to_end_letter(&self, key: KeyEvent) -> bool {
        let reads = self.focused_tab() != TabKind::Chat || !self.transcript.follows_end();
        key.code == KeyCode::Char('G') && reads && self.own_dialog.is_none()
    }

    /// Goes to the end; if a turn is waiting, says which key sends it.
    pub(super) fn go_to_end_by_letter(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let waiting = self.pending_dialog(state);
        self.scroll_view(ScrollMove::End);
        let choice = waiting.as_ref().and_then(|sheet| {
            let mut choices = sheet.choices.iter();
            choices.find(|choice| choice.key == 'g')
        });
        match choice {
            Some(choice) => {
                let word = format!("Capital G goes to the end here. g: {}", choice.label);
                self.show_toast(&word)
            }
            None => Vec::new(),
        }
    }

    /// Handles Enter in a list: opens the selected entry, or selects a visible one. `None` if there is no list.
    pub(super) fn on_enter_in_list(&mut self, state: Option<&RunState>) -> Option<Vec<Action>> {
        let tab = self.focused_tab();
        let is_pointing = match tab {
            TabKind::Chat => self.transcript.selected_text().is_some(),
            _ => self.pointed_target(tab).is_some(),
        };
        if is_pointing {
            return Some(self.open_selection(state));
        }
        self.point_at_adjacent(true, state).then(Vec::new)
    }
}
