//! The composer: several lines, wide characters, paste, and what was sent before.
//!
//! Refuses to know what its text is for; whoever takes the text says so.

mod chips;

use ratatui::Frame;
use ratatui::buffer::{Buffer, CellWidth};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::{Rect, Size};
use ratatui::style::Style;
use ratatui::widgets::{Block, BorderType, Borders, Widget};
use ratatui_textarea::{CursorMove, TextArea, WrapMode};
use unicode_segmentation::UnicodeSegmentation;

use super::theme;
use super::wrap::{cut, width, wrap};
use crate::text::sanitise::sanitise;
use chips::Chips;

/// How many bytes a composed text may have.
pub const MAX_BYTES: usize = 256 << 10;
/// How many sent texts are kept for recall.
const MAX_SENT: usize = 100;

/// The text being written.
#[derive(Debug)]
pub struct Composer {
    area: TextArea<'static>,
    chips: Chips,
    sent: Vec<String>,
    /// Those of them that nobody was told of.
    untold: Vec<String>,
    /// Which sent text is shown; `None` while a new one is written.
    recalled: Option<usize>,
    /// The room that it was drawn in last.
    room: Size,
}

/// What a key did to the composer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    /// The text changed or the cursor moved.
    Edited,
    /// The text shall be sent.
    Submit,
}

impl Default for Composer {
    fn default() -> Self {
        Self {
            area: fresh(Vec::new()),
            chips: Chips::default(),
            sent: Vec::new(),
            untold: Vec::new(),
            recalled: None,
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
    area.set_max_histories(200);
    area
}

impl Composer {
    /// The text as it stands, what was pasted in it.
    pub fn text(&self) -> String {
        self.chips.expand(self.area.lines().join("\n"))
    }

    fn n_bytes(&self) -> usize {
        let lines = self.area.lines().iter().map(|line| line.len() + 1);
        lines.sum::<usize>() + self.chips.n_bytes()
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
        for _ in 0..n_chars {
            self.area.delete_char();
        }
        self.insert(text);
    }

    /// Tells whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.area.lines().iter().all(|line| line.trim().is_empty())
    }

    /// Puts a text in the place of what stands there.
    pub fn set(&mut self, text: &str) {
        self.chips = Chips::default();
        let text = self.chips.take(text).unwrap_or_else(|| text.to_owned());
        let lines = text.lines().map(str::to_owned).collect();
        self.area = fresh(lines);
        self.area.move_cursor(CursorMove::Bottom);
        self.area.move_cursor(CursorMove::End);
        self.recalled = None;
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
        self.recalled = None;
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
        let (row, _) = cursor(&self.area);
        match key.code {
            _ if is_newline => self.insert("\n"),
            KeyCode::Enter => return Written::Submit,
            KeyCode::Up if row == 0 && self.may_recall() => self.recall(Direction::Older),
            KeyCode::Down if self.recalled.is_some() => self.recall(Direction::Newer),
            KeyCode::Tab => {}
            KeyCode::Char(c) if c.is_control() => {}
            _ => self.edit(key),
        }
        Written::Edited
    }

    /// Keys that the text area has in another place than most programs, and all others, which are its own.
    fn edit(&mut self, key: KeyEvent) {
        let is_ctrl = key.modifiers == KeyModifiers::CONTROL;
        match key.code {
            // A terminal sends Ctrl+/ and Ctrl+_ as Ctrl+7 where it knows no better.
            KeyCode::Char('/' | '_' | '7') if is_ctrl => {
                self.area.undo();
            }
            KeyCode::Char('u') if is_ctrl => {
                self.area.delete_line_by_head();
            }
            _ if self.takes_a_chip(key) => {}
            KeyCode::Char(_) if self.n_bytes() >= MAX_BYTES => {}
            _ => {
                let before = cursor(&self.area);
                self.area.input(key);
                self.leave_chip(before);
            }
        }
    }

    /// Removes a whole paste where a key would remove a part of it.
    fn takes_a_chip(&mut self, key: KeyEvent) -> bool {
        let is_ctrl = key.modifiers == KeyModifiers::CONTROL;
        let is_back = match key.code {
            KeyCode::Backspace => true,
            KeyCode::Char('h' | 'w') => is_ctrl,
            _ => false,
        };
        let is_forth = match key.code {
            KeyCode::Delete => true,
            KeyCode::Char('d') => is_ctrl || key.modifiers == KeyModifiers::ALT,
            _ => false,
        };
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
            let short = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
            self.area
                .move_cursor(CursorMove::Jump(short(row), short(out)));
        }
    }

    /// Takes pasted text in, made harmless; tells whether all of it fitted.
    pub fn on_paste(&mut self, text: &str) -> Fitted {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let text = sanitise(&text).replace('\t', "    ");
        let room = MAX_BYTES.saturating_sub(self.n_bytes());
        let mut end = room.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        match self.chips.take(&text[..end]) {
            Some(mark) => self.insert(&mark),
            None => self.insert(&text[..end]),
        }
        if end == text.len() {
            Fitted::Whole
        } else {
            Fitted::Cut
        }
    }

    fn insert(&mut self, text: &str) {
        self.recalled = None;
        self.area.insert_str(text);
    }

    fn may_recall(&self) -> bool {
        !self.sent.is_empty() && (self.is_empty() || self.recalled.is_some())
    }

    fn recall(&mut self, direction: Direction) {
        let at = match (direction, self.recalled) {
            (Direction::Older, None) => self.sent.len().checked_sub(1),
            (Direction::Older, Some(at)) => Some(at.saturating_sub(1)),
            (Direction::Newer, Some(at)) => Some(at + 1),
            (Direction::Newer, None) => None,
        };
        let text = at.and_then(|at| self.sent.get(at).cloned());
        self.set(text.as_deref().unwrap_or_default());
        self.recalled = at.filter(|at| *at < self.sent.len());
    }

    /// How many lines the text takes at a width.
    pub fn n_rows(&self, columns: usize) -> usize {
        let rows = |line: &String| wrap(&[line.as_str().into()], columns, 0).len();
        // The cursor may stand behind the last column.
        self.area
            .lines()
            .iter()
            .take(50)
            .map(rows)
            .sum::<usize>()
            .max(1)
    }

    /// Draws the composer with its text and cursor; `label` says what Enter does.
    pub fn draw(&mut self, frame: &mut Frame, area: Rect, label: &str) {
        if area.height >= 3 {
            let title = format!(
                " {} ",
                cut(label, usize::from(area.width).saturating_sub(4))
            );
            let block = Block::new()
                .borders(Borders::ALL)
                .border_type(BorderType::Rounded)
                .border_style(theme::YOU)
                .title(title);
            self.area.set_block(block);
        } else {
            self.area.remove_block();
        }
        let inner = self.area.block().map_or(area, |block| block.inner(area));
        if std::mem::replace(&mut self.room, inner.as_size()) != inner.as_size() {
            self.scroll_anew(area);
        }
        frame.render_widget(&self.area, area);
        self.place_cursor(frame, inner);
    }

    /// Scrolls only as far as the cursor needs it. The text area keeps how far it was scrolled in another room,
    /// and would show the end of a text that has room enough.
    fn scroll_anew(&mut self, area: Rect) {
        if self.area.scroll_offset().0 == 0 || self.area.is_selecting() {
            return;
        }
        let (row, column) = cursor(&self.area);
        let short = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
        self.area.move_cursor(CursorMove::Jump(0, 0));
        (&self.area).render(area, &mut Buffer::empty(area));
        self.area
            .move_cursor(CursorMove::Jump(short(row), short(column)));
    }

    fn place_cursor(&self, frame: &mut Frame, inner: Rect) {
        if inner.is_empty() {
            return;
        }
        let (top, left) = self.area.scroll_offset();
        let at = self.area.screen_cursor();
        let offset = |at: usize, from: u16| {
            u16::try_from(at.saturating_sub(usize::from(from))).unwrap_or(u16::MAX)
        };
        let x = inner.x.saturating_add(offset(self.column(at.row), left));
        let y = inner.y.saturating_add(offset(at.row, top));
        frame.set_cursor_position((x.min(inner.right() - 1), y.min(inner.bottom() - 1)));
    }

    /// How many columns are drawn before the cursor in its row of the screen. The text area draws what belongs
    /// together as one sign, but counts each character for itself.
    fn column(&self, row_on_screen: usize) -> usize {
        let (row, column) = cursor(&self.area);
        let from = self.area.screen_to_data(row_on_screen, 0).1;
        let line = self.area.lines().get(row).map_or("", String::as_str);
        let before: String = line
            .chars()
            .skip(from)
            .take(column.saturating_sub(from))
            .collect();
        let signs = before.graphemes(true);
        signs.map(|sign| usize::from(sign.cell_width())).sum()
    }

    /// Draws the one line that stands there while the user does not write; `key` begins to.
    pub fn draw_folded(&self, frame: &mut Frame, area: Rect, key: &str) {
        let first = self
            .area
            .lines()
            .iter()
            .find(|line| !line.trim().is_empty());
        let text = match first {
            Some(line) => format!("› {line}  (unsent; {key} goes on)"),
            None => format!("› {key} to write, / for commands"),
        };
        let text = cut(&text, usize::from(area.width));
        debug_assert!(width(&text) <= usize::from(area.width));
        frame.render_widget(ratatui::text::Line::styled(text, theme::QUIET), area);
    }
}

/// Whether a pasted text fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fitted {
    /// All of it.
    Whole,
    /// Its end was left out.
    Cut,
}

enum Direction {
    Older,
    Newer,
}

fn cursor(area: &TextArea<'_>) -> (usize, usize) {
    let cursor = area.cursor();
    (cursor.0, cursor.1)
}
