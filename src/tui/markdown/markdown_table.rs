//! Lays out tables: columns as wide as their cells, narrower if the window is too small.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::inline_style::style_inline;
use crate::tui::text_wrap::{line_width, text_width, wrap_spans};
use crate::tui::theme;

const CELL_SEPARATOR: &str = " │ ";
/// The minimum width of a cell.
const MIN_CELL_COLUMNS: usize = 3;

/// Returns how many of the first lines are a table: 0, or the header, the delimiter row and the body.
pub fn count_table_rows(lines: &[&str]) -> usize {
    match lines {
        [head, below, ..] if head.contains('|') && is_delimiter_row(below) => {
            let is_row = |line: &&&str| line.contains('|') && !line.trim().is_empty();
            2 + lines.iter().skip(2).take_while(is_row).count()
        }
        _ => 0,
    }
}

fn is_delimiter_row(line: &str) -> bool {
    let is_part =
        |part: &String| part.contains('-') && part.chars().all(|c| matches!(c, '-' | ':' | ' '));
    line.contains('|') && split_cells(line).iter().all(is_part)
}

/// Splits a row into cells; `\|` is not a separator.
fn split_cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let mut cells = vec![String::new()];
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, cells.last_mut()) {
            ('\\', Some(cell)) if chars.peek() == Some(&'|') => {
                cell.push('|');
                chars.next();
            }
            ('|', _) => cells.push(String::new()),
            (c, Some(cell)) => cell.push(c),
            (_, None) => {}
        }
    }
    if cells.len() > 1 && cells.last().is_some_and(|last| last.trim().is_empty()) {
        cells.pop();
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

/// The alignment of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CellAlignment {
    Left,
    Center,
    Right,
}

impl CellAlignment {
    /// Parses the alignment from the delimiter row.
    fn parse(rule: &str) -> Self {
        match (rule.starts_with(':'), rule.ends_with(':')) {
            (true, true) => Self::Center,
            (false, true) => Self::Right,
            (_, false) => Self::Left,
        }
    }

    /// Returns how many of the free columns go before the cell.
    fn left_padding(self, free: usize) -> usize {
        match self {
            Self::Left => 0,
            Self::Center => free / 2,
            Self::Right => free,
        }
    }
}

struct TableColumn {
    width: usize,
    side: CellAlignment,
}

/// Lays out a table; its second line is the delimiter row.
pub fn lay_out(rows: &[&str], columns: usize, base: Style) -> Vec<Line<'static>> {
    let all: Vec<Vec<String>> = rows.iter().map(|row| split_cells(row)).collect();
    let [head, below, body @ ..] = all.as_slice() else {
        return Vec::new();
    };
    let Some(widths) = fit_widths(natural_widths(std::iter::once(head).chain(body)), columns)
    else {
        return lay_out_stacked(head, body, columns, base);
    };
    let sides = below.iter().map(|rule| CellAlignment::parse(rule));
    let sides = sides.chain(std::iter::repeat(CellAlignment::Left));
    let columns = widths.into_iter().zip(sides);
    let columns: Vec<TableColumn> = columns
        .map(|(width, side)| TableColumn { width, side })
        .collect();
    let mut lines = row_lines(head, &columns, base.patch(theme::STRONG));
    let rules = columns.iter().map(|column| "─".repeat(column.width));
    let rules: Vec<String> = rules.collect();
    lines.push(Line::styled(rules.join("─┼─"), theme::QUIET));
    for row in body {
        lines.extend(row_lines(row, &columns, base));
    }
    lines
}

/// Returns how wide the columns would like to be.
fn natural_widths<'a>(rows: impl Iterator<Item = &'a Vec<String>>) -> Vec<usize> {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        for (n, cell) in row.iter().enumerate() {
            let shown: usize = style_inline(cell, Style::new())
                .iter()
                .map(|span| text_width(&span.content))
                .sum();
            match widths.get_mut(n) {
                Some(widest) => *widest = (*widest).max(shown),
                None => widths.push(shown),
            }
        }
    }
    widths
}

/// Narrows the widest columns until all fit; `None` if that is impossible.
fn fit_widths(mut widths: Vec<usize>, columns: usize) -> Option<Vec<usize>> {
    let between = text_width(CELL_SEPARATOR) * widths.len().saturating_sub(1);
    while widths.iter().sum::<usize>() + between > columns {
        let widest = widths
            .iter_mut()
            .max()
            .filter(|widest| **widest > MIN_CELL_COLUMNS)?;
        *widest -= 1;
    }
    Some(widths)
}

/// Lays out a table with too many columns for the window: each row as wrapped text.
fn lay_out_stacked(
    head: &[String],
    body: &[Vec<String>],
    columns: usize,
    base: Style,
) -> Vec<Line<'static>> {
    let line = |row: &[String], style| {
        wrap_spans(&style_inline(&row.join(CELL_SEPARATOR), style), columns, 2)
    };
    let mut lines = line(head, base.patch(theme::STRONG));
    lines.push(Line::styled("─".repeat(columns), theme::QUIET));
    lines.extend(body.iter().flat_map(|row| line(row, base)));
    lines
}

fn row_lines(row: &[String], columns: &[TableColumn], style: Style) -> Vec<Line<'static>> {
    let text = |n: usize| row.get(n).map_or("", String::as_str);
    let cells: Vec<Vec<Line<'static>>> = columns
        .iter()
        .enumerate()
        .map(|(n, column)| wrap_spans(&style_inline(text(n), style), column.width, 0))
        .collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    (0..height)
        .map(|n| {
            let mut spans = Vec::new();
            for (at, (cell, column)) in cells.iter().zip(columns).enumerate() {
                if at > 0 {
                    spans.push(Span::styled(CELL_SEPARATOR, theme::QUIET));
                }
                let line = cell.get(n).cloned().unwrap_or_default();
                let free = column.width.saturating_sub(line_width(&line));
                let before = column.side.left_padding(free);
                spans.push(Span::raw(" ".repeat(before)));
                spans.extend(line.spans);
                spans.push(Span::raw(" ".repeat(free - before)));
            }
            Line::from(spans)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_stands_on_the_side_that_the_line_below_the_head_says() {
        let rows = [
            "| a | b | c | d |",
            "|:--|:-:|--:|---|",
            "| x | y | 10 | 数 |",
            "| longer | middle | 200 | end |",
        ];
        let lines = lay_out(&rows, 60, Style::new());
        let told: Vec<String> = lines.iter().map(Line::to_string).collect();
        assert_eq!(
            told,
            [
                "a      │   b    │   c │ d  ",
                "───────┼────────┼─────┼────",
                "x      │   y    │  10 │ 数 ",
                "longer │ middle │ 200 │ end",
            ]
        );
        assert_eq!(count_table_rows(&rows), 4);
    }

    #[test]
    fn a_table_of_more_columns_than_there_is_room_for_is_broken_and_loses_no_cell() {
        let of = |cell: fn(usize) -> String| {
            let cells: Vec<String> = (0..9).map(cell).collect();
            format!("| {} |", cells.join(" | "))
        };
        let rows = [
            of(|n| format!("head{n}")),
            of(|_| "---".to_owned()),
            of(|n| format!("数{n}")),
        ];
        let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
        let lines = lay_out(&rows, 36, Style::new());
        assert!(lines.iter().all(|line| line_width(line) <= 36), "{lines:?}");
        let told: Vec<String> = lines.iter().map(Line::to_string).collect();
        let told = told.join("");
        for n in 0..9 {
            assert!(
                told.contains(&format!("head{n}")) && told.contains(&format!("数{n}")),
                "{told}"
            );
        }
        assert!(
            lay_out(&rows, 120, Style::new())[0]
                .to_string()
                .contains("head0 │ head1")
        );
    }
}
