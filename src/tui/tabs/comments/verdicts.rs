//! What each review came to, in a row; in a low window one row stands for all of them, so that findings have room.
//!
//! Refuses to know findings but by their counts.

use super::Entry;
use crate::domain::run::RunState;
use crate::domain::run_timeline::ReviewSpan;
use crate::text::pluralize;
use crate::tui::page::Mark;
use crate::tui::theme;
use crate::tui::words::{self, Clock};

/// Which part of a window that does not hold everything is too much for the table: one of so many.
pub(super) const SHARE: usize = 8;

/// How the table of reviews is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// Every review.
    Whole,
    /// One row in its place.
    Folded,
    /// That row, and every review below it.
    Opened,
}

/// How many rows the table takes.
pub(super) fn rows(state: &RunState, clock: Clock, columns: usize) -> usize {
    let reviews = state.course.reviews().iter();
    let columns = columns.saturating_sub(2);
    reviews
        .map(|review| row(review, clock).lines(columns).len())
        .sum()
}

/// A row for each review: when, its verdict, how many findings were open, raised and settled.
pub(super) fn of(state: &RunState, clock: Clock, table: Table) -> Vec<Entry> {
    let reviews = state.course.reviews();
    let forced = state.verdict.as_ref().is_some_and(|verdict| verdict.forced);
    let mut entries = Vec::new();
    if let (Table::Folded | Table::Opened, Some(last)) = (table, reviews.last()) {
        entries.push(row_of_all(reviews.len(), last, table));
    }
    if table != Table::Folded {
        entries.extend(reviews.iter().map(|review| row(review, clock)));
    }
    // Runs of earlier versions know no more than the last one.
    if let (Some(verdict), true) = (&state.verdict, reviews.is_empty()) {
        let (sign, style) = words::verdict(verdict.value);
        let doubt = if verdict.consistent {
            ""
        } else {
            ", its signals disagree"
        };
        let text = format!("iteration {}: {sign}{doubt}", verdict.iteration);
        entries.push(Entry::new(&text, style));
    }
    if forced {
        let text = "you let the plan pass against its review";
        entries.push(Entry::new(text, theme::BAD));
    }
    entries
}

/// The row that stands for all reviews: how many they are, and what the last one came to.
fn row_of_all(n: usize, last: &ReviewSpan, table: Table) -> Entry {
    let (sign, style) = words::verdict(last.verdict);
    let fold = match table {
        Table::Folded => "▸",
        Table::Whole | Table::Opened => "▾",
    };
    let all = match n {
        1 => format!("{fold} review {}  ", last.review),
        _ => format!("{fold} {}, the last: ", pluralize(n, "review")),
    };
    Entry {
        parts: vec![
            (all, theme::PLAIN),
            (sign.to_owned(), style),
            (format!("  {}", counts(last)), theme::PLAIN),
        ],
        indent: 2,
        of: Some(Mark::Reviews),
        is_row: true,
    }
}

fn counts(review: &ReviewSpan) -> String {
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

fn row(review: &ReviewSpan, clock: Clock) -> Entry {
    let (sign, style) = words::verdict(review.verdict);
    Entry {
        parts: vec![
            (format!("review {}  ", review.review), theme::PLAIN),
            (format!("{}  ", clock.minute(review.at)), theme::QUIET),
            (format!("{sign:<18}"), style),
            (format!("  {}", counts(review)), theme::PLAIN),
        ],
        indent: 10,
        of: None,
        is_row: false,
    }
}
