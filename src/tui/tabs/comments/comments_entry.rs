//! A line of the Comments tab: its parts, and how it is wrapped.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::domain::findings::{Finding, FindingStatus};
use crate::tui::markdown;
use crate::tui::scroll_view::ScrollTarget;
use crate::tui::text_wrap::{
    QUOTE_BAR, text_width, truncate_to_columns, wrap_prose, wrap_quotation,
};
use crate::tui::theme;

/// From which width on the text of an entry is indented by what stands before it.
const MIN_COLUMNS_OF_INDENT: usize = 60;

/// A line of the list, cleaned for display, with the indent of its continuation lines and its target.
#[derive(Debug, Clone, Hash)]
pub(super) struct CommentsEntry {
    pub(super) parts: Vec<(String, Style)>,
    pub(super) indent: usize,
    pub(super) mark: Option<ScrollTarget>,
    /// Whether its first row is indented like the others.
    pub(super) is_indented: bool,
    /// Whether it is cut to one row.
    pub(super) is_single_row: bool,
}

impl CommentsEntry {
    pub(super) fn new(text: &str, style: Style) -> Self {
        Self {
            parts: vec![(text.to_owned(), style)],
            indent: 2,
            mark: None,
            is_indented: false,
            is_single_row: false,
        }
    }

    /// Returns an entry with all its rows below the text of another.
    pub(super) fn indented(text: &str, style: Style, indent: usize) -> Self {
        Self {
            indent,
            is_indented: true,
            ..Self::new(text, style)
        }
    }

    pub(super) fn from_parts(parts: Vec<(String, Style)>, indent: usize) -> Self {
        Self {
            parts,
            indent,
            mark: None,
            is_indented: false,
            is_single_row: false,
        }
    }

    pub(super) fn lines(&self, columns: usize) -> Vec<Line<'static>> {
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
        let lead = self.is_indented.then(|| Span::raw(" ".repeat(indent)));
        let parts = self.parts.iter();
        let parts = parts.map(|(text, style)| Span::styled(text.as_str(), *style));
        let spans: Vec<Span<'_>> = lead.into_iter().chain(parts).collect();
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
        FindingStatus::Open => theme::severity_style(finding.remark.severity),
        FindingStatus::Fixed | FindingStatus::DecidedByUser => theme::GOOD,
        FindingStatus::Withdrawn | FindingStatus::Rebutted | FindingStatus::Residual => {
            theme::QUIET
        }
    };
    let text = match finding.describe_status() {
        open if open == "open" => String::new(),
        other => other,
    };
    (finding.status_symbol(), text, style)
}
