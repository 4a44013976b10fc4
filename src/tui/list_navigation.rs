//! Going through a list by the keys for lines, and opening what is pointed at by Enter: lines of the plan, findings, events.
//!
//! What is longer than the window is read to its end first. Refuses to know what is listed.

use ratatui::crossterm::event::{KeyCode, KeyEvent};

use super::Screen;
use super::action::Action;
use super::command::ScrollMove;
use super::scroll_view::ScrollTarget;
use super::tabs::TabKind;
use super::transcript::SelectionMove;
use crate::domain::run::RunState;

/// Tells whether a tab's list is one of these.
fn is_listed(tab: TabKind, mark: ScrollTarget) -> bool {
    matches!(
        (tab, mark),
        (TabKind::Plan, ScrollTarget::Line(_))
            | (TabKind::Comments, ScrollTarget::Finding(_))
            | (TabKind::Log, ScrollTarget::Row(_))
    )
}

impl Screen {
    /// Moves by a line where nothing is listed; in a list, points at what stands there.
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

    /// What is pointed at in a tab that lists something.
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

    /// Points at what stands above or below in the list at hand; tells whether there is something.
    fn point_at_adjacent(&mut self, is_next: bool, state: Option<&RunState>) -> bool {
        let tab = self.focused_tab();
        let before = self.pointed_target(tab);
        let page = self.pages.for_tab(tab);
        let shown = before.filter(|mark| page.is_target_visible(*mark));
        let Some(mark) = shown else {
            // Of events the latest is what one looks at first.
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

    /// Points at what is marked, where it is listed.
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

    /// Tells whether a key is the one by which other programs go to the end, pressed where something is read: there it
    /// is no small one, which releases a turn.
    pub(super) fn is_go_to_end_letter(&self, key: KeyEvent) -> bool {
        let reads = self.focused_tab() != TabKind::Chat || !self.transcript.follows_end();
        key.code == KeyCode::Char('G') && reads && self.own_dialog.is_none()
    }

    /// Goes to the end; whoever wanted to release a turn is told how.
    pub(super) fn go_to_end_by_letter(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let waiting = self.pending_dialog(state);
        self.scroll_view(ScrollMove::End);
        let choice = waiting.as_ref().and_then(|sheet| {
            let mut choices = sheet.choices.iter();
            choices.find(|choice| choice.key == 'g')
        });
        match choice {
            Some(choice) => {
                let word = format!("a capital G goes to the end here; g: {}", choice.label);
                self.show_toast(&word)
            }
            None => Vec::new(),
        }
    }

    /// What Enter does in a list: it opens what is pointed at, and where nothing is, points at what is in view. `None`
    /// where nothing is listed.
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
