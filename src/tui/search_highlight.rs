//! Finds letters in laid-out lines, tracks the current match, and highlights matches.
//!
//! Wrapped rows count as one text, so that a match can span a line break.

use std::ops::Range;

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthChar;

use super::theme;

/// A search in the lines of a page, and its matches.
#[derive(Debug, Default)]
pub struct SearchMatches {
    /// The letters, in lower case; empty without a search.
    letters: String,
    text: SearchableText,
    matches: Vec<Range<usize>>,
    /// The index of the current match.
    current: usize,
    /// The row from which the first match is wanted, until it is found.
    first_wanted_row: Option<usize>,
    /// The version of the lines that the matches belong to.
    version: Option<u64>,
}

impl SearchMatches {
    /// Starts a search, ignoring case; the first match at or after row `from` becomes current.
    pub fn search(&mut self, letters: &str, from: usize) {
        *self = Self {
            letters: letters.to_lowercase(),
            first_wanted_row: Some(from),
            ..Self::default()
        };
    }

    /// Returns whether a search is active.
    pub fn is_searching(&self) -> bool {
        !self.letters.is_empty()
    }

    /// Finds the matches again if the lines have changed.
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

    /// Goes to the next or previous match, wrapping around at the ends.
    pub fn step_match(&mut self, is_next: bool) {
        let n = self.matches.len().max(1);
        self.current = if is_next {
            (self.current + 1) % n
        } else {
            (self.current + n - 1) % n
        };
    }

    /// Returns which match is current, from 1, and how many there are; 0 without matches.
    pub fn match_position(&self) -> (usize, usize) {
        let n = self.matches.len();
        ((self.current + 1).min(n), n)
    }

    /// Returns the row of the current match.
    pub fn current_row(&self) -> Option<usize> {
        let hit = self.matches.get(self.current)?;
        Some(self.text.row_at(hit.start))
    }

    /// Highlights the matches in a row.
    pub fn highlight_row(&self, row: usize, line: Line<'static>) -> Line<'static> {
        self.highlight_row_with(row, line, |n| match_style(n == self.current))
    }

    /// Highlights the matches in a row, with a style for each match index.
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

/// Highlights letters, given in lower case, in lines; either as the current match or as another one.
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
        theme::CURRENT_MATCH
    } else {
        theme::SEARCH_MATCH
    }
}

/// Rows joined into one text in lower case.
#[derive(Debug, Default)]
struct SearchableText {
    text: String,
    rows: Vec<SearchableRow>,
}

/// The position of a row in the joined text.
#[derive(Debug, Clone, Copy)]
struct SearchableRow {
    /// Its first byte in the text.
    from: usize,
    /// Its length in the text, in bytes.
    n: usize,
    /// How many bytes at the start of the row are left out.
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
        // Text in wide characters can be wrapped anywhere, so no space is inserted between its rows.
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

    /// Applies other styles to ranges of a row, given in the joined text.
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

/// Splits a span at the edges of the ranges; `at` is the span's byte range in its line.
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

/// Returns the byte offset in a text for an offset in its lower-case form, whose letters can differ in length.
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

/// Returns whether a character at a row's edge is not text: a space or the selection mark.
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

    /// Compares the highlighted parts of each row; `>` marks the current match.
    fn check(rows: &[&str], letters: &str, wanted: &str) {
        let found = found(rows, letters);
        let mut told = Vec::new();
        for (n, row) in rows.iter().enumerate() {
            let line = found.highlight_row(n, Line::raw((*row).to_owned()));
            assert_eq!(line.to_string(), *row);
            told.extend(line.spans.iter().filter_map(|span| match span.style {
                style if style == theme::CURRENT_MATCH => Some(format!(">{}", span.content)),
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
