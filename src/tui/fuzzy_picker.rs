//! Finds entries by a few letters and draws them as rows to choose from; used by the palette and the completion.

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;

use super::text_wrap::{draw_line, text_width, truncate_to_columns};
use super::theme;

/// What the letters are matched against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FuzzyTarget {
    /// A name; its letters must occur in order, with gaps allowed.
    Names,
    /// A sentence that contains the letters as they are.
    Prose,
    /// A path; the start of a path component scores higher.
    Paths,
}

/// Returns the indexes of the texts that match, the best first, at most `most`. Without letters,
/// all texts in their order.
pub fn best_matches<'a>(
    letters: &str,
    texts: impl Iterator<Item = &'a str>,
    among: FuzzyTarget,
    most: usize,
) -> Vec<usize> {
    if letters.trim().is_empty() {
        return texts.take(most).enumerate().map(|(at, _)| at).collect();
    }
    let config = match among {
        FuzzyTarget::Names | FuzzyTarget::Prose => Config::DEFAULT,
        FuzzyTarget::Paths => Config::DEFAULT.match_paths(),
    };
    let mut matcher = Matcher::new(config);
    let kind = match among {
        FuzzyTarget::Prose => AtomKind::Substring,
        FuzzyTarget::Names | FuzzyTarget::Paths => AtomKind::Fuzzy,
    };
    let (case, accents) = (CaseMatching::Ignore, Normalization::Smart);
    let pattern = Pattern::new(letters, case, accents, kind);
    let mut room = Vec::new();
    let mut found: Vec<(u32, usize)> = texts
        .enumerate()
        .filter_map(|(at, text)| {
            let score = pattern.score(Utf32Str::new(text, &mut room), &mut matcher)?;
            Some((score, at))
        })
        .collect();
    found.sort_by_key(|(score, at)| (std::cmp::Reverse(*score), *at));
    found.into_iter().take(most).map(|(_, at)| at).collect()
}

/// Returns the positions of the matched characters in a text.
pub fn match_positions(letters: &str, text: &str) -> Vec<usize> {
    let mut matcher = Matcher::new(Config::DEFAULT);
    let (case, accents) = (CaseMatching::Ignore, Normalization::Smart);
    let pattern = Pattern::new(letters, case, accents, AtomKind::Fuzzy);
    let (mut room, mut found) = (Vec::new(), Vec::new());
    let text = Utf32Str::new(text, &mut room);
    match pattern.indices(text, &mut matcher, &mut found) {
        Some(_) => found
            .into_iter()
            .filter_map(|at| usize::try_from(at).ok())
            .collect(),
        None => Vec::new(),
    }
}

/// One row to choose from: a name, a description, and a key at the right.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PickerRow {
    /// The name, safe to draw.
    pub name: String,
    /// The description, safe to draw; may be empty.
    pub about: String,
    /// The key at the right edge; may be empty.
    pub key: String,
    /// The indexes of the matched characters of the name.
    pub matched_chars: Vec<usize>,
    /// Whether its command has no effect now.
    pub is_idle: bool,
    /// The heading of the row's group, shown above the group's first row; may be empty.
    pub heading: String,
}

/// Draws as many rows as fit, including the chosen one; returns the area of each row, for the mouse.
pub fn draw_rows(
    frame: &mut Frame,
    area: Rect,
    rows: &[PickerRow],
    chosen: usize,
) -> Vec<(Rect, usize)> {
    let mut places = Vec::new();
    let n_shown = usize::from(area.height);
    let lines = insert_headings(rows);
    let below = lines
        .iter()
        .position(|line| *line == PickerLine::Row(chosen));
    let from = (below.unwrap_or(0) + 1).saturating_sub(n_shown);
    let widest = rows
        .iter()
        .map(|row| text_width(&row.name))
        .max()
        .unwrap_or(0);
    let columns = usize::from(area.width);
    let names = widest.min(columns / 2);
    for (n, line) in lines.into_iter().skip(from).take(n_shown).enumerate() {
        let place = Rect {
            y: area.y.saturating_add(u16::try_from(n).unwrap_or(u16::MAX)),
            height: 1,
            ..area
        };
        match line {
            PickerLine::Heading(heading) => {
                let heading = truncate_to_columns(&format!("── {heading} "), columns);
                draw_line(frame, &Line::styled(heading, theme::QUIET), place);
            }
            PickerLine::Row(at) => {
                if let Some(row) = rows.get(at) {
                    draw_line(frame, &row_line(row, at == chosen, columns, names), place);
                    places.push((place, at));
                }
            }
        }
    }
    places
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum PickerLine {
    Heading(String),
    /// A row, by its index.
    Row(usize),
}

/// Returns the rows with a heading above the first row of each group.
fn insert_headings(rows: &[PickerRow]) -> Vec<PickerLine> {
    let mut lines = Vec::new();
    let mut before = "";
    for (at, row) in rows.iter().enumerate() {
        if row.heading != before {
            lines.push(PickerLine::Heading(row.heading.clone()));
        }
        before = &row.heading;
        lines.push(PickerLine::Row(at));
    }
    lines
}

/// Returns how many lines the rows and their headings take.
pub fn line_count(rows: &[PickerRow]) -> usize {
    insert_headings(rows).len()
}

fn row_line(row: &PickerRow, is_chosen: bool, columns: usize, names: usize) -> Line<'static> {
    let sign = if is_chosen { "▸ " } else { "  " };
    let name = truncate_to_columns(
        &row.name,
        if row.about.is_empty() {
            columns.saturating_sub(2)
        } else {
            names
        },
    );
    let gap = names.saturating_sub(text_width(&name)) + 2;
    let room = columns.saturating_sub(2 + text_width(&name) + gap + text_width(&row.key) + 1);
    let about = truncate_to_columns(&row.about, room);
    let rest = room.saturating_sub(text_width(&about)) + 1;
    let (name_style, about_style) = match (is_chosen, row.is_idle) {
        (true, _) => (theme::PICKED, theme::PLAIN),
        (false, false) => (theme::STRONG, theme::QUIET),
        (false, true) => (theme::QUIET, theme::QUIET),
    };
    let mut spans = vec![Span::styled(sign, theme::KEY)];
    let mut at = 0;
    // A grapheme of several characters is highlighted as a whole.
    spans.extend(name.graphemes(true).map(|sign| {
        let letters = at..at + sign.chars().count();
        at = letters.end;
        let style = if row.matched_chars.iter().any(|lit| letters.contains(lit)) {
            name_style.patch(theme::KEY).underlined()
        } else {
            name_style
        };
        Span::styled(sign.to_owned(), style)
    }));
    if !row.about.is_empty() || !row.key.is_empty() {
        spans.push(Span::raw(" ".repeat(gap)));
        spans.push(Span::styled(about, about_style));
        spans.push(Span::raw(" ".repeat(rest)));
        spans.push(Span::styled(row.key.clone(), theme::KEY));
    }
    Line::from(spans)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(letters: &str, wanted: &[&str]) {
        let texts = [
            "src/main.rs",
            "src/tui/composer.rs",
            "docs/目录.md",
            "README.md",
        ];
        let found = best_matches(letters, texts.into_iter(), FuzzyTarget::Paths, 3);
        let found: Vec<&str> = found.into_iter().map(|at| texts[at]).collect();
        assert_eq!(found, wanted, "{letters}");
    }

    #[test]
    fn a_few_letters_find_what_is_meant() {
        check("tuicomp", &["src/tui/composer.rs"]);
        check("readme", &["README.md"]);
        check("目", &["docs/目录.md"]);
        check("zzz", &[]);
        check("", &["src/main.rs", "src/tui/composer.rs", "docs/目录.md"]);
    }
}
