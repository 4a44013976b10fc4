//! The frame of popups that cover other content: the palette and the suggestions.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::{Block, BorderType, Borders, Clear};

use super::clickable_keys;
use super::text_wrap::{fit_border_line, text_width, truncate_to_columns};
use super::theme;

/// Clears an area, draws a border with these titles, and returns the inner area.
pub fn draw(frame: &mut Frame, area: Rect, title: &str, below: &str) -> Rect {
    let area = area.intersection(frame.area());
    frame.render_widget(Clear, area);
    end_wide_characters(frame, area);
    let room = usize::from(area.width).saturating_sub(6);
    let titled = |text: &str| match text {
        "" => Line::default(),
        text => Line::from(clickable_keys::hint_spans(
            &format!(" {} ", truncate_to_columns(text, room)),
            Style::new(),
        )),
    };
    let block = Block::new()
        .borders(Borders::ALL)
        .border_type(BorderType::Rounded)
        .border_style(theme::KEY)
        .title(fit_border_line(titled(title)))
        .title_bottom(fit_border_line(titled(below)));
    let inner = block.inner(area);
    frame.render_widget(block, area);
    inner
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
