//! A line of the Comments tab: its parts, and how it is wrapped.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::domain::findings::{Finding, FindingStatus};
use crate::tui::labels::finding_label_style;
use crate::tui::markdown;
use crate::tui::scroll_view::{ScrollTarget, raise_line};
use crate::tui::text_wrap::{
    QUOTE_BAR, line_width, text_width, truncate_to_columns, wrap_prose, wrap_quotation,
};
use crate::tui::theme;

/// From which width on the text of an entry is indented by what is before it.
const MIN_COLUMNS_OF_INDENT: usize = 57;

/// The columns before the text of an entry: its bar or its sign, and what keeps it away from the text.
const MARGIN_COLUMNS: usize = 3;

/// Between two actions.
const ACTION_GAP: &str = "   ";

/// What is before the text of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum EntryMargin {
    /// Nothing: the text starts at the left edge of the page.
    Absent,
    Blank,
    /// A sign before the first row.
    Sign(&'static str, Style),
}

/// A line of the list, cleaned for display, with the indent of its continuation lines and its target.
#[derive(Debug, Clone, Hash)]
pub(super) struct CommentsEntry {
    pub(super) parts: Vec<(String, Style)>,
    pub(super) indent: usize,
    pub(super) margin: EntryMargin,
    pub(super) mark: Option<ScrollTarget>,
    /// Whether it is cut to one row.
    pub(super) is_single_row: bool,
    /// Whether its parts are actions, each a key and a label: they are not divided.
    pub(super) is_action_row: bool,
    /// A sign at the right end of the first row.
    pub(super) edge: Option<&'static str>,
}

impl CommentsEntry {
    pub(super) fn new(text: &str, style: Style) -> Self {
        Self::from_parts(vec![(text.to_owned(), style)], 2)
    }

    pub(super) fn from_parts(parts: Vec<(String, Style)>, indent: usize) -> Self {
        Self {
            parts,
            indent,
            margin: EntryMargin::Absent,
            mark: None,
            is_single_row: false,
            is_action_row: false,
            edge: None,
        }
    }

    /// Creates a row of actions: keys and labels, with blanks between two actions.
    pub(super) fn from_actions(parts: Vec<(String, Style)>) -> Self {
        Self {
            is_action_row: true,
            ..Self::from_parts(parts, 0)
        }
    }

    /// Returns an empty row.
    pub(super) fn blank() -> Self {
        Self::new("", theme::PLAIN)
    }

    /// Sets what it belongs to: its text is below that of the other entries of the same target.
    pub(super) fn set_mark(&mut self, mark: ScrollTarget) {
        self.mark = Some(mark);
        if self.margin == EntryMargin::Absent {
            self.margin = EntryMargin::Blank;
        }
    }

    /// Returns whether it shows no text.
    pub(super) fn is_blank(&self) -> bool {
        self.parts.iter().all(|(text, _)| text.is_empty())
    }

    /// Lays out its rows, with a bar of this style if it is selected.
    pub(super) fn lines(&self, columns: usize, bar: Option<Style>) -> Vec<Line<'static>> {
        let sign = match self.margin {
            EntryMargin::Absent => return self.text_lines(columns),
            EntryMargin::Blank => Span::raw(" "),
            EntryMargin::Sign(sign, style) => Span::styled(sign, style),
        };
        let room = columns.saturating_sub(MARGIN_COLUMNS);
        let mut lines = match self.edge {
            Some(edge) => self.lines_with_edge(edge, room),
            None => self.text_lines(room),
        };
        for (n, line) in lines.iter_mut().enumerate() {
            let sign = if n == 0 { sign.clone() } else { Span::raw(" ") };
            // The bar takes the place of the sign, which moves behind it.
            let margin = match bar {
                Some(_) => [Span::raw(" "), sign, Span::raw(" ")],
                None => [sign, Span::raw(" "), Span::raw(" ")],
            };
            line.spans.splice(0..0, margin);
            if let Some(bar) = bar {
                raise_line(line, bar);
            }
        }
        lines
    }

    /// Lays out the text, and the sign at the right end of its first row.
    fn lines_with_edge(&self, edge: &'static str, columns: usize) -> Vec<Line<'static>> {
        let n_edge = text_width(edge);
        let mut lines = self.text_lines(columns.saturating_sub(n_edge + 1));
        if let Some(first) = lines.first_mut() {
            let room = columns.saturating_sub(line_width(first) + n_edge);
            first.spans.push(Span::raw(" ".repeat(room)));
            first.spans.push(Span::styled(edge, theme::QUIET));
        }
        lines
    }

    /// Lays out actions in as many rows as they need.
    fn action_lines(&self, columns: usize) -> Vec<Line<'static>> {
        let mut lines = vec![Line::default()];
        for action in self.parts.split(|(text, _)| text.trim().is_empty()) {
            let width: usize = action.iter().map(|(text, _)| text_width(text)).sum();
            let is_full = |line: &Line<'_>| line_width(line) + ACTION_GAP.len() + width > columns;
            if lines
                .last()
                .is_some_and(|line| !line.spans.is_empty() && is_full(line))
            {
                lines.push(Line::default());
            }
            let Some(line) = lines.last_mut() else {
                continue;
            };
            if !line.spans.is_empty() {
                line.push_span(Span::raw(ACTION_GAP));
            }
            let spans = action.iter().cloned();
            line.extend(spans.map(|(text, style)| Span::styled(text, style)));
        }
        lines
    }

    fn text_lines(&self, columns: usize) -> Vec<Line<'static>> {
        if self.is_action_row {
            return self.action_lines(columns);
        }
        if let [(lead, _), (text, style)] = self.parts.as_slice()
            && lead == QUOTE_BAR
        {
            return wrap_quotation(text, *style, columns);
        }
        if self.is_single_row {
            return vec![cut_to_line(&self.parts, columns)];
        }
        let indent = match columns {
            ..MIN_COLUMNS_OF_INDENT => self.indent.min(2),
            _ => self.indent,
        };
        let parts = self.parts.iter();
        let spans: Vec<Span<'_>> = parts
            .map(|(text, style)| Span::styled(text.as_str(), *style))
            .collect();
        wrap_prose(&spans, columns, indent)
    }
}

/// Joins the parts on one line and cuts what does not fit.
fn cut_to_line(parts: &[(String, Style)], columns: usize) -> Line<'static> {
    let mut left = columns;
    let spans = parts.iter().map(|(text, style)| {
        let text = truncate_to_columns(text, left);
        left -= text_width(&text).min(left);
        Span::styled(text, *style)
    });
    Line::from(spans.collect::<Vec<_>>())
}

/// Returns a text in parts of one style each, without the backticks around its code.
pub(super) fn code_parts(text: &str, style: Style) -> Vec<(String, Style)> {
    let spans = markdown::style_code(text, style).into_iter();
    spans
        .map(|span| (span.content.into_owned(), span.style))
        .collect()
}

/// Returns the status of a finding: a sign, its words and a style. An open finding without an answer needs no words.
pub(super) fn status_label(finding: &Finding) -> (&'static str, String, Style) {
    let style = match finding.status {
        FindingStatus::Open => finding_label_style(finding.remark.severity),
        FindingStatus::Fixed | FindingStatus::DecidedByUser => theme::GOOD,
        FindingStatus::Withdrawn | FindingStatus::Rebutted | FindingStatus::Residual => {
            theme::QUIET
        }
    };
    let text = finding.status_note().unwrap_or_default();
    (finding.status_symbol(), text, style)
}
