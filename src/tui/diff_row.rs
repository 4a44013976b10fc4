//! One row of a diff, the same wherever a diff is shown: its numbers, its sign in a column of its own, and its text on the
//! tint of the change, across the whole width.
//!
//! What differs from the other line has a stronger tint, and code has syntax colours. Where a theme has no tints, the
//! painter colours the text, and the sign tells the rest.

use std::ops::Range;

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;

use super::markdown::HighlightLanguage;
use super::text_comparison::{ComparisonPart, diff_words};
use super::text_wrap::{text_width, wrap_spans};
use super::theme::{self, Surface};

/// How many characters of a line are shown; a mark says that the rest is cut.
const MAX_LINE_CHARS: usize = 4_000;
const TAB_WIDTH: usize = 4;
/// Marks the continuation rows of a wrapped line.
const CONTINUATION_SIGN: &str = "↪ ";
/// From this width on, a row shows both its numbers.
const MIN_BOTH_NUMBERS_COLUMNS: usize = 72;
/// Below this width, a row shows no number.
pub const MIN_NUMBER_COLUMNS: usize = 30;
/// The number of sign and blank before a row's text.
const SIGN_COLUMNS: usize = 2;

/// What happened to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowChange {
    Added,
    Removed,
    /// Nothing.
    Same,
}

/// A line of a diff, safe to draw.
#[derive(Debug, Clone)]
pub struct DiffRow<'a> {
    pub change: RowChange,
    /// Its numbers before and after the change, from 1.
    pub numbers: (Option<usize>, Option<usize>),
    /// Its text without the sign.
    pub text: &'a str,
    /// The line that it replaces or that replaces it.
    pub other: Option<&'a str>,
    pub language: HighlightLanguage,
    /// The bytes of the text between a string of the lines before and one that goes on in the next; `None` for all of it.
    pub code: Option<Range<usize>>,
}

/// The place of rows on the screen.
#[derive(Debug, Clone, Copy)]
pub struct RowLayout {
    pub columns: usize,
    /// The width of the largest number; 0 if no row has a number.
    pub digits: usize,
    pub shown_numbers: ShownNumbers,
    pub wrapping: RowWrapping,
}

/// Which numbers a row shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShownNumbers {
    /// Those that the width has room for.
    Fitting,
    /// One, if the width has room for it: all rows are of one side.
    FittingOne,
    /// One, for a row beside that of the other text.
    One,
}

/// Where a long line goes on in the next row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowWrapping {
    /// Where the row ends, so that the rows show exactly what the file contains.
    Exact,
    /// Before a word.
    Words,
}

impl RowChange {
    /// Returns the ground of the row.
    pub const fn ground(self) -> Style {
        match self {
            Self::Added => Surface::Add.style(),
            Self::Removed => Surface::Del.style(),
            Self::Same => Style::new(),
        }
    }

    const fn word_ground(self) -> Style {
        match self {
            Self::Added => Surface::AddWord.style(),
            Self::Removed => Surface::DelWord.style(),
            Self::Same => Style::new(),
        }
    }

    /// Returns the sign and its style.
    pub fn sign(self) -> (&'static str, Style) {
        let (sign, style) = match self {
            Self::Added => ("+", theme::GOOD),
            Self::Removed => ("-", theme::BAD),
            Self::Same => return (" ", theme::PLAIN),
        };
        (
            sign,
            style.add_modifier(Modifier::BOLD).patch(self.ground()),
        )
    }
}

impl RowLayout {
    /// Returns the numbers of a row, with a blank on both sides.
    fn gutter_text(&self, old: Option<usize>, new: Option<usize>) -> String {
        let digits = self.digits.max(2);
        let is_narrow =
            self.columns < MIN_NUMBER_COLUMNS && self.shown_numbers != ShownNumbers::One;
        if self.digits == 0 || is_narrow || self.columns < 2 * digits + 8 {
            return String::new();
        }
        let word = |n: Option<usize>| n.map_or(String::new(), |n| n.to_string());
        match self.shown_numbers {
            ShownNumbers::Fitting if self.columns >= MIN_BOTH_NUMBERS_COLUMNS => {
                format!(" {:>digits$}  {:>digits$} ", word(old), word(new))
            }
            ShownNumbers::Fitting | ShownNumbers::FittingOne | ShownNumbers::One => {
                format!(" {:>digits$} ", word(new.or(old)))
            }
        }
    }
}

impl DiffRow<'_> {
    /// Lays out the row; a long text takes several.
    pub fn lay_out(&self, layout: RowLayout) -> Vec<Line<'static>> {
        let ground = self.change.ground();
        let gutter = layout.gutter_text(self.numbers.0, self.numbers.1);
        let (sign, style) = self.change.sign();
        let mut parts = vec![(sign.to_owned(), style), (" ".to_owned(), ground)];
        parts.extend(self.text_parts());
        let rows = match layout.wrapping {
            RowWrapping::Exact => wrap_parts(&parts, &gutter, layout.columns, SIGN_COLUMNS),
            RowWrapping::Words => {
                let number = Span::styled(gutter.clone(), theme::QUIET);
                let parts = parts
                    .into_iter()
                    .map(|(text, style)| Span::styled(text, style));
                let spans: Vec<Span<'_>> = std::iter::once(number).chain(parts).collect();
                wrap_spans(&spans, layout.columns, text_width(&gutter) + SIGN_COLUMNS)
            }
        };
        let rows = rows.into_iter();
        rows.map(|row| fill_row(row, layout.columns, ground))
            .collect()
    }

    /// Splits the text into parts of one style each.
    fn text_parts(&self) -> Vec<(String, Style)> {
        let ground = self.change.ground();
        let base = theme::PLAIN.patch(ground);
        let spans = match &self.code {
            Some(code) => self
                .language
                .highlight_between_strings(self.text, code.clone(), base),
            None => self.language.highlight_line(self.text, base),
        };
        let words = self.changed_ranges();
        let mut parts = Vec::new();
        let mut at = 0;
        for span in spans {
            let (from, to) = (at, at + span.content.len());
            at = to;
            let inside = words
                .iter()
                .filter(|word| word.start < to && word.end > from);
            let mut here = from;
            for word in inside {
                let (start, end) = (word.start.max(from), word.end.min(to));
                parts.push((here..start, span.style));
                parts.push((start..end, span.style.patch(self.change.word_ground())));
                here = end;
            }
            parts.push((here..to, span.style));
        }
        let text = |range: Range<usize>| self.text.get(range).unwrap_or_default().to_owned();
        let parts = parts.into_iter().filter(|(range, _)| !range.is_empty());
        parts.map(|(range, style)| (text(range), style)).collect()
    }

    /// Returns which bytes of the text the other line lacks.
    fn changed_ranges(&self) -> Vec<Range<usize>> {
        let differing = self.other.and_then(|other| match self.change {
            RowChange::Added => diff_words(other, self.text).map(|(_, new)| new),
            RowChange::Removed => diff_words(self.text, other).map(|(old, _)| old),
            RowChange::Same => None,
        });
        let mut at = 0;
        let range = |(text, differs): ComparisonPart<'_>| {
            let range = at..at + text.len();
            at = range.end;
            differs.then_some(range)
        };
        differing.into_iter().flatten().filter_map(range).collect()
    }
}

/// Sets the ground of a row, across the whole width; parts with a ground of their own keep it.
pub fn fill_row(mut row: Line<'static>, columns: usize, ground: Style) -> Line<'static> {
    if ground.bg.is_none() {
        return row;
    }
    for span in &mut row.spans {
        span.style = ground.patch(span.style);
    }
    let left = columns.saturating_sub(row.width());
    if left > 0 {
        row.spans.push(Span::styled(" ".repeat(left), ground));
    }
    row
}

#[derive(Default)]
struct WrappedRow {
    spans: Vec<Span<'static>>,
    columns_used: usize,
}

impl WrappedRow {
    fn push_text(&mut self, text: &str, style: Style) {
        match self.spans.last_mut().filter(|span| span.style == style) {
            Some(span) => span.content.to_mut().push_str(text),
            None => self.spans.push(Span::styled(text.to_owned(), style)),
        }
    }
}

/// Wraps parts where the row ends. Tab stops count from the text, which begins after `before` characters.
pub fn wrap_parts(
    parts: &[(String, Style)],
    gutter: &str,
    columns: usize,
    before: usize,
) -> Vec<Line<'static>> {
    let begin = |n: usize| {
        let mut row = WrappedRow::default();
        let lead = if n > 0 && columns > 8 {
            CONTINUATION_SIGN
        } else {
            ""
        };
        let gutter = match n {
            0 => gutter.to_owned(),
            _ => " ".repeat(text_width(gutter)),
        };
        row.columns_used = text_width(&gutter) + text_width(lead);
        if !gutter.is_empty() {
            row.push_text(&gutter, theme::QUIET);
        }
        if !lead.is_empty() {
            row.push_text(lead, theme::QUIET);
        }
        row
    };
    let graphemes = || parts.iter().flat_map(styled_graphemes);
    let mut column = 0;
    let cells = graphemes().take(MAX_LINE_CHARS).enumerate();
    let cells: Vec<(String, Style)> = cells
        .map(|(n, (grapheme, style))| {
            let cell = match grapheme {
                "\t" => " ".repeat(TAB_WIDTH - column % TAB_WIDTH),
                _ => grapheme.to_owned(),
            };
            if n >= before {
                column += text_width(&cell);
            }
            (cell, style)
        })
        .collect();
    let mut rows: Vec<WrappedRow> = Vec::new();
    let mut rest = cells.as_slice();
    loop {
        let mut row = begin(rows.len());
        let n = n_cells_in_row(rest, columns.saturating_sub(row.columns_used));
        let (now, later) = rest.split_at(n);
        for (cell, style) in now {
            row.push_text(cell, *style);
        }
        rows.push(row);
        rest = later;
        if rest.is_empty() {
            break;
        }
    }
    let n_left = graphemes().skip(MAX_LINE_CHARS).count();
    if let (1.., Some(row), Some((_, style))) = (n_left, rows.last_mut(), cells.last()) {
        row.push_text("…", *style);
        let mut row = begin(rows.len());
        row.push_text(&format!("[{n_left} more characters in this line]"), *style);
        rows.push(row);
    }
    let rows = rows.into_iter();
    rows.map(|row| Line::from(row.spans)).collect()
}

fn styled_graphemes((text, style): &(String, Style)) -> impl Iterator<Item = (&str, Style)> {
    text.graphemes(true).map(|grapheme| (grapheme, *style))
}

/// Returns how many cells a row of these columns takes, at least one: up to the last blank where that fills more than half.
fn n_cells_in_row(cells: &[(String, Style)], columns: usize) -> usize {
    let mut used = 0;
    let fitting = cells.iter().take_while(|(cell, _)| {
        used += text_width(cell);
        used <= columns
    });
    let n = fitting.count().max(1).min(cells.len());
    let is_blank = |(cell, _): &(String, Style)| cell.trim().is_empty();
    if cells.get(n).is_none_or(is_blank) {
        return n;
    }
    // After the sign and the indent.
    let begins = |(cell, _): &(String, Style)| cell.chars().any(char::is_alphanumeric);
    let n_lead = cells.iter().take_while(|cell| !begins(cell)).count();
    let word = cells.iter().take(n).rposition(is_blank);
    let end = word.map(|at| at + 1);
    end.filter(|at| *at > n_lead && at * 2 > n).unwrap_or(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, columns: usize, wanted: &str) {
        let rows = wrap_parts(&[(text.to_owned(), theme::GOOD)], "", columns, 1);
        let rows: Vec<String> = rows.iter().map(ToString::to_string).collect();
        assert_eq!(rows.join("|"), wanted);
    }

    #[test]
    fn a_line_keeps_its_blanks_and_goes_on_in_the_next_row() {
        check("+\ta  b", 20, "+    a  b");
        check("+x\ty", 20, "+x   y");
        check("+0123456789", 10, "+012345678|↪ 9");
        check("+求和求和求", 10, "+求和求和|↪ 求");
        check("+one two three", 10, "+one two |↪ three");
        check("+       abcdef", 10, "+       ab|↪ cdef");
        check("+a 123456789", 10, "+a 1234567|↪ 89");
        check("+123456789 b", 10, "+123456789|↪  b");
        check("", 10, "");
    }

    #[test]
    fn a_line_without_end_is_cut_and_says_so() {
        let text = "x".repeat(MAX_LINE_CHARS + 7);
        let rows = wrap_parts(&[(text, theme::GOOD)], "", 100, 1);
        assert_eq!(rows.len(), 42);
        assert_eq!(rows[41].to_string(), "↪ [7 more characters in this line]");
    }

    #[test]
    fn a_row_has_its_tint_across_the_width_and_a_stronger_one_under_changed_words() {
        let row = DiffRow {
            change: RowChange::Added,
            numbers: (None, Some(7)),
            text: "let b = \"three\"; // c",
            other: Some("let b = \"two\"; // c"),
            language: HighlightLanguage::from_info("rs"),
            code: None,
        };
        let layout = RowLayout {
            columns: 80,
            digits: 1,
            shown_numbers: ShownNumbers::Fitting,
            wrapping: RowWrapping::Exact,
        };
        let rows = row.lay_out(layout);
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].width(), 80);
        let wanted = "      7 + let b = \"three\"; // c";
        assert_eq!(rows[0].to_string().trim_end(), wanted);
        let texts = |style: Style| {
            let spans = rows[0].spans.iter();
            let spans = spans.filter(|span| span.style == style.patch(Surface::Add.style()));
            spans.map(|span| span.content.as_ref()).collect::<Vec<_>>()
        };
        assert_eq!(texts(theme::KEYWORD), ["let"]);
        assert_eq!(texts(theme::COMMENT), ["// c"]);
        assert_eq!(texts(theme::QUIET), ["      7 "]);
        let words = rows[0]
            .spans
            .iter()
            .filter(|span| span.style.bg == Some(Surface::AddWord.color()));
        assert_eq!(
            words.map(|span| span.content.as_ref()).collect::<Vec<_>>(),
            ["three"]
        );
        let narrow = DiffRow {
            change: RowChange::Removed,
            ..row
        };
        let rows = narrow.lay_out(RowLayout {
            columns: 20,
            ..layout
        });
        assert!(rows.iter().all(|row| row.width() == 20), "{rows:?}");
        assert_eq!(rows[0].to_string(), "- let b = \"three\";  ");
    }
}
