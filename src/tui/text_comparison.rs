//! Compares two texts line by line and word by word, as a diff or side by side.
//!
//! Signs and line numbers carry the same information as the colours.

mod three_way_comparison;

use std::ops::Range;

use ratatui::text::{Line, Span};
use similar::{DiffOp, TextDiff};
use unicode_segmentation::UnicodeSegmentation;

use super::diff_row::{DiffRow, RowChange, RowLayout, RowWrapping, ShownNumbers, fill_row};
use super::markdown::HighlightLanguage;
use super::scroll_view::{ScrollContent, ScrollTarget};
use super::text_wrap::{text_width, truncate_to_columns};
use super::theme::{self, Surface};
use crate::text::pluralize;
pub use three_way_comparison::{
    MIN_THREE_WAY_COLUMNS as MIN_COLUMNS_OF_THREE, ThreeWayComparison,
    three_way_lines as lay_out_three,
};

/// The width that two texts need side by side.
pub const MIN_SIDE_BY_SIDE_COLUMNS: usize = 60;
const COLUMN_SEPARATOR: &str = " │ ";
/// How many unchanged lines are shown around a change.
const CONTEXT_LINES: usize = 3;
/// How many words of a line are compared at most.
const MAX_COMPARED_WORDS: usize = 400;
/// How similar two lines must be, in percent, for their changed words to be marked: below about half, the
/// marks would be only fragments.
const MIN_SIMILARITY_PERCENT: usize = 45;

/// How two texts are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ComparisonForm {
    #[default]
    Diff,
    SideBySide,
}

impl ComparisonForm {
    /// Returns the other form.
    pub fn opposite(self) -> Self {
        match self {
            Self::Diff => Self::SideBySide,
            Self::SideBySide => Self::Diff,
        }
    }
}

/// One of two texts, safe to draw.
#[derive(Debug, Clone, Copy)]
pub struct ComparisonSide<'a> {
    /// Its label, such as `plan.md, yours`.
    pub label: &'a str,
    pub text: &'a str,
}

/// A part of a line, and whether the other line lacks it.
pub type ComparisonPart<'a> = (&'a str, bool);

/// Compares the words of two lines; `None` if the lines have too little in common.
pub fn diff_words<'a>(
    old: &'a str,
    new: &'a str,
) -> Option<(Vec<ComparisonPart<'a>>, Vec<ComparisonPart<'a>>)> {
    let split = |text: &'a str| {
        text.split_word_bounds()
            .take(MAX_COMPARED_WORDS + 1)
            .collect()
    };
    let (before, after): (Vec<&str>, Vec<&str>) = (split(old), split(new));
    if before.len() > MAX_COMPARED_WORDS || after.len() > MAX_COMPARED_WORDS {
        return None;
    }
    let diff = TextDiff::from_slices(&before, &after);
    let (mut gone, mut came) = (Vec::new(), Vec::new());
    for op in diff.ops() {
        let differs = !matches!(op, DiffOp::Equal { .. });
        let of = |words: &[&'a str], range: std::ops::Range<usize>| {
            let words = words.get(range).unwrap_or_default().iter();
            words.map(|word| (*word, differs)).collect::<Vec<_>>()
        };
        gone.extend(of(&before, op.old_range()));
        came.extend(of(&after, op.new_range()));
    }
    are_similar(&gone, &came).then_some((gone, came))
}

/// Returns whether about half of both lines is the same. Whitespace does not count, because all lines have some.
fn are_similar(gone: &[ComparisonPart<'_>], came: &[ComparisonPart<'_>]) -> bool {
    let (mut n_same, mut n_all) = (0, 0);
    for (text, differs) in gone.iter().chain(came) {
        let n = text.chars().filter(|c| !c.is_whitespace()).count();
        n_all += n;
        n_same += if *differs { 0 } else { n };
    }
    n_same * 100 >= n_all * MIN_SIMILARITY_PERCENT
}

/// Lays out both texts; the lines of the new one are targets, counted from 0. Falls back to the diff if
/// there is no room side by side.
pub fn lay_out(
    old: ComparisonSide<'_>,
    new: ComparisonSide<'_>,
    form: ComparisonForm,
    columns: usize,
) -> ScrollContent {
    match form {
        ComparisonForm::SideBySide if columns >= MIN_SIDE_BY_SIDE_COLUMNS => {
            lay_out_side_by_side(old, new, columns)
        }
        ComparisonForm::SideBySide | ComparisonForm::Diff => lay_out_as_diff(old, new, columns),
    }
}

/// A row of the comparison: line numbers, from 1, and texts.
#[derive(Debug, Clone, Copy)]
struct ComparisonRow<'a> {
    old: Option<(usize, &'a str)>,
    new: Option<(usize, &'a str)>,
    is_same: bool,
    /// How many unchanged lines are left out here.
    n_same: usize,
}

impl<'a> ComparisonRow<'a> {
    /// Returns the old line, or the new one.
    fn side(&self, is_old: bool) -> Option<DiffRow<'a>> {
        let (own, other) = if is_old {
            (self.old, self.new)
        } else {
            (self.new, self.old)
        };
        let (n, text) = own?;
        let (change, numbers) = match is_old {
            _ if self.is_same => (
                RowChange::Same,
                (self.old.map(|(n, _)| n), self.new.map(|(n, _)| n)),
            ),
            true => (RowChange::Removed, (Some(n), None)),
            false => (RowChange::Added, (None, Some(n))),
        };
        Some(DiffRow {
            change,
            numbers,
            text,
            other: other.map(|(_, text)| text),
            language: HighlightLanguage::Prose,
            code: None,
        })
    }
}

/// Pairs the lines of both texts; long unchanged parts are reduced to their ends.
fn pair_lines<'a>(old: &'a str, new: &'a str) -> Vec<ComparisonRow<'a>> {
    let (before, after): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let diff = TextDiff::from_slices(&before, &after);
    let ops = diff.ops();
    let mut rows = Vec::new();
    for (n, op) in ops.iter().enumerate() {
        let (olds, news) = (op.old_range(), op.new_range());
        if let DiffOp::Equal { .. } = op {
            let head = if n == 0 { 0 } else { CONTEXT_LINES };
            let tail = if n + 1 == ops.len() { 0 } else { CONTEXT_LINES };
            let n_lines = olds.len();
            let folds = n_lines > head + tail + 1;
            for (at, (o, n)) in olds.zip(news).enumerate() {
                if folds && at == head {
                    rows.push(ComparisonRow {
                        old: None,
                        new: None,
                        is_same: true,
                        n_same: n_lines - head - tail,
                    });
                }
                if !folds || at < head || at >= n_lines - tail {
                    let text = before.get(o).copied().unwrap_or_default();
                    rows.push(ComparisonRow {
                        old: Some((o + 1, text)),
                        new: Some((n + 1, text)),
                        is_same: true,
                        n_same: 0,
                    });
                }
            }
            continue;
        }
        for at in 0..olds.len().max(news.len()) {
            let line = |lines: &[&'a str], range: &Range<usize>| {
                let n = range.clone().nth(at)?;
                Some((n + 1, *lines.get(n)?))
            };
            rows.push(ComparisonRow {
                old: line(&before, &olds),
                new: line(&after, &news),
                is_same: false,
                n_same: 0,
            });
        }
    }
    rows
}

/// Returns the lines of the new text, from 0, that differ from the old one; for removed lines, the one behind them.
pub fn changed_lines(old: &str, new: &str) -> Vec<usize> {
    let (before, after): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let last = after.len().saturating_sub(1);
    let diff = TextDiff::from_slices(&before, &after);
    let changes = diff.ops().iter();
    let changes = changes.filter(|op| !matches!(op, DiffOp::Equal { .. }));
    let lines = changes.flat_map(|op| {
        let lines = op.new_range();
        lines.start..lines.end.max(lines.start + 1)
    });
    lines.map(|line| line.min(last)).collect()
}

/// Returns the row that stands for unchanged lines.
fn unchanged_lines_row(n: usize, columns: usize) -> Line<'static> {
    let text = format!(" ⋯ {}", pluralize(n, "unchanged line"));
    let row = Line::styled(truncate_to_columns(&text, columns), theme::QUIET);
    fill_row(row, columns, Surface::Panel.style())
}

/// Returns the width of the largest line number.
fn line_number_width(old: &str, new: &str) -> usize {
    let n = old.lines().count().max(new.lines().count());
    n.to_string().len()
}

fn lay_out_as_diff(
    old: ComparisonSide<'_>,
    new: ComparisonSide<'_>,
    columns: usize,
) -> ScrollContent {
    let head = |text: String| Line::styled(truncate_to_columns(&text, columns), theme::STRONG);
    let mut laid = ScrollContent::from(vec![
        head(format!("--- {}", old.label)),
        head(format!("+++ {}", new.label)),
    ]);
    let layout = RowLayout {
        columns,
        digits: line_number_width(old.text, new.text),
        shown_numbers: ShownNumbers::Fitting,
        wrapping: RowWrapping::Words,
    };
    let push = |laid: &mut ScrollContent, row: DiffRow<'_>| {
        if let (_, Some(n)) = row.numbers {
            laid.targets
                .insert(ScrollTarget::Line(n.saturating_sub(1)), laid.lines.len());
        }
        laid.lines.extend(row.lay_out(layout));
    };
    // In each block of changes, removed lines come before added ones.
    let mut came: Vec<DiffRow<'_>> = Vec::new();
    for row in pair_lines(old.text, new.text) {
        if row.is_same {
            came.drain(..).for_each(|row| push(&mut laid, row));
        }
        if row.n_same > 0 {
            laid.lines.push(unchanged_lines_row(row.n_same, columns));
            continue;
        }
        if let Some(old) = row.side(true).filter(|_| !row.is_same) {
            push(&mut laid, old);
        }
        match row.side(false) {
            Some(new) if row.is_same => push(&mut laid, new),
            new => came.extend(new),
        }
    }
    came.drain(..).for_each(|row| push(&mut laid, row));
    laid
}

fn lay_out_side_by_side(
    old: ComparisonSide<'_>,
    new: ComparisonSide<'_>,
    columns: usize,
) -> ScrollContent {
    let half = (columns - text_width(COLUMN_SEPARATOR)) / 2;
    let digits = line_number_width(old.text, new.text);
    let mut laid = ScrollContent::default();
    let ScrollContent {
        lines,
        targets: marks,
    } = &mut laid;
    let head = |side: ComparisonSide<'_>| {
        let text = truncate_to_columns(side.label, half);
        vec![Line::styled(text, theme::STRONG)]
    };
    let separator = Span::styled(COLUMN_SEPARATOR, theme::EDGE);
    push_column_lines(lines, [head(old), head(new)], half, &separator);
    let layout = RowLayout {
        columns: half,
        digits,
        shown_numbers: ShownNumbers::One,
        wrapping: RowWrapping::Words,
    };
    for row in pair_lines(old.text, new.text) {
        if row.n_same > 0 {
            lines.push(unchanged_lines_row(row.n_same, columns));
            continue;
        }
        let cell = |is_old: bool| {
            let side = row.side(is_old).map(|side| DiffRow {
                numbers: match (is_old, side.numbers) {
                    (true, (old, _)) => (old, None),
                    (false, (_, new)) => (None, new),
                },
                ..side
            });
            side.map_or_else(Vec::new, |side| side.lay_out(layout))
        };
        if let Some((n, _)) = row.new {
            marks.insert(ScrollTarget::Line(n.saturating_sub(1)), lines.len());
        }
        push_column_lines(lines, [cell(true), cell(false)], half, &separator);
    }
    laid
}

/// Adds the rows of columns that are `each` wide; a missing side stays empty.
pub fn push_column_lines<const N: usize>(
    lines: &mut Vec<Line<'static>>,
    cells: [Vec<Line<'static>>; N],
    each: usize,
    separator: &Span<'static>,
) {
    let n_rows = cells.iter().map(Vec::len).max().unwrap_or(0);
    let mut cells = cells.map(Vec::into_iter);
    // The spans move into a shared line, so they need the style of their own line.
    let spans = |line: Line<'static>| {
        let style = line.style;
        let spans = line.spans.into_iter();
        spans.map(move |span| Span::styled(span.content, style.patch(span.style)))
    };
    for _ in 0..n_rows {
        let mut row: Vec<Span<'static>> = Vec::new();
        for (n, cell) in cells.iter_mut().enumerate() {
            let from = row.len();
            row.extend(cell.next().into_iter().flat_map(spans));
            if n + 1 < N {
                let own = row.iter().skip(from);
                let used: usize = own.map(|span| text_width(&span.content)).sum();
                row.push(Span::raw(" ".repeat(each.saturating_sub(used))));
                row.push(separator.clone());
            }
        }
        lines.push(Line::from(row));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str, form: ComparisonForm, columns: usize, wanted: &str) {
        let (old, new) = (
            ComparisonSide {
                label: "old",
                text: old,
            },
            ComparisonSide {
                label: "new",
                text: new,
            },
        );
        let lines = lay_out(old, new, form, columns).lines;
        let text: Vec<String> = lines
            .iter()
            .map(|line| line.to_string().trim_end().to_owned())
            .collect();
        assert_eq!(text.join("\n"), wanted);
    }

    #[test]
    fn lines_have_their_numbers_and_what_is_the_same_is_folded() {
        let old: String = (1..=12).map(|n| format!("line {n}\n")).collect();
        let new = old.replace("line 11", "line eleven");
        check(
            &old,
            &new,
            ComparisonForm::Diff,
            40,
            "--- old\n+++ new\n ⋯ 7 unchanged lines\n  8   line 8\n  9   line 9\n 10   line 10\n 11 - line 11\n 11 + line eleven\n 12   line 12",
        );
        check(
            "a\n",
            "a\n",
            ComparisonForm::Diff,
            40,
            "--- old\n+++ new\n  1   a",
        );
        check(
            "",
            "b",
            ComparisonForm::Diff,
            40,
            "--- old\n+++ new\n  1 + b",
        );
    }

    #[test]
    fn the_lines_that_differ_are_found() {
        assert_eq!(changed_lines("a\nb\nc\n", "a\nB\nc\nd\n"), [1, 3]);
        assert_eq!(changed_lines("a\nb\nc\n", "a\nc\n"), [1]);
        assert_eq!(changed_lines("a\nb\n", "a\n"), [0]);
        assert_eq!(changed_lines("a\n", "a\n"), [0_usize; 0]);
    }

    #[test]
    fn two_texts_stand_beside_each_other_where_there_is_room() {
        let sides = (ComparisonForm::SideBySide, 61);
        let blank = |n: usize| " ".repeat(n);
        check(
            "a b\nc\n",
            "a x\nc\nd",
            sides.0,
            sides.1,
            &format!(
                "old{}│ new\n  1 - a b{}│   1 + a x\n  2   c{}│   2   c\n{}│   3 + d",
                blank(27),
                blank(21),
                blank(23),
                blank(30)
            ),
        );
        check(
            "a\n",
            "b\n",
            ComparisonForm::SideBySide,
            30,
            "--- old\n+++ new\n  1 - a\n  1 + b",
        );
    }

    #[test]
    fn words_that_differ_are_found_in_any_script() {
        let (old, new) =
            diff_words("test 求和 with one number", "test 求积 with two numbers").unwrap();
        let differing = |parts: &[ComparisonPart<'_>]| {
            let parts = parts.iter().filter(|(_, differs)| *differs);
            parts.map(|(text, _)| *text).collect::<Vec<_>>().join("|")
        };
        assert_eq!(differing(&old), "和|one|number");
        assert_eq!(differing(&new), "积|two|numbers");
        assert!(diff_words("one thing", "それは全く違う").is_none());
        // Spaces and a few short words do not make a rewritten line similar.
        let before = "- The parser reads the file into a list of tokens and then builds the tree.";
        let after =
            "- A stream of the events is folded into one state, and the view is drawn of it.";
        assert!(diff_words(before, after).is_none());
        assert!(
            diff_words(
                "        return total(values)",
                "        raise Empty(values)"
            )
            .is_none()
        );
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
        #[test]
        fn no_line_is_wider_than_the_window(old in "(\\PC{0,30}\n){0,12}", new in "(\\PC{0,30}\n){0,12}", columns in 8usize..120, is_beside: bool) {
            let form = if is_beside { ComparisonForm::SideBySide } else { ComparisonForm::Diff };
            let (old, new) = (crate::tui::text_wrap::clean_for_display(&old), crate::tui::text_wrap::clean_for_display(&new));
            let side = |text| ComparisonSide { label: "x", text };
            for line in lay_out(side(&old), side(&new), form, columns).lines {
                proptest::prop_assert!(line.width() <= columns, "{line:?}");
            }
        }
    }
}
