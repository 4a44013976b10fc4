//! The composer: several lines, wide characters, paste, and what was sent before.
//!
//! Refuses to know what its text is for; whoever takes the text says so.

mod composer_render;
mod edit_keys;
mod graphemes;
mod paste_chips;
mod undo_history;

use std::collections::BTreeMap;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Size;
use ratatui::style::Style;
use ratatui_textarea::{CursorMove, TextArea, WrapMode};

use crate::text::sanitiser::sanitise_text;
use edit_keys::typed_char;
use paste_chips::PasteChips;
use undo_history::{EditKind, UndoHistory};

/// How many bytes a composed text may have.
pub const MAX_TEXT_BYTES: usize = 256 << 10;
/// How many sent texts are kept for recall.
const MAX_SENT_TEXTS: usize = 100;

/// The text being written.
#[derive(Debug)]
pub struct TextComposer {
    text_area: TextArea<'static>,
    paste_chips: PasteChips,
    undo_history: UndoHistory,
    sent_texts: Vec<String>,
    /// Those of them that nobody was told of.
    unsaved_texts: Vec<String>,
    /// Which sent text is shown; `None` while a new one is written.
    recalled: Option<usize>,
    /// The lines of those that were shown since, as they were left; behind the last the one that is written.
    recall_edits: BTreeMap<usize, Vec<String>>,
    /// The room that it was drawn in last.
    drawn_size: Size,
}

/// What a key did to the composer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ComposerKeyResult {
    /// The text changed or the cursor moved.
    Edited,
    /// The text has as many bytes as it may have.
    Full,
    /// The text shall be sent.
    Submit,
}

impl Default for TextComposer {
    fn default() -> Self {
        Self {
            text_area: new_text_area(Vec::new()),
            paste_chips: PasteChips::default(),
            undo_history: UndoHistory::default(),
            sent_texts: Vec::new(),
            unsaved_texts: Vec::new(),
            recalled: None,
            recall_edits: BTreeMap::new(),
            drawn_size: Size::ZERO,
        }
    }
}

fn new_text_area(lines: Vec<String>) -> TextArea<'static> {
    let mut area = TextArea::new(lines);
    area.set_wrap_mode(WrapMode::WordOrGlyph);
    area.set_cursor_line_style(Style::new());
    // The terminal's own cursor stands there: an input method opens where it is.
    area.set_cursor_style(Style::new());
    // It would go back a character at a time, through the inside of signs.
    area.set_max_histories(0);
    area
}

impl TextComposer {
    /// The text as it stands, what was pasted in it.
    pub fn text(&self) -> String {
        self.paste_chips
            .expand_marks(self.text_area.lines().join("\n"))
    }

    fn n_bytes(&self) -> usize {
        let lines = self.text_area.lines().iter();
        let n_bytes = lines.map(|line| line.len() + 1 + self.paste_chips.n_bytes(line));
        n_bytes.sum()
    }

    /// The line of the cursor up to it.
    pub fn text_before_cursor(&self) -> String {
        let (row, column) = cursor_position(&self.text_area);
        let line = self.text_area.lines().get(row);
        line.map_or_else(String::new, |line| line.chars().take(column).collect())
    }

    /// Tells whether all of the text is one word in one line.
    pub fn is_one_word(&self) -> bool {
        match self.text_area.lines() {
            [line] => !line.contains(char::is_whitespace),
            _ => false,
        }
    }

    /// Puts a text in the place of what stands before the cursor in its line.
    pub fn replace_before_cursor(&mut self, n_chars: usize, text: &str) {
        self.apply_edit(EditKind::Other, |composer| {
            for _ in 0..n_chars {
                composer.text_area.delete_char();
            }
            composer.text_area.insert_str(text);
        });
    }

    /// Tells whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.text_area
            .lines()
            .iter()
            .all(|line| line.trim().is_empty())
    }

    /// Puts a text in the place of what stands there.
    pub fn set_text(&mut self, text: &str) {
        self.paste_chips = PasteChips::default();
        self.undo_history = UndoHistory::default();
        let text = self
            .paste_chips
            .add_paste(text)
            .unwrap_or_else(|| text.to_owned());
        let lines = text.lines().map(str::to_owned).collect();
        self.text_area = new_text_area(lines);
        self.text_area.move_cursor(CursorMove::Bottom);
        self.text_area.move_cursor(CursorMove::End);
        self.reset();
    }

    fn reset(&mut self) {
        self.recalled = None;
        self.recall_edits.clear();
    }

    /// Remembers what is written and was not sent, for the next start.
    pub fn remember_draft(&mut self) {
        let text = self.text();
        if !self.is_empty() && self.sent_texts.last() != Some(&text) {
            self.unsaved_texts.push(text);
        }
    }

    /// Takes the text out as sent.
    pub fn submit_text(&mut self) -> String {
        let text = self.text();
        if self.sent_texts.last() != Some(&text) {
            self.sent_texts.push(text.clone());
            self.unsaved_texts.push(text.clone());
        }
        if self.sent_texts.len() > MAX_SENT_TEXTS {
            self.sent_texts.remove(0);
        }
        self.set_text("");
        text
    }

    /// Takes texts that were sent before this program began, the oldest first.
    pub fn set_sent_texts(&mut self, mut texts: Vec<String>) {
        texts.append(&mut self.sent_texts);
        let from = texts.len().saturating_sub(MAX_SENT_TEXTS);
        self.sent_texts = texts.split_off(from);
        self.reset();
    }

    /// What was sent since this was asked last.
    pub fn drain_unsaved_texts(&mut self) -> Vec<String> {
        std::mem::take(&mut self.unsaved_texts)
    }

    /// Takes a key in.
    pub fn on_key(&mut self, key: KeyEvent) -> ComposerKeyResult {
        let with_enter = KeyModifiers::ALT | KeyModifiers::SHIFT | KeyModifiers::CONTROL;
        let is_newline = match key.code {
            KeyCode::Enter => key.modifiers.intersects(with_enter),
            KeyCode::Char('j') => key.modifiers == KeyModifiers::CONTROL,
            _ => false,
        };
        let is_plain = key.modifiers.is_empty();
        match key.code {
            _ if is_newline => self.insert("\n"),
            KeyCode::Enter => return ComposerKeyResult::Submit,
            KeyCode::Up if is_plain => self.move_or_recall(key, RecallDirection::Older),
            KeyCode::Down if is_plain => self.move_or_recall(key, RecallDirection::Newer),
            KeyCode::Tab => {}
            KeyCode::Char(c) if c.is_control() => {}
            KeyCode::Char(_) if typed_char(key).is_some() && self.n_bytes() >= MAX_TEXT_BYTES => {
                return ComposerKeyResult::Full;
            }
            _ => self.apply_key(key),
        }
        ComposerKeyResult::Edited
    }

    /// Takes pasted text in, made harmless: all of it, or nothing where there is no room for that.
    pub fn on_paste(&mut self, text: &str) -> PasteResult {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let text = sanitise_text(&text).replace('\t', "    ");
        if text.len() > MAX_TEXT_BYTES.saturating_sub(self.n_bytes()) {
            return PasteResult::TooLarge {
                n_bytes: text.len(),
            };
        }
        match self.paste_chips.add_paste(&text) {
            Some(mark) => self.insert(&mark),
            None => self.insert(&text),
        }
        PasteResult::Inserted
    }

    fn insert(&mut self, text: &str) {
        self.apply_edit(EditKind::Other, |composer| {
            let before = cursor_position(&composer.text_area);
            composer.text_area.insert_str(text);
            composer.leave_grapheme(before);
        });
    }

    /// Goes a row up or down; from the edge of the text to what was sent before, or back.
    fn move_or_recall(&mut self, key: KeyEvent, direction: RecallDirection) {
        let before = cursor_position(&self.text_area);
        self.apply_key(key);
        // No row of the text, of those that a line is broken into, lies there.
        if cursor_position(&self.text_area) == before {
            self.recall_sent_text(direction);
        }
    }

    /// Shows the sent text before or behind; what is left stays as it is for whoever comes back to it.
    fn recall_sent_text(&mut self, direction: RecallDirection) {
        let newest = self.sent_texts.len();
        let from = self.recalled.unwrap_or(newest);
        let to = match direction {
            RecallDirection::Older => from.checked_sub(1),
            RecallDirection::Newer => Some(from + 1).filter(|to| *to <= newest),
        };
        let Some(to) = to else {
            return;
        };
        self.apply_edit(EditKind::Other, |composer| {
            let lines = composer.text_area.lines().to_vec();
            composer.recall_edits.insert(from, lines);
            composer.recalled = Some(to).filter(|to| *to < newest);
            let lines = match (composer.recall_edits.get(&to), composer.sent_texts.get(to)) {
                (Some(left), _) => left.clone(),
                (None, Some(sent)) => {
                    let text = composer
                        .paste_chips
                        .add_paste(sent)
                        .unwrap_or_else(|| sent.clone());
                    text.lines().map(str::to_owned).collect()
                }
                (None, None) => Vec::new(),
            };
            composer.set_lines(lines);
            composer.text_area.move_cursor(CursorMove::Bottom);
            composer.text_area.move_cursor(CursorMove::End);
        });
    }
}

/// Whether a pasted text fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasteResult {
    /// All of it.
    Inserted,
    /// None of it: it has this many bytes, which are more than there is room for.
    TooLarge {
        /// All of them, made harmless.
        n_bytes: usize,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RecallDirection {
    Older,
    Newer,
}

fn cursor_position(area: &TextArea<'_>) -> (usize, usize) {
    let cursor = area.cursor();
    (cursor.0, cursor.1)
}
