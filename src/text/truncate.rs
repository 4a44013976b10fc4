//! Cuts texts to a limit without splitting a character.
//!
//! Limits count bytes, characters or lines.

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

/// Replaces the part that was cut.
pub const ELLIPSIS: &str = "…";

/// Cuts a text to at most `limit` bytes, including the ellipsis (three bytes).
///
/// Only the place of the cut is read, however long the text is.
pub fn to_bytes(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let (ellipsis, room) = match limit.checked_sub(ELLIPSIS.len()) {
        Some(room) => (ELLIPSIS, room),
        None => ("", limit),
    };
    let kept = text.get(..last_boundary(text, room)).unwrap_or_default();
    format!("{kept}{ellipsis}")
}

/// Returns where the last grapheme within the first `room` bytes ends.
fn last_boundary(text: &str, room: usize) -> usize {
    let at = text.floor_char_boundary(room);
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    match cursor.is_boundary(text, 0) {
        Ok(true) => at,
        // The cursor has the whole text, so it cannot ask for more context.
        Ok(false) | Err(_) => cursor.prev_boundary(text, 0).ok().flatten().unwrap_or(0),
    }
}

/// Cuts a text to at most `limit` characters (code points), including the ellipsis.
pub fn to_chars(text: &str, limit: usize) -> String {
    truncate_by(text, limit, |part| part.chars().count())
}

/// Keeps the first and the last lines of a text, with a line between them that says how many are omitted.
pub fn to_lines(text: &str, n_first: usize, n_last: usize) -> String {
    to_lines_with_note(text, n_first, n_last, "left out")
}

/// Like [`to_lines`], with other words for what happened to those lines.
pub fn to_lines_with_note(text: &str, n_first: usize, n_last: usize, became: &str) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    // A note in place of a single line would save nothing.
    if lines.len() <= n_first.saturating_add(n_last).saturating_add(1) {
        return text.to_owned();
    }
    let (first, rest) = lines.split_at(n_first);
    let (left_out, last) = rest.split_at(rest.len() - n_last);
    let note = format!("{ELLIPSIS} {} lines {became} {ELLIPSIS}\n", left_out.len());
    [first.concat(), note, last.concat()].concat()
}

/// Returns how many lines the notes in a text say are omitted.
pub fn count_omitted_lines(text: &str) -> usize {
    let counts = text.lines().filter_map(|line| {
        let note = line.strip_prefix(ELLIPSIS)?.strip_suffix(ELLIPSIS)?;
        let (n, _) = note.trim_start().split_once(" lines ")?;
        n.parse::<usize>().ok()
    });
    counts.fold(0, usize::saturating_add)
}

/// Returns the first lines of a text.
pub fn first_lines(text: &str, n: usize) -> &str {
    let end = n
        .checked_sub(1)
        .and_then(|last| text.match_indices('\n').nth(last));
    match (n, end) {
        (0, _) => "",
        (_, Some((at, _))) => text.get(..=at).unwrap_or(text),
        (_, None) => text,
    }
}

/// Returns the last lines of a text; a newline at its end does not begin another line.
pub fn last_lines(text: &str, n: usize) -> &str {
    let ended = text.strip_suffix('\n').unwrap_or(text);
    let before = n
        .checked_sub(1)
        .and_then(|first| ended.rmatch_indices('\n').nth(first));
    match (n, before) {
        (0, _) => "",
        (_, Some((at, _))) => text.get(at + 1..).unwrap_or_default(),
        (_, None) => text,
    }
}

/// Keeps as many graphemes as fit; the ellipsis is left out if even that does not fit.
fn truncate_by(text: &str, limit: usize, size: fn(&str) -> usize) -> String {
    if size(text) <= limit {
        return text.to_owned();
    }
    let ellipsis = if size(ELLIPSIS) <= limit {
        ELLIPSIS
    } else {
        ""
    };
    let room = limit - size(ellipsis);
    let mut end = 0;
    let mut used = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        used += size(grapheme);
        if used > room {
            break;
        }
        end = at + grapheme.len();
    }
    format!("{}{ellipsis}", &text[..end])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_width::UnicodeWidthStr;

    use super::*;

    fn to_width(text: &str, columns: usize) -> String {
        truncate_by(text, columns, UnicodeWidthStr::width)
    }

    fn check(cut: String, expected: &str) {
        assert_eq!(cut, expected);
    }

    #[test]
    fn a_text_that_fits_is_kept() {
        check(to_bytes("abc", 3), "abc");
        check(to_chars("漢字", 2), "漢字");
        check(to_width("漢字", 4), "漢字");
    }

    #[test]
    fn a_text_is_cut_between_graphemes() {
        check(to_bytes("漢字漢字", 10), "漢字…");
        check(to_chars("👩\u{200d}💻abc", 4), "👩\u{200d}💻…");
        check(to_chars("👩\u{200d}💻abc", 3), "…");
        check(to_width("漢字漢字", 6), "漢字…");
        check(to_width("漢字漢字", 5), "漢字…");
        check(to_width("e\u{301}e\u{301}e\u{301}", 2), "e\u{301}…");
    }

    #[test]
    fn a_limit_below_the_ellipsis_leaves_it_away() {
        check(to_bytes("abcd", 2), "ab");
        check(to_bytes("漢", 2), "");
        check(to_width("abc", 0), "");
    }

    #[test]
    fn lines_in_the_middle_are_left_out() {
        check(
            to_lines("1\n2\n3\n4\n5\n6", 2, 1),
            "1\n2\n… 3 lines left out …\n6",
        );
        check(to_lines("1\n2\n3\n", 1, 1), "1\n2\n3\n");
        check(to_lines("1\n2\n3\n", 0, 0), "… 3 lines left out …\n");
    }

    #[test]
    fn what_notes_say_is_counted() {
        let text: String = (0..100).map(|n| format!("{n}\n")).collect();
        assert_eq!(count_omitted_lines(&text), 0);
        let cut = to_lines_with_note(&text, 20, 40, "left out here; a file has them");
        assert_eq!(count_omitted_lines(&cut), 40);
        assert_eq!(
            count_omitted_lines("… many lines left out …\n… 3 things …"),
            0
        );
    }

    #[test]
    fn lines_are_taken_from_both_ends() {
        check(first_lines("a\nb\nc", 2).to_owned(), "a\nb\n");
        check(first_lines("a", 2).to_owned(), "a");
        check(first_lines("a\n", 0).to_owned(), "");
        check(last_lines("a\nb\nc", 2).to_owned(), "b\nc");
        check(last_lines("a\nb\nc\n", 2).to_owned(), "b\nc\n");
        check(last_lines("a\nb\n", 0).to_owned(), "");
        check(last_lines("a", 3).to_owned(), "a");
    }

    proptest! {
        #[test]
        fn a_limit_holds(text in any::<String>(), limit in 0usize..40) {
            prop_assert!(to_bytes(&text, limit).len() <= limit);
            prop_assert!(to_chars(&text, limit).chars().count() <= limit);
            prop_assert!(to_width(&text, limit).width() <= limit);
        }

        #[test]
        fn where_bytes_are_cut_is_found_as_if_every_grapheme_were_looked_at(
            text in "([a-c漢\u{e9}\u{301}\u{200d}👩💻🇩🇪\r\n]|👩\u{200d}💻|\\PC){0,24}",
            limit in 0usize..60,
        ) {
            prop_assert_eq!(to_bytes(&text, limit), truncate_by(&text, limit, str::len));
        }
    }
}
