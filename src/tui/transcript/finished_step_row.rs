//! The row of a step that is done, and quietly at its right how it was checked and committed.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::tui::text_wrap::{line_width, text_width};
use crate::tui::theme;

/// How many columns are free before the facts.
const FACT_GAP: usize = 2;

/// A step that is done. What it does is in the heading above, and in what the agent said last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedStepRow {
    pub step: u32,
    /// In the order of the checks: `tests passed`, the commit, its size.
    pub checks: Vec<String>,
}

impl FinishedStepRow {
    /// Describes the step in one line.
    pub fn describe(&self) -> String {
        format!("Step {} done · {}", self.step, self.checks.join(" · "))
    }

    /// Lays the row out behind its sign; `None` where not all fits into it.
    pub fn line(&self, sign: Span<'static>, columns: usize) -> Option<Line<'static>> {
        let mut line = Line::from(vec![sign, Span::raw(format!("Step {} done", self.step))]);
        let facts = self.facts();
        let n_facts: usize = facts.iter().map(|(text, _)| text_width(text)).sum();
        let gap = columns.checked_sub(line_width(&line) + n_facts)?;
        if gap < FACT_GAP {
            return None;
        }
        line.push_span(Span::raw(" ".repeat(gap)));
        let facts = facts.into_iter();
        line.spans
            .extend(facts.map(|(text, style)| Span::styled(text, style)));
        Some(line)
    }

    /// Returns the facts in pieces; only how many lines came and went has colours.
    fn facts(&self) -> Vec<(String, Style)> {
        let mut facts = Vec::new();
        for (n, check) in self.checks.iter().enumerate() {
            if n > 0 {
                facts.push((" · ".to_owned(), theme::QUIET));
            }
            for word in check.split_inclusive(' ') {
                let style = match word.chars().next() {
                    Some('+') => theme::GOOD,
                    Some('−') => theme::BAD,
                    _ => theme::QUIET,
                };
                facts.push((word.to_owned(), style));
            }
        }
        facts
    }
}
