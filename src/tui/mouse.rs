//! Clicks and the wheel.
//!
//! A click chooses, it never carries a dialog out: that takes a key.

use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

use super::Screen;
use super::command::Move;
use super::keymap::IsWriting;
use super::tabs::Tab;

/// How many lines one step of the wheel moves.
const WHEEL: usize = 3;

impl Screen {
    pub(super) fn mouse(&mut self, event: MouseEvent) {
        let at = Position::new(event.column, event.row);
        match event.kind {
            MouseEventKind::ScrollUp => self.wheel(Move::Up, at),
            MouseEventKind::ScrollDown => self.wheel(Move::Down, at),
            MouseEventKind::Down(MouseButton::Left) => self.click(at),
            _ => {}
        }
    }

    fn wheel(&mut self, to: Move, at: Position) {
        let side = self.places.side.filter(|(place, _)| place.contains(at));
        for _ in 0..WHEEL {
            match side {
                Some((_, tab)) => self.pages.of(tab).scroll(to),
                None => self.scroll(to),
            }
        }
    }

    /// Points at the block of the chat that was clicked, and opens or folds it.
    fn click_block(&mut self, at: Position) {
        let row = usize::from(at.y - self.places.body.y);
        self.transcript.pick_row(row);
        let _nothing_to_open = self.transcript.open_picked();
    }

    fn click(&mut self, at: Position) {
        let hit = |place: &Rect| place.contains(at);
        if let Some((_, tab)) = self.places.tabs.iter().find(|(place, _)| hit(place)) {
            let tab = *tab;
            if self.tab != tab {
                self.show(tab);
            }
            if !self.is_read_only() {
                self.writing = IsWriting::Yes;
            }
            return;
        }
        if hit(&self.places.composer) {
            self.writing = IsWriting::Yes;
            return;
        }
        if hit(&self.places.body)
            && self.tab == Tab::Chat
            && self.pager.is_none()
            && self.diff.is_none()
        {
            self.click_block(at);
            return;
        }
        let choice = self.places.choices.iter().find(|(place, _)| hit(place));
        if let (Some((_, choice)), Some(seen)) = (choice, &self.seen) {
            self.chosen = Some((seen.clone(), *choice));
            self.writing = IsWriting::No;
        }
    }
}
