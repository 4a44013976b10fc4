//! The user's text and the agent's, told apart: in numbers, as a diff, or side by side.
//!
//! Refuses to know which question they belong to.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use similar::{ChangeTag, DiffOp, TextDiff};

use super::theme;
use super::wrap::{shown, width, wrap};
use crate::text::n_of;

/// How many columns two texts need beside each other.
const MIN_COLUMNS: usize = 60;

/// One document in two versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versions {
    /// The document's name.
    pub name: String,
    /// What lies on disk.
    pub yours: String,
    /// What the agent wrote.
    pub agents: String,
}

/// How two texts are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One below the other, as a diff.
    Diff,
    /// Beside each other.
    Sides,
}

impl Versions {
    /// How much the agent's text differs, in one line.
    pub fn in_words(&self) -> String {
        let (yours, agents) = (shown(&self.yours), shown(&self.agents));
        let diff = TextDiff::from_lines(&yours, &agents);
        let count = |tag| {
            diff.iter_all_changes()
                .filter(|change| change.tag() == tag)
                .count()
        };
        format!(
            "{}: the agent's text has {} and differs from yours by +{} −{}",
            self.name,
            n_of(agents.lines().count(), "line"),
            count(ChangeTag::Insert),
            count(ChangeTag::Delete)
        )
    }

    /// The lines of both texts.
    pub fn lay_out(&self, form: Form, columns: usize) -> Vec<Line<'static>> {
        let (yours, agents) = (shown(&self.yours), shown(&self.agents));
        match form {
            Form::Sides if columns >= MIN_COLUMNS => sides(&self.name, (&yours, &agents), columns),
            Form::Sides | Form::Diff => one_below_the_other(&self.name, (&yours, &agents), columns),
        }
    }
}

fn one_below_the_other(
    name: &str,
    (yours, agents): (&str, &str),
    columns: usize,
) -> Vec<Line<'static>> {
    let mut lines = vec![
        Line::styled(format!("--- {name}, yours"), theme::STRONG),
        Line::styled(format!("+++ {name}, the agent's"), theme::STRONG),
    ];
    let diff = TextDiff::from_lines(yours, agents);
    for change in diff.iter_all_changes() {
        let (sign, style) = match change.tag() {
            ChangeTag::Delete => ("-", theme::BAD),
            ChangeTag::Insert => ("+", theme::GOOD),
            ChangeTag::Equal => (" ", theme::PLAIN),
        };
        let text = change.value().trim_end_matches('\n');
        lines.extend(wrap(
            &[Span::styled(format!("{sign}{text}"), style)],
            columns,
            1,
        ));
    }
    lines
}

fn sides(name: &str, (yours, agents): (&str, &str), columns: usize) -> Vec<Line<'static>> {
    let half = (columns - 3) / 2;
    let (mine, its) = (format!("{name}, yours"), format!("{name}, the agent's"));
    let mut lines = Vec::new();
    let heads = [&mine, &its].map(|head| Some((head.as_str(), theme::STRONG)));
    push_row(&mut lines, heads, half);
    let (old, new): (Vec<&str>, Vec<&str>) = (yours.lines().collect(), agents.lines().collect());
    let diff = TextDiff::from_slices(&old, &new);
    for op in diff.ops() {
        let (left, right) = match op {
            DiffOp::Equal { .. } => (theme::PLAIN, theme::PLAIN),
            DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => {
                (theme::BAD, theme::GOOD)
            }
        };
        let (mut mine, mut its) = (old[op.old_range()].iter(), new[op.new_range()].iter());
        for _ in 0..op.old_range().len().max(op.new_range().len()) {
            let cells = [
                mine.next().map(|text| (*text, left)),
                its.next().map(|text| (*text, right)),
            ];
            push_row(&mut lines, cells, half);
        }
    }
    lines
}

/// Adds the lines of one row of two columns; a missing side stays empty.
fn push_row(lines: &mut Vec<Line<'static>>, cells: [Option<(&str, Style)>; 2], half: usize) {
    let [left, right] = cells.map(|cell| match cell {
        Some((text, style)) => wrap(&[Span::styled(text, style)], half, 0),
        None => Vec::new(),
    });
    let n_rows = left.len().max(right.len());
    let (mut left, mut right) = (left.into_iter(), right.into_iter());
    for _ in 0..n_rows {
        let mut spans = left.next().map_or_else(Vec::new, |line| line.spans);
        let used: usize = spans.iter().map(|span| width(&span.content)).sum();
        spans.push(Span::raw(" ".repeat(half.saturating_sub(used))));
        spans.push(Span::styled(" │ ", theme::QUIET));
        spans.extend(right.next().map_or_else(Vec::new, |line| line.spans));
        lines.push(Line::from(spans));
    }
}
