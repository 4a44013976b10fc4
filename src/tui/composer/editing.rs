//! What keys do to the text: by signs as people see them, a paste as a whole, and a step at a time back and forth.
//!
//! Refuses to know what the text is for.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui_textarea::CursorMove;

use super::history::{Change, Sign, Stand};
use super::{Composer, cursor, fresh, signs};

impl Composer {
    /// Keys that the text area has in another place than most programs, and all others, which are its own.
    pub(super) fn edit(&mut self, key: KeyEvent) {
        let is_ctrl = key.modifiers == KeyModifiers::CONTROL;
        match key.code {
            // A terminal sends Ctrl+/ and Ctrl+_ as Ctrl+7 where it knows no better.
            KeyCode::Char('/' | '_' | '7') if is_ctrl => {
                let before = self.history.undo(self.stand());
                self.restore(before);
            }
            KeyCode::Char('r') if is_ctrl => {
                let after = self.history.redo(self.stand());
                self.restore(after);
            }
            _ => self.change(self.meant(key), |composer| composer.input(key)),
        }
    }

    fn input(&mut self, key: KeyEvent) {
        let before = cursor(&self.area);
        match key.code {
            KeyCode::Char('u') if key.modifiers == KeyModifiers::CONTROL => {
                self.area.delete_line_by_head();
            }
            _ if self.takes_a_chip(key) => {}
            _ if self.takes_a_sign(key) => {}
            _ => {
                let was = self.line_at_cursor().0.to_owned();
                let may_split = typed(key).is_none() && !self.area.is_selecting();
                self.area.input(key);
                if may_split {
                    self.take_the_rest(&was, before);
                }
                self.leave_chip(before);
            }
        }
        self.leave_sign(before);
    }

    /// Removes the rest of a sign where a key that removes words took a part of it: the area knows characters only.
    fn take_the_rest(&mut self, was: &str, (row, place): (usize, usize)) {
        let (now, at) = cursor(&self.area);
        let (n_was, n_is) = (was.chars().count(), self.line_at_cursor().0.chars().count());
        let Some(n_gone) = n_was.checked_sub(n_is).filter(|_| now == row) else {
            return;
        };
        let to = at + n_gone;
        if to == place && signs::is_within(was, at) {
            for _ in signs::before(was, at)..at {
                self.area.delete_char();
            }
        }
        if at == place && signs::is_within(was, to) {
            for _ in to..signs::after(was, to) {
                self.area.delete_next_char();
            }
        }
    }

    /// What a key does to the text, where it does something.
    fn meant(&self, key: KeyEvent) -> Change {
        let (line, place) = self.line_at_cursor();
        if let Some(c) = typed(key) {
            let before = signs::between(line, 0, place);
            return Change::Types(match signs::joins(&before, c) {
                true => Sign::Joined,
                false => Sign::of(c.encode_utf8(&mut [0; 4])),
            });
        }
        match taken(key).filter(|_| self.chips.at(line, place).is_none()) {
            Some(Way::Back) => {
                let sign = signs::between(line, signs::before(line, place), place);
                Change::TakesBack(Sign::of(&sign))
            }
            Some(Way::Forth) => {
                let sign = signs::between(line, place, signs::after(line, place));
                Change::TakesForth(Sign::of(&sign))
            }
            None => Change::Other,
        }
    }

    /// Changes something, and remembers how it was.
    pub(super) fn change(&mut self, what: Change, change: impl FnOnce(&mut Self)) {
        let before = self.stand();
        change(self);
        match self.area.lines() == before.lines {
            true => self.history.on_rest(),
            false => self.history.on_change(before, what),
        }
    }

    fn stand(&self) -> Stand {
        Stand {
            lines: self.area.lines().to_vec(),
            cursor: cursor(&self.area),
            recalled: self.recalled,
        }
    }

    fn restore(&mut self, stand: Option<Stand>) {
        let Some(stand) = stand else {
            return;
        };
        self.recalled = stand.recalled;
        self.put(stand.lines);
        self.jump(stand.cursor);
    }

    /// Puts other lines there.
    pub(super) fn put(&mut self, lines: Vec<String>) {
        let yanked = self.area.yank_text();
        self.area = fresh(lines);
        self.area.set_yank_text(yanked);
    }

    pub(super) fn jump(&mut self, (row, column): (usize, usize)) {
        let short = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
        self.area
            .move_cursor(CursorMove::Jump(short(row), short(column)));
    }

    /// The line of the cursor, and its place there.
    pub(super) fn line_at_cursor(&self) -> (&str, usize) {
        let (row, place) = cursor(&self.area);
        let line = self.area.lines().get(row).map_or("", String::as_str);
        (line, place)
    }

    /// Removes the whole sign before or behind the cursor where a key would remove a character of it.
    fn takes_a_sign(&mut self, key: KeyEvent) -> bool {
        let Some(way) = taken(key).filter(|_| !self.area.is_selecting()) else {
            return false;
        };
        let (line, place) = self.line_at_cursor();
        let n_chars = match way {
            Way::Back => place - signs::before(line, place),
            Way::Forth => signs::after(line, place) - place,
        };
        // At the edge of a line its end goes.
        for _ in 0..n_chars.max(1) {
            match way {
                Way::Back => self.area.delete_char(),
                Way::Forth => self.area.delete_next_char(),
            };
        }
        true
    }

    /// Moves the cursor out of a sign, in the direction that it went.
    pub(super) fn leave_sign(&mut self, before: (usize, usize)) {
        let (line, place) = self.line_at_cursor();
        if !signs::is_within(line, place) {
            return;
        }
        let (n_chars, way) = match cursor(&self.area) < before {
            true => (place - signs::before(line, place), CursorMove::Back),
            false => (signs::after(line, place) - place, CursorMove::Forward),
        };
        for _ in 0..n_chars {
            self.area.move_cursor(way);
        }
    }

    /// Removes a whole paste where a key would remove a part of it.
    fn takes_a_chip(&mut self, key: KeyEvent) -> bool {
        let is_back = match key.code {
            KeyCode::Backspace => true,
            KeyCode::Char('w') => key.modifiers == KeyModifiers::CONTROL,
            _ => taken(key) == Some(Way::Back),
        };
        let is_forth = match key.code {
            KeyCode::Delete => true,
            KeyCode::Char('d') => key.modifiers == KeyModifiers::ALT,
            _ => false,
        } || taken(key) == Some(Way::Forth);
        let (row, column) = cursor(&self.area);
        let line = self.area.lines().get(row).cloned().unwrap_or_default();
        let Some((from, to)) = self.chips.at(&line, column) else {
            return false;
        };
        let is_taken = is_back && column == to || is_forth && column == from;
        if is_taken {
            for _ in from..to {
                match is_back {
                    true => self.area.delete_char(),
                    false => self.area.delete_next_char(),
                };
            }
        }
        is_taken
    }

    /// Moves the cursor out of a paste, in the direction that it went.
    fn leave_chip(&mut self, before: (usize, usize)) {
        let (row, column) = cursor(&self.area);
        let line = self.area.lines().get(row).map_or("", String::as_str);
        let Some((from, to)) = self.chips.at(line, column) else {
            return;
        };
        if from < column && column < to {
            let out = if (row, column) < before { from } else { to };
            self.jump((row, out));
        }
    }
}

/// Where a sign goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// The one before the cursor.
    Back,
    /// The one behind it.
    Forth,
}

/// The way in which a key takes one sign.
fn taken(key: KeyEvent) -> Option<Way> {
    let is_ctrl = key.modifiers == KeyModifiers::CONTROL;
    let is_plain = (key.modifiers - KeyModifiers::SHIFT).is_empty();
    match key.code {
        KeyCode::Backspace if is_plain => Some(Way::Back),
        KeyCode::Char('h') if is_ctrl => Some(Way::Back),
        KeyCode::Delete if is_plain => Some(Way::Forth),
        KeyCode::Char('d') if is_ctrl => Some(Way::Forth),
        _ => None,
    }
}

/// The character that a key types.
pub(super) fn typed(key: KeyEvent) -> Option<char> {
    match key.code {
        KeyCode::Char(c) if (key.modifiers - KeyModifiers::SHIFT).is_empty() => Some(c),
        _ => None,
    }
}
