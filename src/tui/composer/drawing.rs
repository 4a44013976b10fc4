//! How the composer looks: its frame, its text, and the terminal's own cursor, at which an input method opens.
//!
//! Refuses to change what is written.

use ratatui::Frame;
use ratatui::buffer::{Buffer, CellWidth};
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::{Block, BorderType, Borders, Clear, Widget};
use ratatui_textarea::CursorMove;
use unicode_segmentation::UnicodeSegmentation;

use super::{Composer, cursor, signs};
use crate::tui::hints;
use crate::tui::theme;
use crate::tui::wrap::{cut, in_border, width, wrap};

impl Composer {
    /// How many lines the text takes at a width.
    pub fn n_rows(&self, columns: usize) -> usize {
        let rows = |line: &String| wrap(&[line.as_str().into()], columns, 0).len();
        let lines = self.area.lines().iter().take(50);
        // Behind a full row the cursor has one of its own; where rows end is known of the room that it was drawn in.
        let is_known = usize::from(self.room.width) == columns;
        let is_behind = is_known && self.is_behind_full_row(columns);
        lines.map(rows).sum::<usize>().max(1) + usize::from(is_behind)
    }

    /// Draws the composer with its text and cursor; `label` says what Enter does.
    pub fn draw(&mut self, frame: &mut Frame, area: Rect, label: &str) {
        if area.height >= 3 {
            let label = cut(label, usize::from(area.width).saturating_sub(4));
            let title = Line::from(hints::spans(&format!(" {label} "), Style::new()));
            let block = Block::new()
                .borders(Borders::ALL)
                .border_type(BorderType::Rounded)
                .border_style(theme::YOU)
                .title(in_border(title));
            self.area.set_block(block);
        } else {
            self.area.remove_block();
        }
        let inner = self.area.block().map_or(area, |block| block.inner(area));
        if std::mem::replace(&mut self.room, inner.as_size()) != inner.as_size() {
            self.scroll_anew(area);
        }
        frame.render_widget(&self.area, area);
        if self.is_behind_full_row(usize::from(inner.width)) {
            return self.draw_with_next_row(frame, area, inner);
        }
        self.place_cursor(frame, inner);
    }

    /// Tells whether the cursor stands at the end of a line that fills its last row to the last column.
    fn is_behind_full_row(&self, columns: usize) -> bool {
        let (line, place) = self.line_at_cursor();
        let is_at_end = !line.is_empty() && place == line.chars().count();
        let is_full = || self.column(self.area.screen_cursor().row) == columns;
        is_at_end && !self.area.is_selecting() && is_full()
    }

    /// Draws with an empty row behind the full one, in which the cursor stands and an input method opens.
    fn draw_with_next_row(&mut self, frame: &mut Frame, area: Rect, inner: Rect) {
        // A blank has no room left in the row; it goes again before anybody sees it.
        self.area.insert_char(' ');
        self.area.move_cursor(CursorMove::Back);
        frame.render_widget(Clear, area);
        frame.render_widget(&self.area, area);
        self.place_cursor(frame, inner);
        self.area.delete_next_char();
    }

    /// Scrolls only as far as the cursor needs it. The text area keeps how far it was scrolled in another room,
    /// and would show the end of a text that has room enough.
    fn scroll_anew(&mut self, area: Rect) {
        if self.area.scroll_offset().0 == 0 || self.area.is_selecting() {
            return;
        }
        let at = cursor(&self.area);
        self.area.move_cursor(CursorMove::Jump(0, 0));
        (&self.area).render(area, &mut Buffer::empty(area));
        self.jump(at);
    }

    /// Places the cursor at a place of the screen, where the composer was drawn last.
    pub fn on_click(&mut self, area: Rect, at: Position) {
        let inner = self.area.block().map_or(area, |block| block.inner(area));
        if !inner.contains(at) {
            return;
        }
        let (top, left) = self.area.scroll_offset();
        let row_on_screen = usize::from(top) + usize::from(at.y - inner.y);
        let columns = usize::from(left) + usize::from(at.x - inner.x);
        let first = self.area.screen_to_data(row_on_screen, 0);
        let next = self.area.screen_to_data(row_on_screen + 1, 0);
        let line = self.area.lines().get(first.0).map_or("", String::as_str);
        let n_all = line.chars().count();
        // The end of a row that goes on in the next one is the beginning of that.
        let end = match next.0 == first.0 && next.1 > first.1 {
            true => signs::before(line, next.1),
            false => n_all,
        };
        let rest = signs::between(line, first.1, n_all);
        let (mut place, mut used) = (first.1, 0);
        for sign in rest.graphemes(true) {
            used += usize::from(sign.cell_width());
            if used > columns {
                break;
            }
            place += sign.chars().count();
        }
        let row = first.0;
        self.jump((row, place.min(end)));
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

    /// How many columns of that line say something.
    pub fn least_folded(&self, key: &str) -> usize {
        width(key) + width("›  to write")
    }

    /// Draws the one line that stands there while the user does not write; `key` begins to.
    pub fn draw_folded(&self, frame: &mut Frame, area: Rect, key: &str) {
        let first = self
            .area
            .lines()
            .iter()
            .find(|line| !line.trim().is_empty());
        let long = format!("› {key} to write, / for commands");
        let columns = usize::from(area.width);
        let line = match first {
            Some(line) => {
                let text = format!("› {line}  (unsent; {key} goes on)");
                Line::styled(cut(&text, columns), theme::QUIET)
            }
            None => {
                let hints = match width(&long) < columns {
                    true => long,
                    false => format!("› {key} to write"),
                };
                Line::from(hints::spans(&cut(&hints, columns), theme::QUIET))
            }
        };
        frame.render_widget(line, area);
    }
}
