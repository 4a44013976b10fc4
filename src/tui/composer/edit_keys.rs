//! Edits the text by keys: whole graphemes, a paste as one unit, and undo and redo step by step.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui_textarea::CursorMove;

use super::undo_history::{EditKind, EditSnapshot, GraphemeKind};
use super::{TextComposer, cursor_position, graphemes, new_text_area};

impl TextComposer {
    /// Handles keys whose meaning differs from the text area's default, and passes on all others.
    pub(super) fn apply_key(&mut self, key: KeyEvent) {
        let is_ctrl = key.modifiers == KeyModifiers::CONTROL;
        match key.code {
            // Some terminals send Ctrl+/ and Ctrl+_ as Ctrl+7.
            KeyCode::Char('/' | '_' | '7') if is_ctrl => {
                let before = self.undo_history.undo(self.edit_snapshot());
                self.restore(before);
            }
            KeyCode::Char('r') if is_ctrl => {
                let after = self.undo_history.redo(self.edit_snapshot());
                self.restore(after);
            }
            _ => self.apply_edit(self.edit_kind(key), |composer| composer.input_key(key)),
        }
    }

    fn input_key(&mut self, key: KeyEvent) {
        let before = cursor_position(&self.text_area);
        match key.code {
            KeyCode::Char('u') if key.modifiers == KeyModifiers::CONTROL => {
                self.text_area.delete_line_by_head();
            }
            _ if self.remove_chip(key) => {}
            _ if self.remove_grapheme(key) => {}
            _ => {
                let was = self.line_at_cursor().0.to_owned();
                let may_split = typed_char(key).is_none() && !self.text_area.is_selecting();
                self.text_area.input(key);
                if may_split {
                    self.remove_grapheme_rest(&was, before.0, before.1);
                }
                self.leave_chip(before);
            }
        }
        self.leave_grapheme(before);
    }

    /// Removes the rest of a grapheme of which a word deletion removed a part: the text area knows only characters.
    fn remove_grapheme_rest(&mut self, was: &str, row: usize, place: usize) {
        let (now, at) = cursor_position(&self.text_area);
        let (n_was, n_is) = (was.chars().count(), self.line_at_cursor().0.chars().count());
        let Some(n_gone) = n_was.checked_sub(n_is).filter(|_| now == row) else {
            return;
        };
        let to = at + n_gone;
        if to == place && graphemes::is_inside_grapheme(was, at) {
            for _ in graphemes::grapheme_start(was, at)..at {
                self.text_area.delete_char();
            }
        }
        if at == place && graphemes::is_inside_grapheme(was, to) {
            for _ in to..graphemes::grapheme_end(was, to) {
                self.text_area.delete_next_char();
            }
        }
    }

    /// Returns what a key does to the text, for grouping undo steps.
    fn edit_kind(&self, key: KeyEvent) -> EditKind {
        let (line, place) = self.line_at_cursor();
        if let Some(c) = typed_char(key) {
            let before = graphemes::slice_chars(line, 0, place);
            return EditKind::Insert(if graphemes::joins_last_grapheme(&before, c) {
                GraphemeKind::Combining
            } else {
                GraphemeKind::classify(c.encode_utf8(&mut [0; 4]))
            });
        }
        match delete_direction(key).filter(|_| self.paste_chips.chip_at(line, place).is_none()) {
            Some(DeleteDirection::Backward) => {
                let sign =
                    graphemes::slice_chars(line, graphemes::grapheme_start(line, place), place);
                EditKind::DeleteBackward(GraphemeKind::classify(&sign))
            }
            Some(DeleteDirection::Forward) => {
                let sign =
                    graphemes::slice_chars(line, place, graphemes::grapheme_end(line, place));
                EditKind::DeleteForward(GraphemeKind::classify(&sign))
            }
            None => EditKind::Other,
        }
    }

    /// Applies a change and records the state before it for undo.
    pub(super) fn apply_edit(&mut self, what: EditKind, change: impl FnOnce(&mut Self)) {
        let before = self.edit_snapshot();
        change(self);
        if self.text_area.lines() == before.lines {
            self.undo_history.end_step()
        } else {
            self.undo_history.record_change(before, what)
        }
    }

    fn edit_snapshot(&self) -> EditSnapshot {
        EditSnapshot {
            lines: self.text_area.lines().to_vec(),
            cursor: cursor_position(&self.text_area),
            recalled: self.recalled,
        }
    }

    fn restore(&mut self, stand: Option<EditSnapshot>) {
        let Some(stand) = stand else {
            return;
        };
        self.recalled = stand.recalled;
        self.set_lines(stand.lines);
        self.move_cursor(stand.cursor.0, stand.cursor.1);
    }

    /// Replaces the lines, and keeps the text area's yank buffer.
    pub(super) fn set_lines(&mut self, lines: Vec<String>) {
        let yanked = self.text_area.yank_text();
        self.text_area = new_text_area(lines);
        self.text_area.set_yank_text(yanked);
    }

    pub(super) fn move_cursor(&mut self, row: usize, column: usize) {
        let short = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
        self.text_area
            .move_cursor(CursorMove::Jump(short(row), short(column)));
    }

    /// Returns the cursor's line, and the cursor's position in it.
    pub(super) fn line_at_cursor(&self) -> (&str, usize) {
        let (row, place) = cursor_position(&self.text_area);
        let line = self.text_area.lines().get(row).map_or("", String::as_str);
        (line, place)
    }

    /// Removes the whole grapheme before or after the cursor if a key would remove one of its characters.
    fn remove_grapheme(&mut self, key: KeyEvent) -> bool {
        let Some(way) = delete_direction(key).filter(|_| !self.text_area.is_selecting()) else {
            return false;
        };
        let (line, place) = self.line_at_cursor();
        let n_chars = match way {
            DeleteDirection::Backward => place - graphemes::grapheme_start(line, place),
            DeleteDirection::Forward => graphemes::grapheme_end(line, place) - place,
        };
        // At the edge of a line, delete the line break.
        for _ in 0..n_chars.max(1) {
            match way {
                DeleteDirection::Backward => self.text_area.delete_char(),
                DeleteDirection::Forward => self.text_area.delete_next_char(),
            };
        }
        true
    }

    /// Moves the cursor out of a grapheme, in the direction it moved.
    pub(super) fn leave_grapheme(&mut self, before: (usize, usize)) {
        let (line, place) = self.line_at_cursor();
        if !graphemes::is_inside_grapheme(line, place) {
            return;
        }
        let (n_chars, way) = if cursor_position(&self.text_area) < before {
            (
                place - graphemes::grapheme_start(line, place),
                CursorMove::Back,
            )
        } else {
            (
                graphemes::grapheme_end(line, place) - place,
                CursorMove::Forward,
            )
        };
        for _ in 0..n_chars {
            self.text_area.move_cursor(way);
        }
    }

    /// Removes a whole paste mark if a key would remove a part of it.
    fn remove_chip(&mut self, key: KeyEvent) -> bool {
        let is_back = match key.code {
            KeyCode::Backspace => true,
            KeyCode::Char('w') => key.modifiers == KeyModifiers::CONTROL,
            _ => delete_direction(key) == Some(DeleteDirection::Backward),
        };
        let is_forth = match key.code {
            KeyCode::Delete => true,
            KeyCode::Char('d') => key.modifiers == KeyModifiers::ALT,
            _ => false,
        } || delete_direction(key) == Some(DeleteDirection::Forward);
        let (row, column) = cursor_position(&self.text_area);
        let line = self.text_area.lines().get(row).cloned().unwrap_or_default();
        let Some((from, to)) = self.paste_chips.chip_at(&line, column) else {
            return false;
        };
        let is_taken = is_back && column == to || is_forth && column == from;
        if is_taken {
            for _ in from..to {
                if is_back {
                    self.text_area.delete_char()
                } else {
                    self.text_area.delete_next_char()
                };
            }
        }
        is_taken
    }

    /// Moves the cursor out of a paste mark, in the direction it moved.
    fn leave_chip(&mut self, before: (usize, usize)) {
        let (row, column) = cursor_position(&self.text_area);
        let line = self.text_area.lines().get(row).map_or("", String::as_str);
        let Some((from, to)) = self.paste_chips.chip_at(line, column) else {
            return;
        };
        if from < column && column < to {
            let out = if (row, column) < before { from } else { to };
            self.move_cursor(row, out);
        }
    }
}

/// Which grapheme is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DeleteDirection {
    /// The one before the cursor.
    Backward,
    /// The one after the cursor.
    Forward,
}

/// Returns the direction in which a key deletes one grapheme.
fn delete_direction(key: KeyEvent) -> Option<DeleteDirection> {
    let is_ctrl = key.modifiers == KeyModifiers::CONTROL;
    let is_plain = (key.modifiers - KeyModifiers::SHIFT).is_empty();
    match key.code {
        KeyCode::Backspace if is_plain => Some(DeleteDirection::Backward),
        KeyCode::Char('h') if is_ctrl => Some(DeleteDirection::Backward),
        KeyCode::Delete if is_plain => Some(DeleteDirection::Forward),
        KeyCode::Char('d') if is_ctrl => Some(DeleteDirection::Forward),
        _ => None,
    }
}

/// Returns the character that a key types.
pub fn typed_char(key: KeyEvent) -> Option<char> {
    match key.code {
        KeyCode::Char(c) if (key.modifiers - KeyModifiers::SHIFT).is_empty() => Some(c),
        _ => None,
    }
}
