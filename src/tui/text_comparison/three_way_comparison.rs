//! Three versions of a text side by side: the common base in the middle, and each side's version beside it.
//!
//! A label says who changed a stretch, and where both did. It only compares; it does not merge.

use std::ops::Range;

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use similar::{DiffOp, TextDiff};

use super::{CONTEXT_LINES, ComparisonSide, push_column_lines, unchanged_lines_row};
use crate::tui::diff_row::{DiffRow, RowChange, RowLayout, RowWrapping, ShownNumbers};
use crate::tui::markdown::HighlightLanguage;
use crate::tui::text_wrap::{text_width, truncate_to_columns};
use crate::tui::theme;

/// Minimum width for three texts side by side.
pub const MIN_THREE_WAY_COLUMNS: usize = 110;

/// Three versions of a text, cleaned for display.
#[derive(Debug, Clone, Copy)]
pub struct ThreeWayComparison<'a> {
    /// The user's version, at the left.
    pub yours: ComparisonSide<'a>,
    /// The common base, in the middle.
    pub before: ComparisonSide<'a>,
    /// The agent's version, at the right.
    pub agents: ComparisonSide<'a>,
}

/// Corresponding lines of each version.
#[derive(Debug, Clone, PartialEq, Eq)]
struct AlignedStretch {
    yours: Range<usize>,
    before: Range<usize>,
    agents: Range<usize>,
    who: StretchAuthor,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StretchAuthor {
    Nobody,
    You,
    Agent,
    BothSame,
    BothDifferent,
}

/// A change of one side: its lines in the base, and in that side's version.
type ReplacedRange = (Range<usize>, Range<usize>);

impl StretchAuthor {
    fn label(self) -> Option<(&'static str, Style)> {
        match self {
            Self::Nobody => None,
            Self::You => Some(("you changed this", theme::YOU)),
            Self::Agent => Some(("the agent changed this", theme::STRONG)),
            Self::BothSame => Some(("both made the same change", theme::GOOD)),
            Self::BothDifferent => Some(("both changed this", theme::WARNING)),
        }
    }
}

/// Renders the lines of all three versions, as wide as `columns`.
pub fn three_way_lines(sides: ThreeWayComparison<'_>, columns: usize) -> Vec<Line<'static>> {
    let each = columns.saturating_sub(2 * text_width(super::COLUMN_SEPARATOR)) / 3;
    let all = [sides.yours, sides.before, sides.agents];
    let mut lines = Vec::new();
    let head = |side: ComparisonSide<'_>| {
        vec![Line::styled(
            truncate_to_columns(side.label, each),
            theme::STRONG,
        )]
    };
    let separator = Span::styled(super::COLUMN_SEPARATOR, theme::EDGE);
    push_column_lines(&mut lines, all.map(head), each, &separator);
    let texts = all.map(|side| side.text.lines().collect::<Vec<&str>>());
    let longest = texts.iter().map(Vec::len).max().unwrap_or(0);
    let layout = RowLayout {
        columns: each,
        digits: longest.to_string().len(),
        shown_numbers: ShownNumbers::One,
        wrapping: RowWrapping::Words,
    };
    let stretches = align_stretches(&texts);
    let n_stretches = stretches.len();
    for (n, stretch) in stretches.into_iter().enumerate() {
        if let Some((text, style)) = stretch.who.label() {
            let text = format!("{} ", truncate_to_columns(text, columns.saturating_sub(4)));
            let rule = "─".repeat(columns.saturating_sub(text_width(&text) + 3));
            lines.push(Line::from(vec![
                Span::styled("── ", theme::QUIET),
                Span::styled(text, style),
                Span::styled(rule, theme::QUIET),
            ]));
        }
        let n_rows = [&stretch.yours, &stretch.before, &stretch.agents];
        let n_rows = n_rows.map(|range| range.len()).into_iter().max();
        let n_rows = n_rows.unwrap_or(0);
        let folded = folded_rows(&stretch, n, n_stretches);
        for row in 0..n_rows {
            if folded.contains(&row) {
                if row == folded.start {
                    lines.push(unchanged_lines_row(folded.len(), columns));
                }
                continue;
            }
            let cells = row_cells(&texts, &stretch, row);
            let cells = cells.map(|cell| cell.map_or_else(Vec::new, |cell| cell.lay_out(layout)));
            push_column_lines(&mut lines, cells, each, &separator);
        }
    }
    lines
}

/// Returns the rows to fold in a long unchanged stretch: all except those that are context of a change.
fn folded_rows(stretch: &AlignedStretch, n: usize, n_stretches: usize) -> Range<usize> {
    let head = if n == 0 { 0 } else { CONTEXT_LINES };
    let tail = if n + 1 == n_stretches {
        0
    } else {
        CONTEXT_LINES
    };
    let n_rows = stretch.before.len();
    if stretch.who == StretchAuthor::Nobody && n_rows > head + tail + 1 {
        head..n_rows - tail
    } else {
        0..0
    }
}

/// Returns one row of a stretch: the user's, the base, the agent's.
fn row_cells<'a>(
    texts: &[Vec<&'a str>; 3],
    stretch: &AlignedStretch,
    row: usize,
) -> [Option<DiffRow<'a>>; 3] {
    let [yours, before, agents] = texts;
    let line = |text: &[&'a str], range: &Range<usize>| {
        let at = range.clone().nth(row)?;
        Some((at + 1, *text.get(at)?))
    };
    let was = line(before, &stretch.before);
    let cell = |(n, text): (usize, &'a str), change, other: Option<&'a str>| DiffRow {
        change,
        numbers: (None, Some(n)),
        text,
        other,
        language: HighlightLanguage::Prose,
        code: None,
    };
    let side = |text: &[&'a str], range: &Range<usize>, is_changed: bool| {
        let now = line(text, range)?;
        let was = was.map(|(_, was)| was);
        let change = if is_changed && was != Some(now.1) {
            RowChange::Added
        } else {
            RowChange::Same
        };
        Some(cell(now, change, was))
    };
    let (by_you, by_agent) = match stretch.who {
        StretchAuthor::Nobody => (false, false),
        StretchAuthor::You => (true, false),
        StretchAuthor::Agent => (false, true),
        StretchAuthor::BothSame | StretchAuthor::BothDifferent => (true, true),
    };
    let gone = match stretch.who {
        StretchAuthor::Nobody => RowChange::Same,
        _ => RowChange::Removed,
    };
    [
        side(yours, &stretch.yours, by_you),
        was.map(|was| cell(was, gone, None)),
        side(agents, &stretch.agents, by_agent),
    ]
}

/// Returns what one side changed in the base: the ranges between the lines that are equal.
fn find_changes(before: &[&str], after: &[&str]) -> Vec<ReplacedRange> {
    let diff = TextDiff::from_slices(before, after);
    let alike = diff.ops().iter();
    let alike = alike.filter(|op| matches!(op, DiffOp::Equal { .. }));
    let alike = alike.map(|op| (op.old_range(), op.new_range()));
    let ends = (before.len()..before.len(), after.len()..after.len());
    let mut changes = Vec::new();
    let mut at = (0, 0);
    for (old, new) in alike.chain([ends]) {
        let change = (at.0..old.start, at.1..new.start);
        let is_one = !change.0.is_empty() || !change.1.is_empty();
        changes.extend(is_one.then_some(change));
        at = (old.end, new.end);
    }
    changes
}

/// Splits all three versions into changed and unchanged stretches; adjacent changes are merged.
fn align_stretches([yours, before, agents]: &[Vec<&str>; 3]) -> Vec<AlignedStretch> {
    let sides = [find_changes(before, yours), find_changes(before, agents)];
    let mut places: Vec<Range<usize>> =
        sides.iter().flatten().map(|(old, _)| old.clone()).collect();
    places.sort_by_key(|place| (place.start, place.end));
    let mut joined: Vec<Range<usize>> = Vec::new();
    for place in places {
        match joined.last_mut().filter(|last| place.start <= last.end) {
            Some(last) => last.end = last.end.max(place.end),
            None => joined.push(place),
        }
    }
    let mut stretches = Vec::new();
    let mut at = [0; 3];
    let mut push = |to: [usize; 3], who: StretchAuthor| {
        let [from_yours, from_before, from_agents] = at;
        let [to_yours, to_before, to_agents] = to;
        let stretch = AlignedStretch {
            yours: from_yours..to_yours,
            before: from_before..to_before,
            agents: from_agents..to_agents,
            who,
        };
        at = to;
        let is_there = stretch.before.len() + stretch.yours.len() + stretch.agents.len() > 0;
        stretches.extend(is_there.then_some(stretch));
    };
    for place in joined {
        let [start_yours, start_agents] =
            [0, 1].map(|side| map_line(&sides, side, place.start, ReplacedRangeEdge::Start));
        push(
            [start_yours, place.start, start_agents],
            StretchAuthor::Nobody,
        );
        let [end_yours, end_agents] =
            [0, 1].map(|side| map_line(&sides, side, place.end, ReplacedRangeEdge::End));
        let was = before.get(place.clone());
        let by_you = yours.get(start_yours..end_yours);
        let by_agent = agents.get(start_agents..end_agents);
        let who = match (by_you == was, by_agent == was) {
            (true, _) => StretchAuthor::Agent,
            (false, true) => StretchAuthor::You,
            (false, false) if by_you == by_agent => StretchAuthor::BothSame,
            (false, false) => StretchAuthor::BothDifferent,
        };
        push([end_yours, place.end, end_agents], who);
    }
    push(
        [yours.len(), before.len(), agents.len()],
        StretchAuthor::Nobody,
    );
    stretches
}

/// Which edge of a range is mapped.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReplacedRangeEdge {
    Start,
    End,
}

/// Maps a line of the base to one side; at a range's end, lines inserted there come before it.
fn map_line(
    sides: &[Vec<ReplacedRange>; 2],
    side: usize,
    line: usize,
    edge: ReplacedRangeEdge,
) -> usize {
    let changes = sides.get(side).map_or(&[][..], Vec::as_slice);
    // Adjacent ranges are merged, so a change that ends at a start belongs to the range.
    let is_before = |(old, _): &&ReplacedRange| match edge {
        ReplacedRangeEdge::Start => old.end < line,
        ReplacedRangeEdge::End => old.end <= line,
    };
    let (mut more, mut less) = (0, 0);
    for (old, new) in changes.iter().filter(is_before) {
        more += new.len();
        less += old.len();
    }
    (line + more).saturating_sub(less)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check([yours, before, agents]: [&str; 3], wanted: &str) {
        let side = |label, text| ComparisonSide { label, text };
        let sides = ThreeWayComparison {
            yours: side("yours", yours),
            before: side("before", before),
            agents: side("agent's", agents),
        };
        let lines = three_way_lines(sides, 54);
        let text: Vec<String> = lines
            .iter()
            .map(|line| line.to_string().trim_end().to_owned())
            .collect();
        assert_eq!(text.join("\n"), wanted);
    }

    #[test]
    fn who_changed_a_place_is_said_and_a_clash_stands_out() {
        check(
            ["a\nB\nc\nd\nx\n", "a\nb\nc\nd\ne\n", "a\nb\nc\nD\ny\nz\n"],
            "\
yours            │ before           │ agent's
  1   a          │   1   a          │   1   a
── you changed this ──────────────────────────────────
  2 + B          │   2 - b          │   2   b
  3   c          │   3   c          │   3   c
── both changed this ─────────────────────────────────
  4   d          │   4 - d          │   4 + D
  5 + x          │   5 - e          │   5 + y
                 │                  │   6 + z",
        );
        check(
            ["a\nnew\n", "a\n", "a\nnew\n"],
            "\
yours            │ before           │ agent's
  1   a          │   1   a          │   1   a
── both made the same change ─────────────────────────
  2 + new        │                  │   2 + new",
        );
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(128))]
        #[test]
        fn each_line_of_each_text_stands_in_one_stretch_in_order(texts in proptest::array::uniform3("([abc]\n){0,9}"), columns in 20usize..90) {
            let lines = [0, 1, 2].map(|n| texts[n].lines().collect::<Vec<&str>>());
            let stretches = align_stretches(&lines);
            for side in 0..3 {
                let range = |stretch: &AlignedStretch| [&stretch.yours, &stretch.before, &stretch.agents][side].clone();
                let all: Vec<usize> = stretches.iter().flat_map(range).collect();
                proptest::prop_assert_eq!(all, (0..lines[side].len()).collect::<Vec<usize>>());
            }
            let alike = stretches.iter().filter(|stretch| stretch.who == StretchAuthor::Nobody);
            for stretch in alike {
                proptest::prop_assert_eq!(&lines[0][stretch.yours.clone()], &lines[1][stretch.before.clone()]);
                proptest::prop_assert_eq!(&lines[2][stretch.agents.clone()], &lines[1][stretch.before.clone()]);
            }
            let side = |n: usize| ComparisonSide { label: "x", text: &texts[n] };
            let sides = ThreeWayComparison { yours: side(0), before: side(1), agents: side(2) };
            for line in three_way_lines(sides, columns) {
                proptest::prop_assert!(line.width() <= columns, "{line:?}");
            }
        }
    }
}
