//! The reviews before the last one: a quiet row for each with its result. In a low window one row replaces them, so that
//! findings have room. The last review is in the first row of the tab.

use super::comments_entry::{CommentsEntry, EntryMargin};
use crate::domain::run::RunState;
use crate::domain::run_timeline::ReviewSpan;
use crate::text::pluralize;
use crate::tui::labels::{self, LocalClock};
use crate::tui::scroll_view::ScrollTarget;
use crate::tui::theme;

/// The table may take at most one in this many rows of a window that does not fit everything.
pub(super) const MAX_TABLE_SHARE: usize = 8;

/// How the earlier reviews are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewTableMode {
    Full,
    /// One row instead of the reviews.
    Folded,
    /// That row, and every earlier review below it.
    Opened,
}

/// Returns the reviews before the last one.
fn earlier_reviews(state: &RunState) -> &[ReviewSpan] {
    state
        .course
        .reviews()
        .split_last()
        .map_or(&[], |(_, before)| before)
}

/// Returns how many rows the table takes.
pub(super) fn table_height(state: &RunState, clock: LocalClock, columns: usize) -> usize {
    let reviews = earlier_reviews(state).iter();
    reviews
        .map(|review| review_row(review, clock).lines(columns, None).len())
        .sum()
}

/// Renders what is below the first row: doubts about the last review, and one row per earlier review.
pub(super) fn review_rows(
    state: &RunState,
    clock: LocalClock,
    table: ReviewTableMode,
) -> Vec<CommentsEntry> {
    let reviews = earlier_reviews(state);
    let mut entries: Vec<CommentsEntry> = doubt_row(state).into_iter().collect();
    if table != ReviewTableMode::Full && !reviews.is_empty() {
        entries.push(folded_row(reviews.len(), table));
    }
    if table != ReviewTableMode::Folded {
        entries.extend(reviews.iter().map(|review| review_row(review, clock)));
    }
    if state.verdict.as_ref().is_some_and(|verdict| verdict.forced) {
        let text = "You forced the plan past its review";
        entries.push(CommentsEntry::new(text, theme::BAD));
    }
    entries
}

/// Says what is doubtful about the last review: its signals, and what its reviewer did not open.
fn doubt_row(state: &RunState) -> Option<CommentsEntry> {
    let last = state.course.reviews().last();
    // Runs of earlier versions only recorded the last verdict.
    let is_consistent = match (last, &state.verdict) {
        (Some(last), _) => last.consistent,
        (None, Some(verdict)) => verdict.consistent,
        (None, None) => true,
    };
    let mut parts = Vec::new();
    if !is_consistent {
        parts.push(("marker and text disagree".to_owned(), theme::QUIET));
    }
    if let Some(unopened) = last.and_then(ReviewSpan::describe_unopened) {
        if !parts.is_empty() {
            parts.push((" · ".to_owned(), theme::QUIET));
        }
        parts.push((format!("The reviewer {unopened}"), theme::WARNING));
    }
    (!parts.is_empty()).then(|| CommentsEntry::from_parts(parts, 2))
}

/// Renders the row that replaces the earlier reviews.
fn folded_row(n: usize, table: ReviewTableMode) -> CommentsEntry {
    let fold = match table {
        ReviewTableMode::Folded => "▸",
        ReviewTableMode::Full | ReviewTableMode::Opened => "▾",
    };
    CommentsEntry {
        margin: EntryMargin::Sign(fold, theme::QUIET),
        mark: Some(ScrollTarget::Reviews),
        is_single_row: true,
        ..CommentsEntry::new(&pluralize(n, "earlier review"), theme::QUIET)
    }
}

/// Describes how many findings the review raised and resolved: ` · 2 new, 1 resolved`; may be empty.
pub(super) fn describe_counts(review: &ReviewSpan) -> String {
    let counts = [(review.n_new, "new"), (review.n_settled, "resolved")];
    let counts = counts.into_iter().filter(|(n, _)| *n > 0);
    let counts: Vec<String> = counts.map(|(n, what)| format!("{n} {what}")).collect();
    match counts.as_slice() {
        [] => String::new(),
        counts => format!(" · {}", counts.join(", ")),
    }
}

fn review_row(review: &ReviewSpan, clock: LocalClock) -> CommentsEntry {
    let (verdict, _) = labels::verdict_label(review.verdict);
    let mut text = format!("Review {} · {verdict}", review.review);
    text.push_str(&describe_counts(review));
    if !review.consistent {
        text.push_str(" · marker and text disagree");
    }
    text.push_str(&format!(" · {}", clock.time_with_minutes(review.at)));
    if let Some(unopened) = review.describe_unopened() {
        text.push_str(&format!(" · the reviewer {unopened}"));
    }
    CommentsEntry::new(&text, theme::QUIET)
}
