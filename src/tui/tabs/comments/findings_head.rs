//! The first row of Comments: how many findings are open and what the last review said, and the filters at the right end.
//! Where there is no room for both, the filters are in a row of their own.

use std::ops::Range;

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::finding_selection::FindingFilter;
use crate::domain::findings::FindingOutcome;
use crate::domain::run::RunState;
use crate::tui::text_wrap::{spans_width, text_width, wrap_spans};
use crate::tui::theme;

/// What is between two filters, and at least before the first one.
const GAP: &str = "  ";

/// The first rows of the tab, and where its filters are.
#[derive(Debug, Default, Hash)]
pub(super) struct FindingsHead {
    pub(super) lines: Vec<Line<'static>>,
    pub(super) filters: Vec<FilterPlace>,
}

/// Where a filter is shown.
#[derive(Debug, Clone, Hash)]
pub struct FilterPlace {
    row: usize,
    columns: Range<usize>,
    pub(super) filter: FindingFilter,
}

impl FilterPlace {
    pub(super) fn contains(&self, row: usize, column: usize) -> bool {
        self.row == row && self.columns.contains(&column)
    }
}

/// Lays out the head; it has no rows before the first review.
pub(super) fn lay_out_head(
    state: &RunState,
    filter: FindingFilter,
    columns: usize,
) -> FindingsHead {
    let mut summaries = summaries(state).into_iter().peekable();
    if summaries.peek().is_none() {
        return FindingsHead::default();
    }
    let filters = filter_labels(state, filter);
    let widths = filters.iter().map(|label| label.width() + GAP.len());
    let n_filters: usize = widths.sum();
    let fits = |summary: &Vec<Span<'static>>| spans_width(summary) + n_filters <= columns;
    let all: Vec<Vec<Span<'static>>> = summaries.collect();
    if let Some(summary) = all.iter().find(|summary| fits(summary)) {
        let mut head = FindingsHead::default();
        let mut line = Line::from(summary.clone());
        let room = columns - n_filters - spans_width(summary);
        line.spans.push(Span::raw(" ".repeat(room)));
        head.lines.push(line);
        head.add_filters(&filters, columns);
        return head;
    }
    let summary = all.iter().find(|summary| spans_width(summary) <= columns);
    let summary = summary.or(all.last()).cloned().unwrap_or_default();
    let mut head = FindingsHead {
        lines: wrap_spans(&summary, columns, 0),
        ..FindingsHead::default()
    };
    if !filters.is_empty() {
        let mut filters = filters;
        if n_filters > columns + GAP.len() {
            filters.iter_mut().for_each(|label| label.count.clear());
        }
        head.lines.push(Line::default());
        head.add_filters(&filters, columns);
    }
    head
}

impl FindingsHead {
    /// Adds the filters to the last line, and to further ones where it has no room.
    fn add_filters(&mut self, filters: &[FilterLabel], columns: usize) {
        for label in filters {
            let used = self.lines.last().map_or(0, |line| spans_width(&line.spans));
            let gap = if used == 0 { "" } else { GAP };
            if used > 0 && used + GAP.len() + label.width() > columns {
                self.lines.push(Line::default());
                self.add_label(label, "");
            } else {
                self.add_label(label, gap);
            }
        }
    }

    fn add_label(&mut self, label: &FilterLabel, gap: &'static str) {
        let row = self.lines.len().saturating_sub(1);
        let Some(line) = self.lines.last_mut() else {
            return;
        };
        line.spans.push(Span::raw(gap));
        let from = spans_width(&line.spans);
        line.spans
            .push(Span::styled(label.filter.label(), label.style));
        let quiet = label.style.remove_modifier(Modifier::UNDERLINED);
        line.spans.push(Span::styled(label.count.clone(), quiet));
        self.filters.push(FilterPlace {
            row,
            columns: from..from + label.width(),
            filter: label.filter,
        });
    }
}

/// Returns what the last review said, from the longest text to the shortest; nothing before the first review.
fn summaries(state: &RunState) -> Vec<Vec<Span<'static>>> {
    let mut counts = Vec::new();
    let n_all = state.findings.all().len();
    if n_all > 0 {
        let n_open = state.findings.open().count();
        let style = if n_open > 0 {
            theme::STRONG
        } else {
            theme::QUIET
        };
        counts.push(Span::styled(format!("{n_open} open"), style));
        counts.push(Span::styled(format!(" of {n_all}"), theme::QUIET));
    }
    let last = state.course.reviews().last();
    // Runs of earlier versions only recorded the last verdict.
    let verdict = match (last, &state.verdict) {
        (Some(last), _) => Some((last.review, last.verdict)),
        (None, Some(verdict)) => Some((verdict.iteration, verdict.value)),
        (None, None) => None,
    };
    let Some((n, verdict)) = verdict else {
        return Vec::from_iter((!counts.is_empty()).then_some(counts));
    };
    let (lead, review) = if counts.is_empty() {
        ("", "Review")
    } else {
        (" · ", "review")
    };
    let (_, style) = crate::tui::labels::verdict_label(verdict);
    let verdict = Span::styled(verdict.label(), style);
    let named = format!("{lead}{review} {n}: ");
    let with = |before: &str| {
        let mut spans = counts.clone();
        spans.push(Span::styled(before.to_owned(), theme::QUIET));
        spans.push(verdict.clone());
        spans
    };
    vec![with(&named), with(lead)]
}

/// A filter as it is shown.
struct FilterLabel {
    filter: FindingFilter,
    count: String,
    style: Style,
}

impl FilterLabel {
    fn width(&self) -> usize {
        text_width(self.filter.label()) + text_width(&self.count)
    }
}

/// Returns the filters, that of the list underlined. Some say how many findings they list, where the summary does not.
fn filter_labels(state: &RunState, filter: FindingFilter) -> Vec<FilterLabel> {
    let n_all = state.findings.all().len();
    if n_all == 0 {
        return Vec::new();
    }
    let labels = FindingFilter::useful(state).into_iter().map(|other| {
        let n = other.count(state);
        let is_said = matches!(
            other,
            FindingFilter::All | FindingFilter::Of(FindingOutcome::Open)
        );
        let count = if is_said || n == 0 || n == n_all {
            String::new()
        } else {
            format!(" {n}")
        };
        let style = if other == filter {
            theme::STRONG.add_modifier(Modifier::UNDERLINED)
        } else {
            theme::QUIET
        };
        FilterLabel {
            filter: other,
            count,
            style,
        }
    });
    labels.collect()
}
