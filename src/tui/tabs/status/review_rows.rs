//! The rows about the reviews: their table, the findings that are not settled, and what the reviewer did not open.

use ratatui::text::Line;

use super::status_row::{StatusRow, TEXT_INDENT, plain_row};
use crate::domain::findings::{Finding, FindingOutcome};
use crate::domain::run::RunState;
use crate::domain::run_timeline::ReviewSpan;
use crate::text::pluralize;
use crate::tui::markdown::to_plain_line;
use crate::tui::text_wrap::truncate_to_columns;
use crate::tui::theme;

/// How many findings are named; the Comments tab has them all.
const MAX_FINDING_ROWS: usize = 6;

/// How the findings are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FindingForm {
    /// One row for each.
    Cut,
    Whole,
}

/// Renders the files that the reviewer did not open, and the findings: disputed and open ones, those that are left open, and
/// rejected ones.
pub(super) fn review_lines(
    state: &RunState,
    columns: usize,
    form: FindingForm,
) -> Vec<Line<'static>> {
    let unopened =
        unopened_files(state).map(|text| StatusRow::new("Reviewer", &text, theme::WARNING));
    let mut lines: Vec<Line<'static>> = unopened
        .iter()
        .flat_map(|row| row.lay_out(columns))
        .collect();
    let findings = labelled_findings(state);
    let mut last = "";
    for (label, finding) in findings.iter().take(MAX_FINDING_ROWS) {
        let mut text = to_plain_line(&finding.describe_in_line());
        if form == FindingForm::Cut {
            text = truncate_to_columns(&text, columns.saturating_sub(TEXT_INDENT));
        }
        let name = if *label == last { "" } else { *label };
        last = *label;
        lines.extend(plain_row(name, &text).lay_out(columns));
    }
    let n_more = findings.len().saturating_sub(MAX_FINDING_ROWS);
    if n_more > 0 {
        let text = format!("{} in Comments", pluralize(n_more, "more finding"));
        lines.extend(StatusRow::new("", &text, theme::QUIET).lay_out(columns));
    }
    lines
}

/// Says which files the reviewer did not open in the last review.
pub(super) fn unopened_files(state: &RunState) -> Option<String> {
    state.last_review().and_then(ReviewSpan::describe_unopened)
}

/// Returns the findings that are not settled by a change, each with its label.
pub(super) fn labelled_findings(state: &RunState) -> Vec<(&'static str, &Finding)> {
    let all = &state.findings;
    let is_disputed = |finding: &&Finding| finding.record.dispute.is_some();
    let is_rejected = |finding: &&Finding| finding.outcome() == FindingOutcome::Rejected;
    let disputed = all.disputed().map(|finding| ("Disputed", finding));
    let open = all.open().filter(|finding| !is_disputed(finding));
    let open = open.map(|finding| ("Open", finding));
    let left_open = all.residual().map(|finding| ("Left open", finding));
    let rejected = all.all().iter().filter(is_rejected);
    let rejected = rejected.map(|finding| ("Rejected", finding));
    disputed
        .chain(open)
        .chain(left_open)
        .chain(rejected)
        .collect()
}
