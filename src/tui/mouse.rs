//! Clicks and the wheel.
//!
//! One rule everywhere: a click on a hint presses the key that it names; a click on a choice points at it, and a click on
//! what is pointed at carries it out, as Enter does and with the same care.

use ratatui::crossterm::event::{KeyEvent, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

use super::Screen;
use super::action::Action;
use super::board::Board;
use super::command::{Command, Move};
use super::keymap::{IsWriting, Key};
use super::page::Mark;
use super::panes::Focus;
use super::sheet::{Keys, Sheet};
use super::tabs::Tab;
use crate::domain::run::RunState;

/// How many lines one step of the wheel moves.
const WHEEL: usize = 3;

impl Screen {
    pub(super) fn mouse(&mut self, event: MouseEvent, state: Option<&RunState>) -> Vec<Action> {
        let at = Position::new(event.column, event.row);
        match event.kind {
            MouseEventKind::ScrollUp => self.wheel(Move::Up, at, state),
            MouseEventKind::ScrollDown => self.wheel(Move::Down, at, state),
            // What the palette covers is not clicked at.
            MouseEventKind::Down(MouseButton::Left) if self.palette.is_some() => {
                return self.click_palette(at, state);
            }
            MouseEventKind::Down(MouseButton::Left) => return self.click(at, state),
            MouseEventKind::Drag(MouseButton::Left) => self.tell_of_drags(),
            _ => {}
        }
        Vec::new()
    }

    /// Whoever drags wants to select text: says how, once.
    fn tell_of_drags(&mut self) {
        if !std::mem::replace(&mut self.drag_is_told, true) {
            let key = self.keymap().named("mouse", self.writing);
            self.refuse_naming_keys(&format!(
                "hold Shift while you drag to select text (in some terminals Option or Fn), or {key}: the mouse is the terminal's"
            ));
        }
    }

    fn wheel(&mut self, to: Move, at: Position, state: Option<&RunState>) {
        if self.palette.is_some() {
            self.roll_palette(to, state);
            return;
        }
        if self.is_board() {
            return self.wheel_on_board(to, state);
        }
        if self
            .places
            .offer
            .iter()
            .any(|(place, _)| place.contains(at))
        {
            self.point_in_offer(to);
            return;
        }
        if self.places.sheet.contains(at) {
            self.turn_choices(to, state);
            return;
        }
        let side = self.places.side.filter(|(place, _)| place.contains(at));
        for _ in 0..WHEEL {
            match side {
                Some((_, tab)) => self.scroll_tab(tab, to),
                None if self.places.side.is_some() => self.scroll_tab(self.tab, to),
                None => self.scroll(to),
            }
        }
    }

    /// Points at the choice before or behind in a dialog that has more of them than rows.
    fn turn_choices(&mut self, to: Move, state: Option<&RunState>) {
        let Some(sheet) = self.waiting(state).filter(|sheet| self.is_shown(sheet)) else {
            return;
        };
        if self.places.choices.len() < sheet.choices.len() {
            let chosen = self.chosen_of(&sheet);
            let last = sheet.choices.len().saturating_sub(1);
            let next = match to {
                Move::Up => chosen.saturating_sub(1),
                _ => (chosen + 1).min(last),
            };
            self.writing = IsWriting::No;
            self.point_at(&sheet, next);
        }
    }

    /// Tells whether the last frame showed this dialog.
    fn is_shown(&self, sheet: &Sheet) -> bool {
        Some(&sheet.id) == self.seen.as_ref()
    }

    fn click(&mut self, at: Position, state: Option<&RunState>) -> Vec<Action> {
        let hit = |place: &Rect| place.contains(at);
        if let Some(key) = self.hint_at(at) {
            return self.click_hint(key, at, state);
        }
        if let Some((_, row)) = self.places.offer.iter().find(|(place, _)| hit(place)) {
            self.click_offer(*row);
            return Vec::new();
        }
        if let Some((_, tab)) = self.places.tabs.iter().find(|(place, _)| hit(place)) {
            self.click_tab(*tab);
            return Vec::new();
        }
        if hit(&self.places.need) {
            self.toast = None;
            return self.press(Command::NeedsMe, state);
        }
        if let Some((_, command)) = self.places.buttons.iter().find(|(place, _)| hit(place)) {
            let command = command.clone();
            self.toast = None;
            return self.press(command, state);
        }
        if let Some((_, scope)) = self.places.strip.iter().find(|(place, _)| hit(place)) {
            let wanted = self.diff.as_mut().and_then(|view| view.choose(*scope));
            return wanted.map(Action::ShowDiff).into_iter().collect();
        }
        if hit(&self.places.composer) && self.find.is_none() {
            let place = self.places.composer;
            match self.writing {
                IsWriting::Yes => self.composer.on_click(place, at),
                IsWriting::No => self.writing = IsWriting::Yes,
            }
            // What is offered is for the word at the cursor.
            return self.offer(state);
        }
        let run = self.places.runs.iter().find(|(place, _)| hit(place));
        if let Some(run) = run.and_then(|(_, n)| self.welcome.runs.get(*n)) {
            return vec![Action::OpenRun(run.name.clone())];
        }
        if hit(&self.places.body) && self.is_board() {
            self.click_board(at, state);
            return Vec::new();
        }
        let side = self.places.side.filter(|(place, _)| hit(place));
        if let Some((_, tab)) = side {
            self.focus = Focus::Beside;
            return self.click_page(tab, at, state);
        }
        let is_free = self.pager.is_none() && self.diff.is_none() && self.board.is_none();
        if hit(&self.places.body) && is_free {
            return self.click_body(at, state);
        }
        if self.places.is_sheet_folded && hit(&self.places.sheet) {
            return self.go_to_need(state);
        }
        let choice = self.places.choices.iter().find(|(place, _)| hit(place));
        match choice.map(|(_, choice)| *choice) {
            Some(choice) => self.click_choice(choice, state),
            None => Vec::new(),
        }
    }

    /// Presses the key that a hint names; one in a page means the line that it stands in.
    fn click_hint(&mut self, key: Key, at: Position, state: Option<&RunState>) -> Vec<Action> {
        if self
            .pager
            .as_ref()
            .is_some_and(|pager| pager.is_help_at(at))
        {
            return self.click_in_help(key, state);
        }
        let is_page = self.tab != Tab::Chat && self.pager.is_none() && self.diff.is_none();
        if self.places.body.contains(at) && is_page && self.board.is_none() {
            let _was_pointed_at = self.point_in_page(self.tab, at);
        }
        self.press_hint(key, state)
    }

    /// Does what a key of the help does where it works, which is below the help.
    fn click_in_help(&mut self, key: Key, state: Option<&RunState>) -> Vec<Action> {
        let event = KeyEvent::new(key.code, key.modifiers);
        let Some(command) = self.keymap().find(&event, IsWriting::No) else {
            return self.refuse("this key works while you write");
        };
        (self.pager, self.toast) = (None, None);
        self.press(command, state)
    }

    fn click_tab(&mut self, tab: Tab) {
        self.uncover();
        if self.tab != tab {
            self.show(tab);
        }
    }

    /// Points at what was clicked, and opens it, of a discussion its board: in the chat at once, elsewhere with the second click.
    fn click_body(&mut self, at: Position, state: Option<&RunState>) -> Vec<Action> {
        self.focus = Focus::Tab;
        if self.tab == Tab::Chat {
            let row = usize::from(at.y - self.places.body.y);
            self.transcript.pick_row(row);
            return match self.transcript.picked_discussion().cloned() {
                Some(id) => self.open_board(Board::new(id)),
                None => self.quietly(|screen| {
                    let _nothing_to_open = screen.transcript.open_picked();
                }),
            };
        }
        self.click_page(self.tab, at, state)
    }

    /// Points at what stands there in a page, or opens what is pointed at already.
    fn click_page(&mut self, tab: Tab, at: Position, state: Option<&RunState>) -> Vec<Action> {
        match self.point_in_page(tab, at) {
            true => self.open_picked(state),
            false => Vec::new(),
        }
    }

    /// Points at what stands there in a page; tells whether that was pointed at already and opens.
    fn point_in_page(&mut self, tab: Tab, at: Position) -> bool {
        match (tab, self.pages.of(tab).mark_at(at)) {
            (Tab::Plan, Some(Mark::Line(line))) => {
                let was = self.plan.picked() == Some(line);
                self.plan.point_at(line);
                was
            }
            // There is nothing about the row but what it opens.
            (Tab::Comments, Some(mark @ (Mark::Finding(_) | Mark::Settled | Mark::Reviews))) => {
                let was = self.findings.mark() == Some(mark) || !matches!(mark, Mark::Finding(_));
                self.findings.pick(mark);
                was
            }
            (Tab::Log, Some(Mark::Row(n))) => {
                let was = self.record.picked() == Some(n);
                self.record.point_at(n);
                was
            }
            _ => false,
        }
    }

    /// Points at a choice of the dialog, or carries out the one that is pointed at already.
    fn click_choice(&mut self, choice: usize, state: Option<&RunState>) -> Vec<Action> {
        let Some(sheet) = self.waiting(state).filter(|sheet| self.is_shown(sheet)) else {
            return Vec::new();
        };
        let is_pointed_at = match self.keys_of(&sheet, self.chosen_of(&sheet)) {
            Keys::Here(at) | Keys::EnterOnly(at) => at == choice,
            Keys::Below(_) | Keys::Nobody => false,
        };
        self.writing = IsWriting::No;
        match is_pointed_at {
            true => self.enter(sheet, state),
            false => self.point_at(&sheet, choice),
        }
    }
}
