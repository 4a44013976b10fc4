//! Rows that several cards share: a panel's, and those behind a sign.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::tui::diff_row::fill_row;
use crate::tui::markdown;
use crate::tui::text_wrap::{text_width, wrap_spans};
use crate::tui::theme::Surface;

/// How far what a block opens to stands to the right of its first line.
pub(super) const PANEL_INDENT: usize = 2;

/// Renders a line of an output below the block's first line, on the ground of panels.
pub(super) fn panel_lines(text: &str, style: Style, columns: usize) -> Vec<Line<'static>> {
    let room = columns.saturating_sub(PANEL_INDENT + 2);
    let rows = wrap_spans(&[Span::styled(text, style)], room, 0).into_iter();
    let rows = rows.map(|mut row| {
        row.spans.insert(0, Span::raw(" "));
        row
    });
    rows.map(|row| panel_row(row, columns)).collect()
}

/// Sets a row on the ground of panels, except for the parts that have one of their own.
pub(super) fn panel_row(row: Line<'static>, columns: usize) -> Line<'static> {
    let width = columns.saturating_sub(PANEL_INDENT);
    let mut row = fill_row(row, width, Surface::Panel.style());
    row.spans.insert(0, Span::raw(" ".repeat(PANEL_INDENT)));
    row
}

/// Renders lines behind a sign; continuation lines are indented to the text.
pub(super) fn signed_lines(
    sign: &str,
    text: &str,
    style: Style,
    columns: usize,
) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for (n, line) in text.lines().enumerate() {
        let lead = if n == 0 {
            sign.to_owned()
        } else {
            " ".repeat(text_width(sign))
        };
        let mut spans = vec![Span::styled(lead, style)];
        spans.extend(markdown::style_code(line, style));
        lines.extend(wrap_spans(
            &spans,
            columns,
            text_width(sign) + markdown::hanging_indent(line),
        ));
    }
    lines
}
