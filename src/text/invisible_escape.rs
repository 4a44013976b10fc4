//! Replaces everything in a text that a terminal would hide, reorder or obey by a visible sign.
//!
//! Nothing is removed, not even secrets: the text is for the user who decides about exactly this text, on their own
//! screen. Never store the result.

use unicode_width::UnicodeWidthChar;

/// Replaces control, bidi, zero-width and other invisible characters by signs: `␛`, `⟨U+202E⟩`. Line ends stay.
pub fn escape_invisible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push('\n'),
            // The Unicode pictures of control characters are in the same order as the characters.
            '\0'..='\u{1f}' => out.extend(char::from_u32(0x2400 + u32::from(c))),
            '\u{7f}' => out.push('␡'),
            _ if is_invisible(c) => out.push_str(&format!("⟨U+{:04X}⟩", u32::from(c))),
            _ => out.push(c),
        }
    }
    out
}

/// Returns whether a character has no place of its own on a screen, or moves its neighbours.
fn is_invisible(c: char) -> bool {
    let combines = matches!(c, '\u{300}'..='\u{36f}' | '\u{fe0f}' | '\u{200d}');
    let is_odd_space = c.is_whitespace() && !matches!(c, ' ' | '\u{3000}');
    c.is_control()
        || is_odd_space
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}')
        || (c.width().unwrap_or(0) == 0 && !combines)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_hidden_is_shown() {
        assert_eq!(escape_invisible("ls -la 漢字 🦀 é"), "ls -la 漢字 🦀 é");
        assert_eq!(escape_invisible("a\tb\rc\x1b[2J\x7f\n"), "a␉b␍c␛[2J␡\n");
        assert_eq!(
            escape_invisible("x\u{202e}y\u{200b}z"),
            "x⟨U+202E⟩y⟨U+200B⟩z"
        );
        assert_eq!(escape_invisible("a\u{9b}b\u{a0}c"), "a⟨U+009B⟩b⟨U+00A0⟩c");
        assert_eq!(escape_invisible("rm\u{e0020}x"), "rm⟨U+E0020⟩x");
    }

    proptest! {
        #[test]
        fn different_texts_look_different(a in "[a\u{200b}\u{1b}\u{202e} ]{0,6}", b in "[a\u{200b}\u{1b}\u{202e} ]{0,6}") {
            prop_assert_eq!(a == b, escape_invisible(&a) == escape_invisible(&b));
        }

        #[test]
        fn nothing_stays_that_a_terminal_obeys(text in any::<String>()) {
            let obeyed = |c: char| c.is_control() && c != '\n' || is_invisible(c);
            prop_assert!(!escape_invisible(&text).chars().any(|c| obeyed(c) && c != '\n'));
        }
    }
}
