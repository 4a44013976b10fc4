//! Letters that are looked for in laid out lines: where they stand, which of them is at hand, and lines with
//! them lit.
//!
//! What a narrow window broke is one text here. Refuses to know what the lines are of.

use std::ops::Range;

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthChar;

use super::theme;

/// What is looked for in the lines of a page, and where it was found.
#[derive(Debug, Default)]
pub struct SearchMatches {
    /// The letters, in lower case; empty where nothing is looked for.
    letters: String,
    text: SearchableText,
    matches: Vec<Range<usize>>,
    /// Which of them is at hand, from 0.
    current: usize,
    /// The row from which on the first one is wanted, until it is known.
    first_wanted_row: Option<usize>,
    /// Which lines the places are of.
    version: Option<u64>,
}

impl SearchMatches {
    /// Looks for other letters, whatever their case; the first one wanted is that in this row or behind it.
    pub fn search(&mut self, letters: &str, from: usize) {
        *self = Self {
            letters: letters.to_lowercase(),
            first_wanted_row: Some(from),
            ..Self::default()
        };
    }

    /// Tells whether there is something to look for.
    pub fn is_searching(&self) -> bool {
        !self.letters.is_empty()
    }

    /// Finds the letters in lines, where these are others than before.
    pub fn update_matches(&mut self, lines: &[Line<'_>], version: u64) {
        if self.letters.is_empty() || self.version == Some(version) {
            return;
        }
        self.version = Some(version);
        self.text = SearchableText::from_lines(lines);
        self.matches = self.text.find_matches(&self.letters);
        self.current = match self.first_wanted_row.take() {
            Some(from) => {
                let is_behind = |hit: &Range<usize>| self.text.row_at(hit.start) >= from;
                self.matches.iter().position(is_behind).unwrap_or(0)
            }
            None => self.current.min(self.matches.len().saturating_sub(1)),
        };
    }

    /// Goes to the next place, or the one before; around the ends.
    pub fn step_match(&mut self, is_next: bool) {
        let n = self.matches.len().max(1);
        self.current = if is_next {
            (self.current + 1) % n
        } else {
            (self.current + n - 1) % n
        };
    }

    /// Which place of how many is at hand, from 1; 0 where there is none.
    pub fn match_position(&self) -> (usize, usize) {
        let n = self.matches.len();
        ((self.current + 1).min(n), n)
    }

    /// The row of the place at hand.
    pub fn current_row(&self) -> Option<usize> {
        let hit = self.matches.get(self.current)?;
        Some(self.text.row_at(hit.start))
    }

    /// A row with what was found in it lit.
    pub fn highlight_row(&self, row: usize, line: Line<'static>) -> Line<'static> {
        self.highlight_row_with(row, line, |n| match_style(n == self.current))
    }

    /// A row with each place, by its number, lit in a style.
    fn highlight_row_with(
        &self,
        row: usize,
        line: Line<'static>,
        style: impl Fn(usize) -> Style,
    ) -> Line<'static> {
        let Some(within) = self.text.row_range(row) else {
            return line;
        };
        let first = self.matches.partition_point(|hit| hit.end <= within.start);
        let hits = self.matches.iter().enumerate().skip(first);
        let here = hits.take_while(|(_, hit)| hit.start < within.end);
        let lit: Vec<(Range<usize>, Style)> = here
            .map(|(n, hit)| {
                let part = hit.start.max(within.start)..hit.end.min(within.end);
                (part, style(n))
            })
            .collect();
        self.text.highlight_row(row, line, &lit)
    }
}

/// Lines with letters lit, which are given in lower case; as what is at hand, or as one of the others.
pub fn highlight_lines(
    lines: Vec<Line<'static>>,
    letters: &str,
    is_at_hand: bool,
) -> Vec<Line<'static>> {
    let mut found = SearchMatches::default();
    found.search(letters, 0);
    found.update_matches(&lines, 0);
    let lines = lines.into_iter().enumerate();
    lines
        .map(|(row, line)| found.highlight_row_with(row, line, |_| match_style(is_at_hand)))
        .collect()
}

fn match_style(is_at_hand: bool) -> Style {
    if is_at_hand {
        theme::PICKED
    } else {
        theme::SEARCH_MATCH
    }
}

/// Rows as one text in lower case.
#[derive(Debug, Default)]
struct SearchableText {
    text: String,
    rows: Vec<SearchableRow>,
}

/// Where a row stands in the text.
#[derive(Debug, Clone, Copy)]
struct SearchableRow {
    /// Its first byte in the text.
    from: usize,
    /// How many bytes it has there.
    n: usize,
    /// How many bytes of the row are left out before.
    lead: usize,
}

impl SearchableText {
    fn from_lines(lines: &[Line<'_>]) -> Self {
        let mut joined = Self::default();
        for line in lines {
            joined.push_row(&line.to_string());
        }
        joined
    }

    fn push_row(&mut self, row: &str) {
        let behind = row.trim_start_matches(is_row_edge);
        let body = behind.trim_end_matches(is_row_edge).to_lowercase();
        let last = self.text.chars().next_back();
        // Between wide letters a row ends anywhere.
        let is_broken =
            last.is_some_and(is_wide_char) && body.chars().next().is_some_and(is_wide_char);
        if !is_broken && last.is_some() {
            self.text.push(if body.is_empty() { '\n' } else { ' ' });
        }
        self.rows.push(SearchableRow {
            from: self.text.len(),
            n: body.len(),
            lead: row.len() - behind.len(),
        });
        self.text.push_str(&body);
    }

    fn find_matches(&self, letters: &str) -> Vec<Range<usize>> {
        let places = self.text.match_indices(letters);
        places.map(|(at, hit)| at..at + hit.len()).collect()
    }

    fn row_at(&self, at: usize) -> usize {
        let behind = self.rows.partition_point(|row| row.from <= at);
        behind.saturating_sub(1)
    }

    fn row_range(&self, row: usize) -> Option<Range<usize>> {
        self.rows.get(row).map(|row| row.from..row.from + row.n)
    }

    /// A row with some ranges of the text in other styles.
    fn highlight_row(
        &self,
        row: usize,
        line: Line<'static>,
        lit: &[(Range<usize>, Style)],
    ) -> Line<'static> {
        let Some(row) = self.rows.get(row).filter(|_| !lit.is_empty()) else {
            return line;
        };
        let text = line.to_string();
        let body = text.get(row.lead..).unwrap_or_default();
        let own = |at: usize| row.lead + original_offset(body, at.saturating_sub(row.from));
        let lit: Vec<(Range<usize>, Style)> = lit
            .iter()
            .map(|(range, style)| (own(range.start)..own(range.end), *style))
            .collect();
        let mut spans = Vec::new();
        let mut from = 0;
        for span in line.spans {
            let to = from + span.content.len();
            spans.extend(split_span(&span, from..to, &lit));
            from = to;
        }
        Line { spans, ..line }
    }
}

/// A span, which stands at these bytes of its line, cut where a range begins or ends.
fn split_span(
    span: &Span<'static>,
    at: Range<usize>,
    lit: &[(Range<usize>, Style)],
) -> Vec<Span<'static>> {
    let mut parts = Vec::new();
    let mut from = at.start;
    let mut push = |range: Range<usize>, style: Style| {
        let part = span
            .content
            .get(range.start - at.start..range.end - at.start);
        if let Some(part) = part.filter(|part| !part.is_empty()) {
            parts.push(Span::styled(part.to_owned(), style));
        }
    };
    for (range, style) in lit {
        let (begin, end) = (
            range.start.clamp(from, at.end),
            range.end.clamp(from, at.end),
        );
        push(from..begin, span.style);
        push(begin..end, span.style.patch(*style));
        from = end;
    }
    push(from..at.end, span.style);
    parts
}

/// The byte of a text that stands at a byte of the same text in lower case, where letters may be longer or shorter.
fn original_offset(text: &str, lower: usize) -> usize {
    let mut seen = 0;
    for (at, c) in text.char_indices() {
        if seen >= lower {
            return at;
        }
        seen += c.to_lowercase().map(char::len_utf8).sum::<usize>();
    }
    text.len()
}

/// Tells whether a letter is no text at a row's edge: a blank, or the mark of what is pointed at.
fn is_row_edge(c: char) -> bool {
    c.is_whitespace() || c == '▌'
}

fn is_wide_char(c: char) -> bool {
    c.width() == Some(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(rows: &[&str], letters: &str) -> SearchMatches {
        let lines: Vec<Line<'static>> = rows
            .iter()
            .map(|row| Line::raw((*row).to_owned()))
            .collect();
        let mut found = SearchMatches::default();
        found.search(letters, 0);
        found.update_matches(&lines, 1);
        found
    }

    /// The parts of each row that are lit, `>` before what is at hand.
    fn check(rows: &[&str], letters: &str, wanted: &str) {
        let found = found(rows, letters);
        let mut told = Vec::new();
        for (n, row) in rows.iter().enumerate() {
            let line = found.highlight_row(n, Line::raw((*row).to_owned()));
            assert_eq!(line.to_string(), *row);
            told.extend(line.spans.iter().filter_map(|span| match span.style {
                style if style == theme::PICKED => Some(format!(">{}", span.content)),
                style if style == theme::SEARCH_MATCH => Some(span.content.to_string()),
                _ => None,
            }));
        }
        assert_eq!(told.join("|"), wanted, "{rows:?}");
    }

    #[test]
    fn letters_are_found_whatever_their_case_and_wherever_a_row_ends() {
        check(&["A list, a LIST"], "list", ">list|LIST");
        check(&["▌an empty", "   list of"], "Empty List", ">empty|>list");
        check(&["an empty", "", "list"], "empty list", "");
        check(&["写求", "和 🎉"], "求和", ">求|>和");
        check(&["İstanbul istanbul"], "istanbul", ">istanbul");
        check(&["aaa"], "aa", ">aa");
        check(&["x"], "", "");
    }

    #[test]
    fn one_goes_around_from_where_one_stood() {
        let mut found = SearchMatches::default();
        let lines: Vec<Line<'static>> = ["a", "b", "a", "a"].map(Line::raw).to_vec();
        found.search("A", 1);
        found.update_matches(&lines, 1);
        assert_eq!(
            (found.match_position(), found.current_row()),
            ((2, 3), Some(2))
        );
        found.step_match(true);
        found.step_match(true);
        assert_eq!(
            (found.match_position(), found.current_row()),
            ((1, 3), Some(0))
        );
        found.step_match(false);
        assert_eq!(
            (found.match_position(), found.current_row()),
            ((3, 3), Some(3))
        );
        found.update_matches(&lines[..1], 2);
        assert_eq!(
            (found.match_position(), found.current_row()),
            ((1, 1), Some(0))
        );
        found.update_matches(&[], 3);
        found.step_match(true);
        assert_eq!(
            (found.match_position(), found.current_row()),
            ((0, 0), None)
        );
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(128))]
        #[test]
        fn lighting_changes_no_letter(rows in proptest::collection::vec("[aAİΣ求 ▌ß]{0,6}", 0..6), letters in "[aiσ求 s]{1,2}") {
            let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
            let found = found(&rows, &letters);
            for (n, row) in rows.iter().enumerate() {
                let line = found.highlight_row(n, Line::raw((*row).to_owned()));
                proptest::prop_assert_eq!(line.to_string(), *row);
            }
        }
    }
}
