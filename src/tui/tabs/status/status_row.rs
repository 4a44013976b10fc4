//! A row of the Status tab: a name and its text.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::tui::text_wrap::{text_width, to_one_line, wrap_spans};
use crate::tui::theme;

/// How many columns the name of a row takes, with the blanks behind it.
pub(super) const NAME_COLUMNS: usize = 10;
/// Column at which the text of a row starts.
pub(super) const TEXT_INDENT: usize = 2 + NAME_COLUMNS;

/// A name and its text.
pub(super) struct StatusRow {
    pub(super) name: String,
    pub(super) text: String,
    style: Style,
}

impl StatusRow {
    pub(super) fn new(name: &str, text: &str, style: Style) -> Self {
        Self {
            name: name.to_owned(),
            text: to_one_line(text),
            style,
        }
    }

    pub(super) fn lay_out(&self, columns: usize) -> Vec<Line<'static>> {
        let name = format!("  {:<1$}", self.name, NAME_COLUMNS);
        let spans = [
            Span::styled(name, theme::QUIET),
            Span::styled(self.text.as_str(), self.style),
        ];
        // A word that does not fit behind the name, such as a long path, starts further left instead of
        // being broken.
        let longest = self.text.split(' ').map(text_width).max().unwrap_or(0);
        let indent = if longest + TEXT_INDENT > columns {
            2
        } else {
            TEXT_INDENT
        };
        wrap_spans(&spans, columns, indent)
    }
}

pub(super) fn plain_row(name: &str, text: &str) -> StatusRow {
    StatusRow::new(name, text, theme::PLAIN)
}

pub(super) fn lay_out_rows(rows: &[StatusRow], columns: usize) -> Vec<Line<'static>> {
    rows.iter().flat_map(|row| row.lay_out(columns)).collect()
}
