//! The ground of popups that cover other content: the palette and the suggestions.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::symbols::border;
use ratatui::text::Line;
use ratatui::widgets::{Block, Borders, Clear};

use super::clickable_keys;
use super::text_wrap::{fit_border_line, text_width, truncate_to_columns};
use super::theme::{self, ColorTheme, Surface};

/// Clears an area, gives it the raised ground and a title, and returns the area inside its edge. The edge is blank where
/// the theme has such a ground, else it is drawn as lines.
pub fn draw(frame: &mut Frame, area: Rect, title: &str, theme: &ColorTheme) -> Rect {
    let area = area.intersection(frame.area());
    frame.render_widget(Clear, area);
    end_wide_characters(frame, area);
    let (edge, lead) = if theme.frames_popups() {
        (border::ROUNDED, " ")
    } else {
        (border::EMPTY, "  ")
    };
    let room = usize::from(area.width).saturating_sub(6);
    let title = match title {
        "" => Line::default(),
        text => Line::from(clickable_keys::hint_spans(
            &format!("{lead}{} ", truncate_to_columns(text, room)),
            theme::QUIET,
        )),
    };
    let block = Block::new()
        .borders(Borders::ALL)
        .border_set(edge)
        .border_style(theme::EDGE)
        .style(Surface::Raised.style())
        .title(fit_border_line(title));
    let inner = block.inner(area);
    frame.render_widget(block, area);
    inner
}

/// Draws lines around an area where its outermost cells are blank: a text in its first or last row stands in the line.
pub fn outline(frame: &mut Frame, area: Rect) {
    if area.height < 2 || area.width < 2 {
        return;
    }
    let (left, right) = (area.x, area.right() - 1);
    let (top, bottom) = (area.y, area.bottom() - 1);
    let set = border::PLAIN;
    let buffer = frame.buffer_mut();
    for y in area.y..area.bottom() {
        let is_end = y == top || y == bottom;
        let is_text = |x: &u16| {
            buffer
                .cell((*x, y))
                .is_some_and(|cell| cell.symbol() != " ")
        };
        let text_end = (left..=right).rfind(is_text);
        let first = match text_end {
            // A blank column stands between the text and the line.
            Some(x) if is_end && x > left => x + 2,
            _ => left,
        };
        for x in first..=right {
            let sign = match (x == left, x == right) {
                (true, _) if y == top => set.top_left,
                (true, _) if y == bottom => set.bottom_left,
                (_, true) if y == top => set.top_right,
                (_, true) if y == bottom => set.bottom_right,
                (false, false) if is_end => set.horizontal_top,
                (false, false) => continue,
                _ => set.vertical_left,
            };
            if let Some(cell) = buffer.cell_mut((x, y)).filter(|cell| cell.symbol() == " ") {
                cell.set_symbol(sign).set_style(theme::EDGE);
            }
        }
    }
}

/// Blanks wide characters that reach into the area, because they would hide its left border.
fn end_wide_characters(frame: &mut Frame, area: Rect) {
    let Some(x) = area.x.checked_sub(1) else {
        return;
    };
    let buffer = frame.buffer_mut();
    for y in area.y..area.bottom() {
        if let Some(cell) = buffer.cell_mut(Position::new(x, y))
            && text_width(cell.symbol()) > 1
        {
            cell.set_symbol(" ");
        }
    }
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;

    fn check(rows: [&str; 3], wanted: [&str; 3]) {
        let columns = u16::try_from(rows[0].chars().count()).unwrap();
        let mut terminal = Terminal::new(TestBackend::new(columns, 3)).unwrap();
        let draw = |frame: &mut Frame| {
            for (place, row) in frame.area().rows().zip(rows) {
                frame.render_widget(Line::raw(row), place);
            }
            outline(frame, frame.area());
        };
        terminal.draw(draw).unwrap();
        let cells = terminal.backend().buffer().content();
        let drawn: String = cells.iter().map(|cell| cell.symbol()).collect();
        assert_eq!(drawn, wanted.concat());
    }

    #[test]
    fn lines_go_around_an_area_and_stop_before_its_texts_and_its_bar() {
        check(
            ["▌ Title     ", "▌ text      ", "▌           "],
            ["▌ Title ───┐", "▌ text     │", "▌──────────┘"],
        );
        check(["     ", " a   ", " bcd "], ["┌───┐", "│a  │", " bcd "]);
    }
}
