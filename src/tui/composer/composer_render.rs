//! Draws the composer: its frame, its text, and the terminal's own cursor, where input methods open.

use ratatui::Frame;
use ratatui::buffer::{Buffer, CellWidth};
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::symbols::border;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Clear, Padding, Widget};
use ratatui_textarea::CursorMove;
use unicode_segmentation::UnicodeSegmentation;

use super::{TextComposer, cursor_position, graphemes};
use crate::tui::clickable_keys;
use crate::tui::text_wrap::{draw_line, text_width, truncate_to_columns, wrap_spans};
use crate::tui::theme::{self, Surface};

/// The bar at the left of what the user writes or decides.
pub const BAR: border::Set = border::Set {
    vertical_left: "▌",
    ..border::PLAIN
};
/// Below this width the composer has no padding.
const NARROW_COLUMNS: u16 = 60;

/// What the composer shows beside its text.
#[derive(Debug)]
pub struct ComposerLook {
    /// Stands where the text will be written.
    pub placeholder: String,
    /// Below the text: who gets it, and what agents may do.
    pub mode_line: Line<'static>,
    pub bar: Style,
    pub spacing: ComposerSpacing,
    pub has_cursor: bool,
}

/// How much stands around the composer's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ComposerSpacing {
    /// Blank rows around it, and the mode line.
    Padded,
    /// A blank row above it, and the mode line.
    Compact,
    /// The mode line.
    Tight,
    /// Nothing.
    #[default]
    TextOnly,
}

impl ComposerSpacing {
    /// Returns how many rows it takes beside the text.
    pub fn n_rows(self) -> usize {
        usize::from(self.above() + self.below())
    }

    fn above(self) -> u16 {
        u16::from(matches!(self, Self::Padded | Self::Compact))
    }

    /// Returns the rows below the text: the mode line, in the middle of three if padded.
    fn below(self) -> u16 {
        match self {
            Self::Padded => 3,
            Self::Compact | Self::Tight => 1,
            Self::TextOnly => 0,
        }
    }
}

impl TextComposer {
    /// Returns how many columns are left for the text of a composer of this width.
    pub fn text_columns(columns: u16) -> usize {
        let taken = if columns < NARROW_COLUMNS { 2 } else { 5 };
        usize::from(columns.saturating_sub(taken))
    }

    /// Returns how many rows the text takes at a width.
    pub fn n_rows(&self, columns: usize) -> usize {
        let rows = |line: &String| wrap_spans(&[line.as_str().into()], columns, 0).len();
        let lines = self.text_area.lines().iter().take(50);
        // After a full row the cursor needs a row of its own. The wrapping is only known for the last drawn width.
        let is_known = usize::from(self.drawn_size.width) == columns;
        let is_behind = is_known && self.is_cursor_after_full_row(columns);
        lines.map(rows).sum::<usize>().max(1) + usize::from(is_behind)
    }

    /// Draws the composer with its text and cursor; returns the row of the mode line, empty if there is none.
    pub fn draw(&mut self, frame: &mut Frame, area: Rect, look: ComposerLook) -> Rect {
        let padding = if area.width < NARROW_COLUMNS { 0 } else { 2 };
        let block = Block::new()
            .borders(Borders::LEFT)
            .border_set(BAR)
            .border_style(look.bar)
            .style(Surface::Raised.style())
            .padding(Padding {
                left: padding.max(1),
                right: padding,
                top: look.spacing.above(),
                bottom: look.spacing.below(),
            });
        let inner = block.inner(area);
        let mode_row = Rect {
            y: inner.bottom() + look.spacing.below() / 2,
            height: look.spacing.below().min(1),
            ..inner
        };
        self.text_area.set_block(block);
        if std::mem::replace(&mut self.drawn_size, inner.as_size()) != inner.as_size() {
            self.reset_scroll(area);
        }
        frame.render_widget(&self.text_area, area);
        if !mode_row.is_empty() {
            draw_line(frame, &look.mode_line, mode_row);
        }
        if self.is_empty() {
            let text = truncate_to_columns(&look.placeholder, usize::from(inner.width));
            let spans = clickable_keys::hint_spans(&text, theme::QUIET);
            draw_line(
                frame,
                &Line::from(spans),
                Rect {
                    height: 1.min(inner.height),
                    ..inner
                },
            );
        }
        if !look.has_cursor {
            return mode_row;
        }
        if self.is_cursor_after_full_row(usize::from(inner.width)) {
            self.draw_with_next_row(frame, area, inner);
            if !mode_row.is_empty() {
                draw_line(frame, &look.mode_line, mode_row);
            }
            return mode_row;
        }
        self.place_cursor(frame, inner);
        mode_row
    }

    /// Returns whether the cursor is after the last character of a row that fills the whole width.
    fn is_cursor_after_full_row(&self, columns: usize) -> bool {
        let (line, place) = self.line_at_cursor();
        let is_at_end = !line.is_empty() && place == line.chars().count();
        let is_full = || self.cursor_column(self.text_area.screen_cursor().row) == columns;
        is_at_end && !self.text_area.is_selecting() && is_full()
    }

    /// Draws an empty row after the full one, for the cursor and input methods.
    fn draw_with_next_row(&mut self, frame: &mut Frame, area: Rect, inner: Rect) {
        // A space does not fit into the full row, so it wraps the cursor; it is removed again
        // before the frame is shown.
        self.text_area.insert_char(' ');
        self.text_area.move_cursor(CursorMove::Back);
        frame.render_widget(Clear, area);
        frame.render_widget(&self.text_area, area);
        self.place_cursor(frame, inner);
        self.text_area.delete_next_char();
    }

    /// Scrolls only as far as the cursor needs. The text area keeps the scroll offset of its previous size,
    /// and would show only the end of a text that now fits.
    fn reset_scroll(&mut self, area: Rect) {
        if self.text_area.scroll_offset().0 == 0 || self.text_area.is_selecting() {
            return;
        }
        let at = cursor_position(&self.text_area);
        self.text_area.move_cursor(CursorMove::Jump(0, 0));
        (&self.text_area).render(area, &mut Buffer::empty(area));
        self.move_cursor(at.0, at.1);
    }

    /// Moves the cursor to a clicked position.
    pub fn on_click(&mut self, area: Rect, at: Position) {
        let inner = self
            .text_area
            .block()
            .map_or(area, |block| block.inner(area));
        if !inner.contains(at) {
            return;
        }
        let (top, left) = self.text_area.scroll_offset();
        let row_on_screen = usize::from(top) + usize::from(at.y - inner.y);
        let columns = usize::from(left) + usize::from(at.x - inner.x);
        let first = self.text_area.screen_to_data(row_on_screen, 0);
        let next = self.text_area.screen_to_data(row_on_screen + 1, 0);
        let line = self
            .text_area
            .lines()
            .get(first.0)
            .map_or("", String::as_str);
        let n_all = line.chars().count();
        // The end of a wrapped row is the start of the next one.
        let end = if next.0 == first.0 && next.1 > first.1 {
            graphemes::grapheme_start(line, next.1)
        } else {
            n_all
        };
        let rest = graphemes::slice_chars(line, first.1, n_all);
        let (mut place, mut used) = (first.1, 0);
        for sign in rest.graphemes(true) {
            used += usize::from(sign.cell_width());
            if used > columns {
                break;
            }
            place += sign.chars().count();
        }
        let row = first.0;
        self.move_cursor(row, place.min(end));
    }

    fn place_cursor(&self, frame: &mut Frame, inner: Rect) {
        if inner.is_empty() {
            return;
        }
        let (top, left) = self.text_area.scroll_offset();
        let at = self.text_area.screen_cursor();
        let offset = |at: usize, from: u16| {
            u16::try_from(at.saturating_sub(usize::from(from))).unwrap_or(u16::MAX)
        };
        let x = inner
            .x
            .saturating_add(offset(self.cursor_column(at.row), left));
        let y = inner.y.saturating_add(offset(at.row, top));
        frame.set_cursor_position((x.min(inner.right() - 1), y.min(inner.bottom() - 1)));
    }

    /// Returns how many columns are drawn before the cursor in its row. The text area draws a grapheme as one
    /// unit, but counts its characters one by one.
    fn cursor_column(&self, row_on_screen: usize) -> usize {
        let (row, column) = cursor_position(&self.text_area);
        let from = self.text_area.screen_to_data(row_on_screen, 0).1;
        let line = self.text_area.lines().get(row).map_or("", String::as_str);
        let before: String = line
            .chars()
            .skip(from)
            .take(column.saturating_sub(from))
            .collect();
        let signs = before.graphemes(true);
        signs.map(|sign| usize::from(sign.cell_width())).sum()
    }

    /// Draws the single line that replaces the composer while it is not focused; `key` focuses it.
    pub fn draw_folded(&self, frame: &mut Frame, area: Rect, key: &str) {
        let first = self
            .text_area
            .lines()
            .iter()
            .find(|line| !line.trim().is_empty());
        let long = format!("› Press {key} to write, / for commands");
        let columns = usize::from(area.width);
        let line = match first {
            Some(line) => {
                let hint = truncate_to_columns(&format!("› Press {key} to write"), columns);
                let room = columns.saturating_sub(text_width(&hint));
                let draft = truncate_to_columns(&format!(" · draft: {line}"), room);
                let mut spans = clickable_keys::hint_spans(&hint, theme::QUIET);
                spans.push(Span::styled(draft, theme::QUIET));
                Line::from(spans)
            }
            None => {
                let hints = if text_width(&long) < columns {
                    long
                } else {
                    format!("› Press {key} to write")
                };
                Line::from(clickable_keys::hint_spans(
                    &truncate_to_columns(&hints, columns),
                    theme::QUIET,
                ))
            }
        };
        frame.render_widget(line, area);
    }
}
