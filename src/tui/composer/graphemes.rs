//! Grapheme boundaries of a line: a letter with its accents, or an emoji of several code points, counts as
//! one unit.
//!
//! Positions are counted in characters, as in the text area.

use unicode_segmentation::UnicodeSegmentation;

/// Returns the start of the grapheme that ends at a position or contains it; the position itself
/// at the start of the line.
pub fn grapheme_start(line: &str, place: usize) -> usize {
    let edges = grapheme_boundaries(line).take_while(|edge| *edge < place);
    edges.last().unwrap_or(place)
}

/// Returns the end of the grapheme that starts at a position or contains it; the position
/// itself at the end of the line.
pub fn grapheme_end(line: &str, place: usize) -> usize {
    grapheme_boundaries(line)
        .find(|edge| *edge > place)
        .unwrap_or(place)
}

/// Returns whether a position is inside a grapheme.
pub fn is_inside_grapheme(line: &str, place: usize) -> bool {
    grapheme_boundaries(line).find(|edge| *edge >= place) != Some(place)
}

/// Returns whether a character joins the last grapheme of a text.
pub fn joins_last_grapheme(text: &str, c: char) -> bool {
    let last = text.graphemes(true).next_back();
    last.is_some_and(|last| format!("{last}{c}").graphemes(true).count() == 1)
}

/// Returns the part of a line between two positions.
pub fn slice_chars(line: &str, from: usize, to: usize) -> String {
    line.chars()
        .skip(from)
        .take(to.saturating_sub(from))
        .collect()
}

/// Returns the positions between graphemes.
fn grapheme_boundaries(line: &str) -> impl Iterator<Item = usize> {
    let ends = line.graphemes(true).scan(0, |place, sign| {
        *place += sign.chars().count();
        Some(*place)
    });
    std::iter::once(0).chain(ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_of_several_characters_is_one() {
        // Three graphemes of one, five and two characters.
        let line = "a👩‍👩‍👧e\u{301}";
        assert_eq!(
            [
                grapheme_start(line, 6),
                grapheme_start(line, 3),
                grapheme_start(line, 0)
            ],
            [1, 1, 0]
        );
        assert_eq!(
            [
                grapheme_end(line, 1),
                grapheme_end(line, 3),
                grapheme_end(line, 8)
            ],
            [6, 6, 8]
        );
        let within: Vec<usize> = (0..=8)
            .filter(|place| is_inside_grapheme(line, *place))
            .collect();
        assert_eq!(within, [2, 3, 4, 5, 7]);
        assert_eq!(slice_chars(line, 1, 6), "👩‍👩‍👧");
        assert!(joins_last_grapheme("👩", '\u{200d}') && joins_last_grapheme("🇩", '🇪'));
        assert!(!joins_last_grapheme("🇩🇪", '🇫') && !joins_last_grapheme("", '\u{301}'));
    }
}
