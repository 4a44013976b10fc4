//! The composer: an editor for several lines with wide characters, paste, undo and recall of sent texts.
//!
//! Where its text goes is decided in `composer_target`.

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
pub use composer_render::{BAR, ComposerLook, ComposerSpacing};
pub use edit_keys::typed_char;
use paste_chips::PasteChips;
use undo_history::{EditKind, UndoHistory};

/// The largest text that the composer accepts, in bytes.
pub const MAX_TEXT_BYTES: usize = 256 << 10;
/// How many sent texts can be recalled.
const MAX_SENT_TEXTS: usize = 100;

/// The text being written.
#[derive(Debug)]
pub struct TextComposer {
    text_area: TextArea<'static>,
    paste_chips: PasteChips,
    undo_history: UndoHistory,
    sent_texts: Vec<String>,
    /// The sent texts that `drain_unsaved_texts` has not returned yet.
    unsaved_texts: Vec<String>,
    /// The index of the recalled text; `None` while a new one is written.
    recalled: Option<usize>,
    /// The edited lines of recalled texts, by index; the index after the last one is the new text.
    recall_edits: BTreeMap<usize, Vec<String>>,
    /// The size of its area in the last frame.
    drawn_size: Size,
}

/// The result of a key in the composer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ComposerKeyResult {
    /// The text or the cursor changed.
    Edited,
    /// The text has reached its maximum size.
    Full,
    /// The user wants to send the text.
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
    // The terminal draws the cursor itself, so that an input method opens at it.
    area.set_cursor_style(Style::new());
    // The text area's own undo goes back one character at a time, which splits characters made of several code points.
    area.set_max_histories(0);
    area
}

impl TextComposer {
    /// Returns the text with pasted texts in place of their marks.
    pub fn text(&self) -> String {
        self.paste_chips
            .expand_marks(self.text_area.lines().join("\n"))
    }

    fn n_bytes(&self) -> usize {
        let lines = self.text_area.lines().iter();
        let n_bytes = lines.map(|line| line.len() + 1 + self.paste_chips.n_bytes(line));
        n_bytes.sum()
    }

    /// Returns the text of the cursor's line up to the cursor.
    pub fn text_before_cursor(&self) -> String {
        let (row, column) = cursor_position(&self.text_area);
        let line = self.text_area.lines().get(row);
        line.map_or_else(String::new, |line| line.chars().take(column).collect())
    }

    /// Returns whether the whole text is one word in one line.
    pub fn is_one_word(&self) -> bool {
        match self.text_area.lines() {
            [line] => !line.contains(char::is_whitespace),
            _ => false,
        }
    }

    /// Replaces characters before the cursor with a text.
    pub fn replace_before_cursor(&mut self, n_chars: usize, text: &str) {
        self.apply_edit(EditKind::Other, |composer| {
            for _ in 0..n_chars {
                composer.text_area.delete_char();
            }
            composer.text_area.insert_str(text);
        });
    }

    /// Returns whether the text is empty or only whitespace.
    pub fn is_empty(&self) -> bool {
        self.text_area
            .lines()
            .iter()
            .all(|line| line.trim().is_empty())
    }

    /// Replaces the whole text.
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

    /// Adds the unsent text to the texts to be saved, so that the next session can recall it.
    pub fn remember_draft(&mut self) {
        let text = self.text();
        if !self.is_empty() && self.sent_texts.last() != Some(&text) {
            self.unsaved_texts.push(text);
        }
    }

    /// Returns the text, records it as sent and empties the composer.
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

    /// Sets the texts that were sent in earlier sessions, the oldest first.
    pub fn set_sent_texts(&mut self, mut texts: Vec<String>) {
        texts.append(&mut self.sent_texts);
        let from = texts.len().saturating_sub(MAX_SENT_TEXTS);
        self.sent_texts = texts.split_off(from);
        self.reset();
    }

    /// Returns the texts that were sent since the last call.
    pub fn drain_unsaved_texts(&mut self) -> Vec<String> {
        std::mem::take(&mut self.unsaved_texts)
    }

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

    /// Inserts pasted text after removing control sequences: all of it, or none if it does not fit.
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

    /// Moves the cursor up or down a row; at the edge of the text, recalls the older or newer sent text.
    fn move_or_recall(&mut self, key: KeyEvent, direction: RecallDirection) {
        let before = cursor_position(&self.text_area);
        self.apply_key(key);
        // The cursor did not move, so there is no wrapped row in this direction.
        if cursor_position(&self.text_area) == before {
            self.recall_sent_text(direction);
        }
    }

    /// Shows the older or newer sent text. Edits to the current one are kept for when the user returns to it.
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

/// Whether a paste was inserted or did not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasteResult {
    Inserted,
    /// Nothing was inserted: the paste is larger than the remaining room.
    TooLarge {
        /// The size of the cleaned paste.
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

/// Says that a message is too large and where to put it instead; `n_bytes` is the size of the paste, if known.
pub fn describe_too_large(n_bytes: Option<usize>) -> String {
    let most = MAX_TEXT_BYTES >> 10;
    let what = match n_bytes.map(|n| n.div_ceil(1 << 10)) {
        Some(kb @ 0..1024) => format!("Paste of {kb} KB dropped: it does not fit"),
        Some(kb) => format!(
            "Paste of {}.{} MB dropped: it does not fit",
            kb >> 10,
            (kb % 1024) * 10 / 1024
        ),
        None => "The message is full".to_owned(),
    };
    format!("{what}. The limit is {most} KB. Put it in a file and name that with @.")
}
