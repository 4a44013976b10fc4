//! What each review came to, in a row.
//!
//! Refuses to know findings but by their counts.

use super::Entry;
use crate::domain::run::State;
use crate::tui::theme;
use crate::tui::words::{self, Clock};

/// A row for each review: when, its verdict, how many findings were open, raised and settled.
pub(super) fn of(state: &State, clock: Clock) -> Vec<Entry> {
    let reviews = state.course.reviews();
    let forced = state.verdict.as_ref().is_some_and(|verdict| verdict.forced);
    let mut entries: Vec<Entry> = reviews
        .iter()
        .map(|review| {
            let (sign, style) = words::verdict(review.verdict);
            let doubt = if review.consistent {
                ""
            } else {
                ", its signals disagree"
            };
            let counts = format!(
                "{} open, {} new, {} settled",
                review.n_open, review.n_new, review.n_settled
            );
            Entry {
                parts: vec![
                    (format!("review {}  ", review.review), theme::PLAIN),
                    (format!("{}  ", clock.minute(review.at)), theme::QUIET),
                    (format!("{sign:<18}"), style),
                    (format!("  {counts}{doubt}"), theme::PLAIN),
                ],
                indent: 10,
                of: None,
                is_row: false,
            }
        })
        .collect();
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
