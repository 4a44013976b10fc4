//! The composer: several lines, wide characters, paste, and what was sent before.
//!
//! Refuses to know what its text is for; whoever takes the text says so.

mod chips;
mod drawing;
mod editing;
mod history;
mod signs;

use std::collections::BTreeMap;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Size;
use ratatui::style::Style;
use ratatui_textarea::{CursorMove, TextArea, WrapMode};

use crate::text::sanitiser::sanitise_text;
use chips::Chips;
use editing::typed;
use history::{Change, History};

/// How many bytes a composed text may have.
pub const MAX_BYTES: usize = 256 << 10;
/// How many sent texts are kept for recall.
const MAX_SENT: usize = 100;

/// The text being written.
#[derive(Debug)]
pub struct Composer {
    area: TextArea<'static>,
    chips: Chips,
    history: History,
    sent: Vec<String>,
    /// Those of them that nobody was told of.
    untold: Vec<String>,
    /// Which sent text is shown; `None` while a new one is written.
    recalled: Option<usize>,
    /// The lines of those that were shown since, as they were left; behind the last the one that is written.
    left: BTreeMap<usize, Vec<String>>,
    /// The room that it was drawn in last.
    room: Size,
}

/// What a key did to the composer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    /// The text changed or the cursor moved.
    Edited,
    /// The text has as many bytes as it may have.
    Full,
    /// The text shall be sent.
    Submit,
}

impl Default for Composer {
    fn default() -> Self {
        Self {
            area: fresh(Vec::new()),
            chips: Chips::default(),
            history: History::default(),
            sent: Vec::new(),
            untold: Vec::new(),
            recalled: None,
            left: BTreeMap::new(),
            room: Size::ZERO,
        }
    }
}

fn fresh(lines: Vec<String>) -> TextArea<'static> {
    let mut area = TextArea::new(lines);
    area.set_wrap_mode(WrapMode::WordOrGlyph);
    area.set_cursor_line_style(Style::new());
    // The terminal's own cursor stands there: an input method opens where it is.
    area.set_cursor_style(Style::new());
    // It would go back a character at a time, through the inside of signs.
    area.set_max_histories(0);
    area
}

impl Composer {
    /// The text as it stands, what was pasted in it.
    pub fn text(&self) -> String {
        self.chips.expand(self.area.lines().join("\n"))
    }

    fn n_bytes(&self) -> usize {
        let lines = self.area.lines().iter();
        let n_bytes = lines.map(|line| line.len() + 1 + self.chips.n_bytes(line));
        n_bytes.sum()
    }

    /// The line of the cursor up to it.
    pub fn before_cursor(&self) -> String {
        let (row, column) = cursor(&self.area);
        let line = self.area.lines().get(row);
        line.map_or_else(String::new, |line| line.chars().take(column).collect())
    }

    /// Tells whether all of the text is one word in one line.
    pub fn is_one_word(&self) -> bool {
        match self.area.lines() {
            [line] => !line.contains(char::is_whitespace),
            _ => false,
        }
    }

    /// Puts a text in the place of what stands before the cursor in its line.
    pub fn replace_before_cursor(&mut self, n_chars: usize, text: &str) {
        self.change(Change::Other, |composer| {
            for _ in 0..n_chars {
                composer.area.delete_char();
            }
            composer.area.insert_str(text);
        });
    }

    /// Tells whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.area.lines().iter().all(|line| line.trim().is_empty())
    }

    /// Puts a text in the place of what stands there.
    pub fn set(&mut self, text: &str) {
        self.chips = Chips::default();
        self.history = History::default();
        let text = self.chips.take(text).unwrap_or_else(|| text.to_owned());
        let lines = text.lines().map(str::to_owned).collect();
        self.area = fresh(lines);
        self.area.move_cursor(CursorMove::Bottom);
        self.area.move_cursor(CursorMove::End);
        self.begin_anew();
    }

    fn begin_anew(&mut self) {
        self.recalled = None;
        self.left.clear();
    }

    /// Remembers what is written and was not sent, for the next start.
    pub fn remember_draft(&mut self) {
        let text = self.text();
        if !self.is_empty() && self.sent.last() != Some(&text) {
            self.untold.push(text);
        }
    }

    /// Takes the text out as sent.
    pub fn take(&mut self) -> String {
        let text = self.text();
        if self.sent.last() != Some(&text) {
            self.sent.push(text.clone());
            self.untold.push(text.clone());
        }
        if self.sent.len() > MAX_SENT {
            self.sent.remove(0);
        }
        self.set("");
        text
    }

    /// Takes texts that were sent before this program began, the oldest first.
    pub fn remember(&mut self, mut texts: Vec<String>) {
        texts.append(&mut self.sent);
        let from = texts.len().saturating_sub(MAX_SENT);
        self.sent = texts.split_off(from);
        self.begin_anew();
    }

    /// What was sent since this was asked last.
    pub fn tell(&mut self) -> Vec<String> {
        std::mem::take(&mut self.untold)
    }

    /// Takes a key in.
    pub fn on_key(&mut self, key: KeyEvent) -> Written {
        let with_enter = KeyModifiers::ALT | KeyModifiers::SHIFT | KeyModifiers::CONTROL;
        let is_newline = match key.code {
            KeyCode::Enter => key.modifiers.intersects(with_enter),
            KeyCode::Char('j') => key.modifiers == KeyModifiers::CONTROL,
            _ => false,
        };
        let is_plain = key.modifiers.is_empty();
        match key.code {
            _ if is_newline => self.insert("\n"),
            KeyCode::Enter => return Written::Submit,
            KeyCode::Up if is_plain => self.go_or_recall(key, Direction::Older),
            KeyCode::Down if is_plain => self.go_or_recall(key, Direction::Newer),
            KeyCode::Tab => {}
            KeyCode::Char(c) if c.is_control() => {}
            KeyCode::Char(_) if typed(key).is_some() && self.n_bytes() >= MAX_BYTES => {
                return Written::Full;
            }
            _ => self.edit(key),
        }
        Written::Edited
    }

    /// Takes pasted text in, made harmless: all of it, or nothing where there is no room for that.
    pub fn on_paste(&mut self, text: &str) -> Fitted {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let text = sanitise_text(&text).replace('\t', "    ");
        if text.len() > MAX_BYTES.saturating_sub(self.n_bytes()) {
            return Fitted::Not {
                n_bytes: text.len(),
            };
        }
        match self.chips.take(&text) {
            Some(mark) => self.insert(&mark),
            None => self.insert(&text),
        }
        Fitted::Whole
    }

    fn insert(&mut self, text: &str) {
        self.change(Change::Other, |composer| {
            let before = cursor(&composer.area);
            composer.area.insert_str(text);
            composer.leave_sign(before);
        });
    }

    /// Goes a row up or down; from the edge of the text to what was sent before, or back.
    fn go_or_recall(&mut self, key: KeyEvent, direction: Direction) {
        let before = cursor(&self.area);
        self.edit(key);
        // No row of the text, of those that a line is broken into, lies there.
        if cursor(&self.area) == before {
            self.recall(direction);
        }
    }

    /// Shows the sent text before or behind; what is left stays as it is for whoever comes back to it.
    fn recall(&mut self, direction: Direction) {
        let newest = self.sent.len();
        let from = self.recalled.unwrap_or(newest);
        let to = match direction {
            Direction::Older => from.checked_sub(1),
            Direction::Newer => Some(from + 1).filter(|to| *to <= newest),
        };
        let Some(to) = to else {
            return;
        };
        self.change(Change::Other, |composer| {
            let lines = composer.area.lines().to_vec();
            composer.left.insert(from, lines);
            composer.recalled = Some(to).filter(|to| *to < newest);
            let lines = match (composer.left.get(&to), composer.sent.get(to)) {
                (Some(left), _) => left.clone(),
                (None, Some(sent)) => {
                    let text = composer.chips.take(sent).unwrap_or_else(|| sent.clone());
                    text.lines().map(str::to_owned).collect()
                }
                (None, None) => Vec::new(),
            };
            composer.put(lines);
            composer.area.move_cursor(CursorMove::Bottom);
            composer.area.move_cursor(CursorMove::End);
        });
    }
}

/// Whether a pasted text fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fitted {
    /// All of it.
    Whole,
    /// None of it: it has this many bytes, which are more than there is room for.
    Not {
        /// All of them, made harmless.
        n_bytes: usize,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Older,
    Newer,
}

fn cursor(area: &TextArea<'_>) -> (usize, usize) {
    let cursor = area.cursor();
    (cursor.0, cursor.1)
}
