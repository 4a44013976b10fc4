//! Going through a list by the keys for lines, and opening what is pointed at by Enter: lines of the plan, findings, events.
//!
//! What is longer than the window is read to its end first. Refuses to know what is listed.

use ratatui::crossterm::event::{KeyCode, KeyEvent};

use super::Screen;
use super::action::Action;
use super::command::Move;
use super::page::Mark;
use super::tabs::Tab;
use super::transcript::Along;
use crate::domain::run::RunState;

/// Tells whether a tab's list is one of these.
fn lists(tab: Tab, mark: Mark) -> bool {
    matches!(
        (tab, mark),
        (Tab::Plan, Mark::Line(_)) | (Tab::Comments, Mark::Finding(_)) | (Tab::Log, Mark::Row(_))
    )
}

impl Screen {
    /// Moves by a line where nothing is listed; in a list, points at what stands there.
    pub(super) fn go_by(&mut self, to: Move, state: Option<&RunState>) {
        let is_next = match to {
            Move::Up => false,
            Move::Down => true,
            Move::PageUp | Move::PageDown | Move::Top | Move::End => return self.scroll(to),
        };
        let is_covered = self.pager.is_some() || self.diff.is_some();
        if is_covered || !self.point_along(is_next, state) {
            self.scroll(to);
        }
    }

    /// What is pointed at in a tab that lists something.
    fn pointed_in(&self, tab: Tab) -> Option<Mark> {
        match tab {
            Tab::Plan => self.plan.picked().map(Mark::Line),
            Tab::Comments => self.findings.picked().map(Mark::Finding),
            Tab::Log => self.record.picked().map(Mark::Row),
            Tab::Chat | Tab::Status => None,
        }
    }

    /// Points at what stands above or below in the list at hand; tells whether there is something.
    fn point_along(&mut self, is_next: bool, state: Option<&RunState>) -> bool {
        let tab = self.tab_at_hand();
        let before = self.pointed_in(tab);
        let page = self.pages.of(tab);
        let shown = before.filter(|mark| page.shows(*mark));
        let Some(mark) = shown else {
            // Of events the latest is what one looks at first.
            let is_first = is_next && tab != Tab::Log;
            let Some(mark) = page.in_view(is_first, |mark| lists(tab, mark)) else {
                return false;
            };
            page.reveal(mark);
            self.point_at_mark(mark);
            return true;
        };
        if page.goes_on(mark, is_next) {
            return false;
        }
        let along = if is_next {
            Along::Next
        } else {
            Along::Previous
        };
        self.go_along(along, state);
        let now = self.pointed_in(tab);
        if let Some(mark) = now {
            self.pages.of(tab).reveal(mark);
        }
        now != before
    }

    /// Points at what is marked, where it is listed.
    pub(super) fn point_at_mark(&mut self, mark: Mark) {
        match mark {
            Mark::Line(line) => self.plan.point_at(line),
            Mark::Finding(_) | Mark::Settled | Mark::Reviews => self.findings.pick(mark),
            Mark::Row(n) => self.record.point_at(n),
            Mark::Folded(_) | Mark::Step(_) | Mark::Note(_) => {}
        }
    }

    /// Tells whether a key is the one by which other programs go to the end, pressed where something is read: there it
    /// is no small one, which releases a turn.
    pub(super) fn means_the_end(&self, key: KeyEvent) -> bool {
        let reads = self.tab_at_hand() != Tab::Chat || !self.transcript.follows();
        key.code == KeyCode::Char('G') && reads && self.own.is_none()
    }

    /// Goes to the end; whoever wanted to release a turn is told how.
    pub(super) fn go_to_end_by_letter(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let waiting = self.waiting(state);
        self.scroll(Move::End);
        let choice = waiting.as_ref().and_then(|sheet| {
            let mut choices = sheet.choices.iter();
            choices.find(|choice| choice.key == 'g')
        });
        match choice {
            Some(choice) => {
                let word = format!("a capital G goes to the end here; g: {}", choice.label);
                self.refuse(&word)
            }
            None => Vec::new(),
        }
    }

    /// What Enter does in a list: it opens what is pointed at, and where nothing is, points at what is in view. `None`
    /// where nothing is listed.
    pub(super) fn enter_in_list(&mut self, state: Option<&RunState>) -> Option<Vec<Action>> {
        let tab = self.tab_at_hand();
        let is_pointing = match tab {
            Tab::Chat => self.transcript.picked_text().is_some(),
            _ => self.pointed_in(tab).is_some(),
        };
        if is_pointing {
            return Some(self.open_picked(state));
        }
        self.point_along(true, state).then(Vec::new)
    }
}
