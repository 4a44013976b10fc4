//! Chooses the visible columns of the board and draws their headings. With room for one column only, the
//! participants are shown as tabs.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::BoardModel;
use crate::tui::text_wrap::{draw_line, text_width, to_one_line, truncate_to_columns};
use crate::tui::theme;

/// A visible column: its number, its left edge, its width.
pub type BoardColumn = (usize, u16, u16);

/// Minimum width of a column, with the mark before it and a space behind.
const MIN_COLUMN_WIDTH: u16 = 25;

fn visible_column_count(n: usize, columns: u16) -> usize {
    usize::from(columns / MIN_COLUMN_WIDTH).clamp(1, n.max(1))
}

/// Returns whether the columns of so many participants are all visible.
pub fn fit_all(n_participants: usize, columns: usize) -> bool {
    let columns = u16::try_from(columns).unwrap_or(u16::MAX);
    n_participants > 1 && visible_column_count(n_participants, columns) == n_participants
}

/// Returns the first visible column: as close to the previous one as the selected column allows.
pub fn first_visible_column(was: usize, column: usize, n: usize, columns: u16) -> usize {
    let shown = visible_column_count(n, columns);
    was.clamp((column + 1).saturating_sub(shown), column)
        .min(n.saturating_sub(shown))
}

/// Returns the positions of the visible columns, without the mark before each.
pub fn visible_columns(area: Rect, n: usize, first: usize) -> Vec<BoardColumn> {
    let shown = visible_column_count(n, area.width);
    let each = area.width / u16::try_from(shown).unwrap_or(1).max(1);
    let of = |at: usize| {
        let x = area.x + each * u16::try_from(at).unwrap_or(0);
        // One column is for the divider, one for the next column's mark.
        let is_last = at + 1 == shown;
        let width = if is_last {
            area.right() - x
        } else {
            each.saturating_sub(3)
        };
        (first + at, x, width)
    };
    (0..shown.min(n.saturating_sub(first))).map(of).collect()
}

/// Draws the names above the columns; with one column, all participants as tabs.
pub fn draw_heading(
    frame: &mut Frame,
    area: Rect,
    minutes: &BoardModel<'_>,
    columns: &[BoardColumn],
    chosen: usize,
) {
    let seats = minutes.column_participants();
    let first = columns.first().map_or(0, |column| column.0);
    if let ([_], true) = (columns, seats.len() > 1) {
        let picker = participant_tabs(minutes, chosen, usize::from(area.width));
        draw_line(frame, &picker, area);
        return;
    }
    for (n, x, wide) in columns {
        let Some(seat) = seats.get(*n) else {
            continue;
        };
        let room = usize::from(*wide);
        let before = if *n == first && first > 0 { "‹ " } else { "" };
        let is_last = n + 1 == first + columns.len();
        let after = if is_last && n + 1 < seats.len() {
            " ›"
        } else {
            ""
        };
        let room = room.saturating_sub(text_width(before) + text_width(after));
        let name = truncate_to_columns(&to_one_line(&seat.name), room);
        let about = if seat.name == seat.agent {
            format!(" · {}", to_one_line(&seat.adapter))
        } else {
            format!(
                " · {} · {}",
                to_one_line(&seat.agent),
                to_one_line(&seat.adapter)
            )
        };
        let about = truncate_to_columns(&about, room.saturating_sub(text_width(&name)));
        let style = if *n == chosen {
            theme::ACCENT
        } else {
            theme::STRONG
        };
        let line = Line::from(vec![
            Span::styled(before, theme::QUIET),
            Span::styled(name, style),
            Span::styled(about, theme::QUIET),
            Span::styled(after, theme::QUIET),
        ]);
        let place = Rect {
            x: *x,
            width: *wide,
            ..area
        };
        draw_line(frame, &line, place);
    }
}

/// Renders the participants in one row, the selected one in brackets; if not all fit, those around it.
fn participant_tabs(minutes: &BoardModel<'_>, at: usize, columns: usize) -> Line<'static> {
    let seats = minutes.column_participants();
    let word = |n: usize| {
        let name = seats.get(n).map_or(String::new(), |seat| {
            format!(
                "{}{}",
                to_one_line(&seat.name),
                minutes.stance_sign(&seat.name)
            )
        });
        let name = truncate_to_columns(&name, columns.saturating_sub(6).max(1));
        if n == at {
            format!("[{name}]")
        } else {
            format!(" {name} ")
        }
    };
    let (mut from, mut to) = (at, at + 1);
    let mut used = text_width(&word(at)) + 4;
    loop {
        let next = [Some(to).filter(|to| *to < seats.len()), from.checked_sub(1)];
        let fits = next
            .into_iter()
            .flatten()
            .find(|n| used + text_width(&word(*n)) <= columns);
        match fits {
            Some(n) if n >= to => to = n + 1,
            Some(n) => from = n,
            None => break,
        }
        used = 4 + (from..to).map(|n| text_width(&word(n))).sum::<usize>();
    }
    let mut spans = Vec::new();
    spans.push(Span::styled(if from > 0 { "‹" } else { " " }, theme::QUIET));
    for n in from..to {
        let style = if n == at { theme::PICKED } else { theme::PLAIN };
        spans.push(Span::styled(word(n), style));
    }
    spans.push(Span::styled(
        if to < seats.len() { "›" } else { " " },
        theme::QUIET,
    ));
    Line::from(spans)
}
