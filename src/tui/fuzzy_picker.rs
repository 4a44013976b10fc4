//! Finds entries by a few letters, for the palette and the completion, and draws suggestions as rows to choose from.

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
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

/// One suggestion: a name and what it means.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PickerRow {
    /// The name, safe to draw.
    pub name: String,
    /// The description, safe to draw; may be empty.
    pub about: String,
    /// Stands for the description where that does not fit; may be empty.
    pub title: String,
    /// The indexes of the matched characters of the name.
    pub matched_chars: Vec<usize>,
    /// Whether its command has no effect now.
    pub is_idle: bool,
}

/// A description that does not fit is left out where it would have fewer columns than this.
const MIN_ABOUT_COLUMNS: usize = 24;

/// Draws as many rows as fit, including the chosen one; returns the area of each row, for the mouse.
pub fn draw_rows(
    frame: &mut Frame,
    area: Rect,
    rows: &[PickerRow],
    chosen: usize,
) -> Vec<(Rect, usize)> {
    let n_shown = usize::from(area.height);
    let from = (chosen + 1).saturating_sub(n_shown);
    let names = rows.iter().map(|row| text_width(&row.name));
    let columns = usize::from(area.width);
    let names = names.max().unwrap_or(0).min(columns / 2);
    let places = area.rows().zip(from..);
    let shown = places.zip(rows.iter().skip(from));
    let shown = shown.map(|((place, at), row)| {
        draw_line(frame, &row_line(row, at == chosen, columns, names), place);
        (place, at)
    });
    shown.collect()
}

fn row_line(row: &PickerRow, is_chosen: bool, columns: usize, names: usize) -> Line<'static> {
    let sign = if is_chosen { "▸ " } else { "  " };
    let all = columns.saturating_sub(2);
    let room = columns.saturating_sub(2 + names + 2 + 1);
    let is_long = text_width(&row.about) > room && !row.title.is_empty();
    let about = if is_long { &row.title } else { &row.about };
    // A few letters of a description say nothing; the name has more use for the room.
    let is_useless = room < MIN_ABOUT_COLUMNS && text_width(about) > room;
    let about = if is_useless { "" } else { about.as_str() };
    let name = truncate_to_columns(&row.name, if about.is_empty() { all } else { names });
    let gap = names.saturating_sub(text_width(&name)) + 2;
    let style = if row.is_idle {
        theme::QUIET
    } else {
        theme::STRONG
    };
    let mut spans = vec![Span::styled(sign, theme::ACCENT)];
    spans.extend(matched_spans(&name, &row.matched_chars, style));
    spans.push(Span::raw(" ".repeat(gap)));
    spans.push(Span::styled(truncate_to_columns(about, room), theme::QUIET));
    list_line(spans, is_chosen)
}

/// Returns a row of a list. The chosen one is filled as a button is, and its words have one colour.
pub fn list_line(spans: Vec<Span<'static>>, is_chosen: bool) -> Line<'static> {
    if !is_chosen {
        return Line::from(spans);
    }
    let spans = spans.into_iter().map(|span| {
        let kept = Style::new().add_modifier(span.style.add_modifier);
        Span::styled(span.content, kept)
    });
    Line::from_iter(spans).style(theme::CHOSEN)
}

/// Returns a name with its matched characters underlined.
pub fn matched_spans(name: &str, matched_chars: &[usize], style: Style) -> Vec<Span<'static>> {
    let mut at = 0;
    // A grapheme of several characters is highlighted as a whole.
    let signs = name.graphemes(true).map(|sign| {
        let letters = at..at + sign.chars().count();
        at = letters.end;
        let style = if matched_chars.iter().any(|lit| letters.contains(lit)) {
            style.patch(theme::KEY).underlined()
        } else {
            style
        };
        Span::styled(sign.to_owned(), style)
    });
    signs.collect()
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
