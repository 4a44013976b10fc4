//! Converts frames for terminals without UTF-8: each character becomes an ASCII one of the same width.
//!
//! Works on the cells of a finished frame.

use ratatui::buffer::Buffer;

/// The variables that name the character locale; the first one that is not empty counts.
const LOCALE_VARIABLES: [&str; 3] = ["LC_ALL", "LC_CTYPE", "LANG"];
/// The ASCII character for each list of characters. The corners and crossings of frames are a range, below.
const ASCII_SUBSTITUTES: [(char, &str); 24] = [
    ('-', "─━┄┅┈┉╌╍═╴╶╸╺–—−‐‑"),
    ('|', "│┃┆┇┊┋╎╏║╵╷╹╻▌▐▏▎▍▕"),
    ('#', "█■▉▊▋"),
    (':', "▒▓⋯⋮"),
    ('_', "▁▂▃▄▅▆▇▔▀"),
    ('.', "░·․‧∙"),
    ('*', "●◆•★∗"),
    ('o', "○◌◐◇☐◦□"),
    ('+', "✓✔☑"),
    ('x', "✗✘☒⊘×"),
    ('>', "▸▶›»→↪⇒▷"),
    ('<', "◀‹«←↩⇐◁"),
    ('v', "▾▼↓▽"),
    ('^', "▴▲↑△"),
    ('@', "↻↺⟳"),
    ('=', "▤≡☰⇄"),
    ('~', "…≈✎"),
    ('"', "“”„"),
    ('\'', "‘’‚"),
    (' ', "\u{a0}\u{2007}\u{202f}"),
    // The program's own spinner, as a line that turns.
    ('|', "⠋⣠"),
    ('/', "⠙⣄"),
    ('-', "⠸⡆"),
    ('\\', "⢰⠇"),
];
/// Corners and crossings of frames.
const BOX_DRAWING: std::ops::RangeInclusive<char> = '\u{2500}'..='\u{257f}';
/// The dots of progress spinners.
const BRAILLE_DOTS: std::ops::RangeInclusive<char> = '\u{2800}'..='\u{28ff}';
/// The substitute for all other characters.
const UNKNOWN_SUBSTITUTE: char = '?';

/// Returns whether the environment names a locale that is not UTF-8. If it names none, UTF-8 is assumed, as for most
/// terminals today.
pub fn is_needed() -> bool {
    is_needed_for_locale(|name| std::env::var(name).ok())
}

fn is_needed_for_locale(said: impl Fn(&str) -> Option<String>) -> bool {
    let locale = LOCALE_VARIABLES.into_iter().filter_map(said);
    let locale = locale.into_iter().find(|locale| !locale.is_empty());
    let is_utf8 = |locale: &str| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    };
    locale.is_some_and(|locale| !is_utf8(&locale))
}

/// Replaces every character of a frame that is not ASCII.
pub fn replace_non_ascii(frame: &mut Buffer) {
    for cell in &mut frame.content {
        if let Some(sign) = cell
            .symbol()
            .chars()
            .next()
            .filter(|_| !cell.symbol().is_ascii())
        {
            cell.set_char(to_ascii_char(sign));
        }
    }
}

/// Converts a text to ASCII.
pub fn to_ascii(text: &str) -> String {
    text.chars().map(to_ascii_char).collect()
}

fn to_ascii_char(sign: char) -> char {
    let known = ASCII_SUBSTITUTES
        .iter()
        .find(|(_, signs)| signs.contains(sign));
    match known {
        _ if sign.is_ascii() => sign,
        Some((ascii, _)) => *ascii,
        None if BOX_DRAWING.contains(&sign) => '+',
        None if BRAILLE_DOTS.contains(&sign) => '*',
        None => UNKNOWN_SUBSTITUTE,
    }
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;

    fn check(variables: &[(&str, &str)], expected: bool) {
        let said = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        assert_eq!(is_needed_for_locale(said), expected, "{variables:?}");
    }

    #[test]
    fn the_spinner_is_a_line_that_turns() {
        let lines: String = crate::tui::SPINNER
            .iter()
            .map(|sign| to_ascii(sign))
            .collect();
        assert_eq!(lines, r"| / - \ | / - \ ");
    }

    #[test]
    fn the_first_variable_that_says_anything_names_the_locale() {
        check(&[], false);
        check(&[("LANG", "C")], true);
        check(&[("LANG", "C.UTF-8")], false);
        check(&[("LANG", "en_US.utf8")], false);
        check(&[("LANG", "de_DE.ISO-8859-1")], true);
        check(&[("LC_ALL", ""), ("LANG", "POSIX")], true);
        check(&[("LC_CTYPE", "UTF-8"), ("LANG", "C")], false);
        check(&[("LC_ALL", "C"), ("LC_CTYPE", "UTF-8")], true);
    }

    #[test]
    fn a_frame_keeps_its_shape() {
        let mut frame = Buffer::empty(Rect::new(0, 0, 12, 3));
        frame.set_string(0, 0, "╭─ Plan ───╮", Style::new());
        frame.set_string(0, 1, "│ ✓ 空é ▸… │", Style::new());
        frame.set_string(0, 2, "╰──────────╯", Style::new());
        replace_non_ascii(&mut frame);
        let row = |y| (0..12).map(|x| frame[(x, y)].symbol()).collect::<String>();
        assert_eq!(
            [row(0), row(1), row(2)],
            ["+- Plan ---+", "| + ? ? >~ |", "+----------+"]
        );
        assert_eq!(to_ascii("codex ▸ 2 of 3 …"), "codex > 2 of 3 ~");
    }

    #[test]
    fn no_sign_stands_in_two_rows() {
        let all: Vec<char> = ASCII_SUBSTITUTES
            .iter()
            .flat_map(|(_, signs)| signs.chars())
            .collect();
        let once: std::collections::BTreeSet<char> = all.iter().copied().collect();
        assert_eq!(once.len(), all.len());
    }
}
