//! Clicks and the wheel.
//!
//! A click chooses; a click on what is chosen carries it out, as Enter does and with the same care.

use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

use super::Screen;
use super::action::Action;
use super::command::Move;
use super::keymap::IsWriting;
use super::tabs::Tab;
use crate::domain::run::State;

/// How many lines one step of the wheel moves.
const WHEEL: usize = 3;

impl Screen {
    pub(super) fn mouse(&mut self, event: MouseEvent, state: Option<&State>) -> Vec<Action> {
        let at = Position::new(event.column, event.row);
        match event.kind {
            MouseEventKind::ScrollUp => self.wheel(Move::Up, at, state),
            MouseEventKind::ScrollDown => self.wheel(Move::Down, at, state),
            // What the palette covers is not clicked at.
            MouseEventKind::Down(MouseButton::Left) if self.palette.is_none() => {
                return self.click(at, state);
            }
            MouseEventKind::Drag(MouseButton::Left) => self.tell_of_drags(),
            _ => {}
        }
        Vec::new()
    }

    /// Whoever drags wants to select text: says how, once.
    fn tell_of_drags(&mut self) {
        if !std::mem::replace(&mut self.drag_is_told, true) {
            let key = self.keymap().named("mouse", self.writing);
            self.refuse(&format!(
                "hold Shift while you drag to select text (in some terminals Option or Fn), or {key}: the mouse is the terminal's"
            ));
        }
    }

    fn wheel(&mut self, to: Move, at: Position, state: Option<&State>) {
        if self.palette.is_some() {
            self.point_in_palette(to, state);
            return;
        }
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

    fn click(&mut self, at: Position, state: Option<&State>) -> Vec<Action> {
        let hit = |place: &Rect| place.contains(at);
        if let Some((_, tab)) = self.places.tabs.iter().find(|(place, _)| hit(place)) {
            let tab = *tab;
            if self.tab != tab {
                self.show(tab);
            }
            if !self.is_read_only() {
                self.writing = IsWriting::Yes;
            }
            return Vec::new();
        }
        if hit(&self.places.composer) {
            self.writing = IsWriting::Yes;
            return Vec::new();
        }
        if hit(&self.places.body)
            && self.tab == Tab::Chat
            && self.pager.is_none()
            && self.diff.is_none()
        {
            self.click_block(at);
            return Vec::new();
        }
        let choice = self.places.choices.iter().find(|(place, _)| hit(place));
        match choice.map(|(_, choice)| *choice) {
            Some(choice) => self.click_choice(choice, state),
            None => Vec::new(),
        }
    }

    /// Points at a choice of the dialog, or carries out the one that is pointed at already.
    fn click_choice(&mut self, choice: usize, state: Option<&State>) -> Vec<Action> {
        let seen = self.seen.clone();
        let Some(sheet) = self
            .waiting(state)
            .filter(|sheet| Some(&sheet.id) == seen.as_ref())
        else {
            return Vec::new();
        };
        let was_writing = std::mem::replace(&mut self.writing, IsWriting::No);
        match was_writing == IsWriting::No && self.chosen_of(&sheet) == choice {
            true => self.enter(sheet, state),
            false => self.point_at(&sheet, choice),
        }
    }
}
