//! The table of reviews: one row per review with its result. In a low window a summary of the last one replaces it,
//! so that findings have room.

use ratatui::style::Style;

use super::comments_entry::CommentsEntry;
use crate::domain::run::RunState;
use crate::domain::run_timeline::ReviewSpan;
use crate::text::pluralize;
use crate::tui::labels::{self, LocalClock};
use crate::tui::scroll_view::ScrollTarget;
use crate::tui::theme;

/// The table may take at most one in this many rows of a window that does not fit everything.
pub(super) const MAX_TABLE_SHARE: usize = 8;

/// How the table of reviews is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewTableMode {
    Full,
    /// One summary row instead of the reviews.
    Folded,
    /// The summary row, and every review below it.
    Opened,
}

/// Returns how many rows the table takes.
pub(super) fn table_height(state: &RunState, clock: LocalClock, columns: usize) -> usize {
    let reviews = state.course.reviews().iter();
    let columns = columns.saturating_sub(2);
    reviews
        .map(|review| review_row(review, clock).lines(columns).len())
        .sum()
}

/// Renders one row per review: its verdict, how many findings were open, raised and resolved, and its time.
pub(super) fn review_rows(
    state: &RunState,
    clock: LocalClock,
    table: ReviewTableMode,
) -> Vec<CommentsEntry> {
    let reviews = state.course.reviews();
    let forced = state.verdict.as_ref().is_some_and(|verdict| verdict.forced);
    let mut entries = Vec::new();
    if let (ReviewTableMode::Folded | ReviewTableMode::Opened, Some(last)) = (table, reviews.last())
    {
        entries.push(folded_row(reviews.len(), last, table));
        if table == ReviewTableMode::Folded
            && let Some(unopened) = last.describe_unopened()
        {
            entries.push(CommentsEntry {
                parts: vec![(format!("  {unopened}"), theme::WARNING)],
                indent: 2,
                mark: None,
                is_indented: false,
                is_single_row: true,
            });
        }
    }
    if table != ReviewTableMode::Folded {
        entries.extend(reviews.iter().map(|review| review_row(review, clock)));
    }
    // Runs of earlier versions only recorded the last verdict.
    if let (Some(verdict), true) = (&state.verdict, reviews.is_empty()) {
        let (sign, style) = labels::verdict_label(verdict.value);
        let doubt = if verdict.consistent {
            ""
        } else {
            ", marker and text disagree"
        };
        let text = format!("Review {} · {sign}{doubt}", verdict.iteration);
        entries.push(CommentsEntry::new(&text, style));
    }
    if forced {
        let text = "You forced the plan past its review";
        entries.push(CommentsEntry::new(text, theme::BAD));
    }
    entries
}

/// Renders the summary row of all reviews: how many there are, and the result of the last one.
fn folded_row(n: usize, last: &ReviewSpan, table: ReviewTableMode) -> CommentsEntry {
    let (sign, style) = labels::verdict_label(last.verdict);
    let fold = match table {
        ReviewTableMode::Folded => "▸",
        ReviewTableMode::Full | ReviewTableMode::Opened => "▾",
    };
    let all = match n {
        1 => format!("{fold} Review {} · ", last.review),
        _ => format!("{fold} {}, latest: ", pluralize(n, "review")),
    };
    let mut parts = vec![(all, theme::PLAIN), (sign, style)];
    parts.push(finding_counts(last));
    CommentsEntry {
        parts,
        indent: 2,
        mark: Some(ScrollTarget::Reviews),
        is_indented: false,
        is_single_row: true,
    }
}

/// Renders how many findings the review raised and resolved; how many are open is said beside the filters.
fn finding_counts(review: &ReviewSpan) -> (String, Style) {
    let counts = [(review.n_new, "new"), (review.n_settled, "resolved")];
    let counts = counts.into_iter().filter(|(n, _)| *n > 0);
    let counts: Vec<String> = counts.map(|(n, what)| format!("{n} {what}")).collect();
    let mut text = match counts.as_slice() {
        [] => String::new(),
        counts => format!(" · {}", counts.join(", ")),
    };
    if !review.consistent {
        text.push_str(" · marker and text disagree");
    }
    (text, theme::QUIET)
}

fn review_row(review: &ReviewSpan, clock: LocalClock) -> CommentsEntry {
    let (sign, style) = labels::verdict_label(review.verdict);
    let mut parts = vec![
        (format!("Review {} · ", review.review), theme::PLAIN),
        (sign, style),
    ];
    parts.push(finding_counts(review));
    let time = format!(" · {}", clock.time_with_minutes(review.at));
    parts.push((time, theme::QUIET));
    if let Some(unopened) = review.describe_unopened() {
        parts.push((format!(" · {unopened}"), theme::WARNING));
    }
    CommentsEntry {
        parts,
        indent: 2,
        mark: None,
        is_indented: false,
        is_single_row: false,
    }
}
