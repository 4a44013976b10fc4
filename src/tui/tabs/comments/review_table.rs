//! What each review came to, in a row; in a low window one row stands for all of them, so that findings have room.
//!
//! Refuses to know findings but by their counts.

use super::CommentsEntry;
use crate::domain::run::RunState;
use crate::domain::run_timeline::ReviewSpan;
use crate::text::pluralize;
use crate::tui::labels::{self, LocalClock};
use crate::tui::scroll_view::ScrollTarget;
use crate::tui::theme;

/// Which part of a window that does not hold everything is too much for the table: one of so many.
pub(super) const MAX_TABLE_SHARE: usize = 8;

/// How the table of reviews is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewTableMode {
    /// Every review.
    Full,
    /// One row in its place.
    Folded,
    /// That row, and every review below it.
    Opened,
}

/// How many rows the table takes.
pub(super) fn table_height(state: &RunState, clock: LocalClock, columns: usize) -> usize {
    let reviews = state.course.reviews().iter();
    let columns = columns.saturating_sub(2);
    reviews
        .map(|review| review_row(review, clock).lines(columns).len())
        .sum()
}

/// A row for each review: when, its verdict, how many findings were open, raised and settled.
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
    }
    if table != ReviewTableMode::Folded {
        entries.extend(reviews.iter().map(|review| review_row(review, clock)));
    }
    // Runs of earlier versions know no more than the last one.
    if let (Some(verdict), true) = (&state.verdict, reviews.is_empty()) {
        let (sign, style) = labels::verdict_label(verdict.value);
        let doubt = if verdict.consistent {
            ""
        } else {
            ", its signals disagree"
        };
        let text = format!("iteration {}: {sign}{doubt}", verdict.iteration);
        entries.push(CommentsEntry::new(&text, style));
    }
    if forced {
        let text = "you let the plan pass against its review";
        entries.push(CommentsEntry::new(text, theme::BAD));
    }
    entries
}

/// The row that stands for all reviews: how many they are, and what the last one came to.
fn folded_row(n: usize, last: &ReviewSpan, table: ReviewTableMode) -> CommentsEntry {
    let (sign, style) = labels::verdict_label(last.verdict);
    let fold = match table {
        ReviewTableMode::Folded => "▸",
        ReviewTableMode::Full | ReviewTableMode::Opened => "▾",
    };
    let all = match n {
        1 => format!("{fold} review {}  ", last.review),
        _ => format!("{fold} {}, the last: ", pluralize(n, "review")),
    };
    CommentsEntry {
        parts: vec![
            (all, theme::PLAIN),
            (sign.to_owned(), style),
            (format!("  {}", finding_counts(last)), theme::PLAIN),
        ],
        indent: 2,
        mark: Some(ScrollTarget::Reviews),
        is_single_row: true,
    }
}

fn finding_counts(review: &ReviewSpan) -> String {
    let doubt = if review.consistent {
        ""
    } else {
        ", its signals disagree"
    };
    format!(
        "{} open, {} new, {} settled{doubt}",
        review.n_open, review.n_new, review.n_settled
    )
}

fn review_row(review: &ReviewSpan, clock: LocalClock) -> CommentsEntry {
    let (sign, style) = labels::verdict_label(review.verdict);
    CommentsEntry {
        parts: vec![
            (format!("review {}  ", review.review), theme::PLAIN),
            (
                format!("{}  ", clock.time_with_minutes(review.at)),
                theme::QUIET,
            ),
            (format!("{sign:<18}"), style),
            (format!("  {}", finding_counts(review)), theme::PLAIN),
        ],
        indent: 10,
        mark: None,
        is_single_row: false,
    }
}
