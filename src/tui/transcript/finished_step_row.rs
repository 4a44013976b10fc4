//! The row of a step that is done, and quietly at its right how it was checked and committed.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::tui::text_wrap::{line_width, text_width, truncate_to_columns};
use crate::tui::theme;

/// How many columns are free before the title and the facts.
pub const FACT_GAP: usize = 2;
/// A title that is cut beside the facts keeps this many columns, or it has a row of its own.
const MIN_TITLE_COLUMNS: usize = 24;

/// A step that is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedStepRow {
    pub step: u32,
    /// What it does, in short; may be empty.
    pub title: String,
    /// The subject of its commit, in place of a title that would be cut; empty without a commit.
    pub subject: String,
    /// In the order of the checks: `tests passed`, the commit, its size.
    pub checks: Vec<String>,
}

impl FinishedStepRow {
    /// Describes the step in one line.
    pub fn describe(&self) -> String {
        format!("Step {} done · {}", self.step, self.checks.join(" · "))
    }

    /// Lays the step out behind its sign: the facts right of the title, or below it where both do not fit into a row; `None`
    /// where the facts need more than a row.
    pub fn lines(&self, sign: Span<'static>, columns: usize) -> Option<Vec<Line<'static>>> {
        let lead = text_width(&sign.content);
        let mut line = Line::from(vec![sign, Span::raw(format!("Step {} done", self.step))]);
        let facts = self.facts();
        let n_facts: usize = facts.iter().map(|(text, _)| text_width(text)).sum();
        let room = columns.saturating_sub(line_width(&line) + FACT_GAP);
        let beside_facts = room.saturating_sub(n_facts + FACT_GAP);
        let is_cut = text_width(&self.title) > beside_facts;
        let has_subject = !self.subject.is_empty() && text_width(&self.subject) <= beside_facts;
        let title = if is_cut && has_subject {
            &self.subject
        } else {
            &self.title
        };
        let n_title = text_width(title);
        let has_room = beside_facts >= n_title.min(MIN_TITLE_COLUMNS);
        let facts = facts.into_iter();
        let facts = facts.map(|(text, style)| Span::styled(text, style));
        if !title.is_empty() {
            let room = if has_room { beside_facts } else { room };
            let title = truncate_to_columns(title, room);
            line.push_span(Span::raw(" ".repeat(FACT_GAP)));
            line.push_span(Span::raw(title));
        }
        if !has_room {
            let indent = Span::raw(" ".repeat(lead));
            let below = Line::from_iter(std::iter::once(indent).chain(facts));
            return (line_width(&below) <= columns).then(|| vec![line, below]);
        }
        let gap = columns.checked_sub(line_width(&line) + n_facts)?;
        if gap < FACT_GAP {
            return None;
        }
        line.push_span(Span::raw(" ".repeat(gap)));
        line.spans.extend(facts);
        Some(vec![line])
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_facts_are_right_of_the_title_or_below_it() {
        let row = FinishedStepRow {
            step: 2,
            title: "Add --top N to wordstat.sh".to_owned(),
            subject: "Add --top".to_owned(),
            checks: vec!["tests passed".to_owned(), "proven".to_owned()],
        };
        let shown = |columns| {
            let lines = row.lines(Span::raw("✓ "), columns);
            lines.map(|lines| lines.iter().map(Line::to_string).collect::<Vec<_>>())
        };
        let title = "✓ Step 2 done  Add --top N to wordstat.sh";
        let one_row = format!("{title}     tests passed · proven");
        assert_eq!(shown(67), Some(vec![one_row]));
        let gap = " ".repeat(18);
        let subject = format!("✓ Step 2 done  Add --top{gap}tests passed · proven");
        assert_eq!(shown(63), Some(vec![subject]));
        let two_rows = vec![
            "✓ Step 2 done  Add --top N to…".to_owned(),
            "  tests passed · proven".to_owned(),
        ];
        assert_eq!(shown(30), Some(two_rows));
        assert_eq!(shown(20), None);
    }
}
