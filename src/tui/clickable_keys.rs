//! Clickable hints: a click on a hint presses the key that it names.
//!
//! The drawing code marks hints, and the finished frame shows where the marks are, so scrolling and truncation need no
//! extra work. Only the program's own texts are marked: an agent must not be able to place a key on the screen.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::keymap::KeyChord;
use super::text_wrap::{text_width, truncate_to_columns};
use super::theme;

/// The mark. No style of the screen uses this modifier, and it is removed before the terminal gets the frame.
const HINT_MARK: Modifier = Modifier::SLOW_BLINK;

/// The area of each hint, and the key that it names.
pub type KeyHintAreas = Vec<(Rect, KeyChord)>;

/// What can precede a hint, besides the start of a text.
const HINT_PREFIXES: [&str; 11] = [
    " · ", "(", "; ", ", ", ". ", "? ", "  ", "… ", "› ", "Press ", " or ",
];
/// What ends a hint, besides the end of a text.
const HINT_SUFFIXES: [&str; 8] = [" · ", " (", ")", "; ", ", ", ".", "  ", " or "];

/// Marks the style of a hint that starts with its key, or of a text that contains hints.
pub const fn mark_hint(style: Style) -> Style {
    style.add_modifier(HINT_MARK)
}

/// Removes the mark from a style and returns whether it was there.
pub fn strip_hint_mark(style: Style) -> (Style, bool) {
    let is_marked = style.add_modifier.contains(HINT_MARK);
    let style = Style {
        add_modifier: style.add_modifier - HINT_MARK,
        ..style
    };
    (style, is_marked)
}

/// Splits one of the program's texts into spans and marks its hints: from the name of a key to
/// the end of its description.
pub fn hint_spans(text: &str, style: Style) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    let (mut plain, mut rest) = (String::new(), text);
    let mut was_bare = false;
    while let Some(next) = rest.chars().next() {
        let begins = plain.trim().is_empty() && spans.is_empty()
            || HINT_PREFIXES.iter().any(|before| plain.ends_with(before))
            || was_bare && plain.trim().is_empty();
        if begins && let Some((hint, is_bare)) = parse_hint(rest) {
            if !plain.is_empty() {
                spans.push(Span::styled(std::mem::take(&mut plain), style));
            }
            spans.push(Span::styled(hint.to_owned(), mark_hint(style)));
            rest = rest.get(hint.len()..).unwrap_or_default();
            was_bare = is_bare;
            continue;
        }
        plain.push(next);
        rest = rest.get(next.len_utf8()..).unwrap_or_default();
    }
    if !plain.is_empty() {
        spans.push(Span::styled(plain, style));
    }
    spans
}

/// Returns a line about a dialog that is covered, with the key that goes to it.
pub fn waiting_behind_line(what: &str, back: &str, columns: usize) -> Line<'static> {
    let hint = format!(" ({back} goes there)");
    let what = truncate_to_columns(
        &format!("? {what}"),
        columns.saturating_sub(text_width(&hint)),
    );
    let mut spans = vec![Span::styled(what, theme::NEEDS_YOU)];
    spans.extend(hint_spans(&hint, theme::NEEDS_YOU));
    Line::from(spans)
}

/// Parses the hint at the start of a text; the flag says whether it is only a key, followed by another one.
fn parse_hint(text: &str) -> Option<(&str, bool)> {
    let (_, n_bytes) = parse_key_label(text)?;
    let behind = text.get(n_bytes..)?;
    if !behind.starts_with(':') && parse_key_label(behind.trim_start()).is_some() {
        return Some((text.get(..n_bytes)?, true));
    }
    let ends = HINT_SUFFIXES.iter().filter_map(|end| behind.find(end));
    let end = ends.min().unwrap_or(behind.len());
    let hint = text.get(..n_bytes + end)?.trim_end();
    Some((hint, false))
}

/// Parses the key name at the start of a text and returns its length in bytes.
fn parse_key_label(text: &str) -> Option<(KeyChord, usize)> {
    let end = text.find([' ', ')']).unwrap_or(text.len());
    let word = text.get(..end)?;
    // Arrows are written without a space between them.
    let first = word.chars().next()?;
    if let Some(key) =
        KeyChord::parse_label(&word[..first.len_utf8()]).filter(|_| !first.is_ascii())
    {
        return Some((key, first.len_utf8()));
    }
    let word = match word.strip_suffix(':') {
        Some(before) if !before.is_empty() => before,
        _ => word,
    };
    KeyChord::parse_label(word).map(|key| (key, word.len()))
}

/// Returns the column of the first marked cell of a row, starting at `x`.
fn next_marked_column(buffer: &Buffer, x: u16, y: u16) -> Option<u16> {
    let area = buffer.area;
    let columns = usize::from(area.width);
    let row = usize::from(y.checked_sub(area.y)?) * columns;
    let begin = row + usize::from(x.checked_sub(area.x)?);
    let mut cells = buffer.content.get(begin..row + columns)?.iter();
    let ahead = cells.position(|cell| cell.modifier.contains(HINT_MARK))?;
    x.checked_add(u16::try_from(ahead).ok()?)
}

/// Removes the marks from a finished frame and returns the areas of the hints.
pub fn extract_hint_areas(buffer: &mut Buffer) -> KeyHintAreas {
    let area = buffer.area;
    let mut hints = KeyHintAreas::new();
    for y in area.top()..area.bottom() {
        let mut x = area.left();
        while let Some(from) = next_marked_column(buffer, x, y) {
            x = from;
            let mut text = String::new();
            while let Some(cell) = buffer.cell_mut(Position::new(x, y))
                && x < area.right()
                && cell.modifier.contains(HINT_MARK)
            {
                cell.modifier.remove(HINT_MARK);
                text.push_str(cell.symbol());
                // A wide character also takes the next cell.
                x += u16::try_from(text_width(cell.symbol()).max(1)).unwrap_or(1);
            }
            let place = Rect::new(from, y, x.min(area.right()) - from, 1);
            hints.extend(key_areas(&text, place));
            x = x.max(from + 1);
        }
    }
    hints
}

/// Returns the keys at the start of a marked text, each with its area; the last one includes the description. A button has
/// its key at the end.
fn key_areas(text: &str, place: Rect) -> KeyHintAreas {
    let last = text.rsplit(' ').next().unwrap_or_default();
    if let (None, Some((key, _))) = (parse_key_label(text), parse_key_label(last)) {
        return vec![(place, key)];
    }
    let mut hints = KeyHintAreas::new();
    let (mut rest, mut place) = (text, place);
    while let Some((key, n_bytes)) = parse_key_label(rest) {
        let (name, behind) = rest.split_at(n_bytes);
        let columns = u16::try_from(text_width(name)).unwrap_or(u16::MAX);
        match parse_key_label(behind).filter(|_| !behind.starts_with(':')) {
            Some(_) if columns < place.width => {
                hints.push((
                    Rect {
                        width: columns,
                        ..place
                    },
                    key,
                ));
                place.x += columns;
                place.width -= columns;
                rest = behind;
            }
            _ => {
                hints.push((place, key));
                break;
            }
        }
    }
    hints
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, wanted: &[&str]) {
        let spans = hint_spans(text, Style::new());
        let whole: String = spans.iter().map(|span| span.content.as_ref()).collect();
        assert_eq!(whole, text);
        let found: Vec<&str> = spans
            .iter()
            .filter(|span| strip_hint_mark(span.style).1)
            .map(|span| span.content.as_ref())
            .collect();
        assert_eq!(found, wanted, "{text}");
    }

    #[test]
    fn a_button_presses_the_key_at_its_end() {
        let place = Rect::new(3, 1, 15, 1);
        let keys = |text| -> Vec<String> {
            let areas = key_areas(text, place).into_iter();
            areas
                .map(|(area, key)| format!("{} at {} wide {}", key.label(), area.x, area.width))
                .collect()
        };
        assert_eq!(keys("See the diff  D"), ["D at 3 wide 15"]);
        assert_eq!(keys("copy merge Ctrl+Y"), ["Ctrl+Y at 3 wide 15"]);
        assert_eq!(keys("D See the diff"), ["D at 3 wide 15"]);
        assert_eq!(keys("a word of no key"), Vec::<String>::new());
    }

    #[test]
    fn a_hint_is_a_key_and_what_is_said_of_it() {
        check("a word of no key", &[]);
        check(
            "↑↓ choose · Enter does it · Esc closes",
            &["↑", "↓ choose", "Enter does it", "Esc closes"],
        );
        check(
            "── 0% · End follows again · PgUp PgDn ",
            &["End follows again", "PgUp", "PgDn"],
        );
        check("… V shows all of it", &["V shows all of it"]);
        check("  (Q closes)  / finds", &["Q closes", "/ finds"]);
        check(
            "Tab or Enter completes · Esc closes",
            &["Tab", "Enter completes", "Esc closes"],
        );
        check(
            "Enter opens a session, Esc goes back.",
            &["Enter opens a session", "Esc goes back"],
        );
        check(" Plan · \\ hides it ", &["\\ hides it"]);
        check(
            "› Press I to write, / for commands",
            &["I to write", "/ for commands"],
        );
        check(
            "You are writing below · Esc or Enter returns here",
            &["Esc", "Enter returns here"],
        );
        check(
            "What is it? Enter: say it (F2: another)",
            &["Enter: say it", "F2: another"],
        );
    }

    #[test]
    fn a_frame_tells_where_its_hints_stand_and_shows_no_mark() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 30, 1));
        let line = Line::from(hint_spans("↑↓ go · Enter: 返回 it", Style::new()));
        buffer.set_line(2, 0, &line, 28);
        let hints = extract_hint_areas(&mut buffer);
        let told: Vec<(u16, u16, String)> = hints
            .iter()
            .map(|(place, key)| (place.x, place.width, key.label()))
            .collect();
        let wanted = [(2, 1, "↑"), (3, 4, "↓"), (10, 14, "Enter")];
        let wanted = wanted.map(|(x, width, key)| (x, width, key.to_owned()));
        assert_eq!(told, wanted);
        assert!(buffer.content.iter().all(|cell| cell.modifier.is_empty()));
    }
}
