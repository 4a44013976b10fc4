//! What is taken out, what stays, and that no split changes it.

use proptest::prelude::*;

use super::*;

fn check(text: &str, expected: &str) {
    assert_eq!(sanitise(text), expected, "{text:?}");
    assert_eq!(sanitise(expected), expected, "not idempotent: {expected:?}");
    for cut in text.char_indices().map(|(at, _)| at) {
        let mut sanitiser = Sanitiser::new();
        let mut joined = sanitiser.push(&text[..cut]);
        joined.push_str(&sanitiser.push(&text[cut..]));
        joined.push_str(&sanitiser.finish());
        assert_eq!(joined, expected, "{text:?} cut at {cut}");
    }
}

#[test]
fn line_ends_become_newlines() {
    check(
        "a\r\nb\rc\nd\te\u{2028}f\u{2029}g\u{85}h",
        "a\nb\nc\nd\te\nf\ng\nh",
    );
}

#[test]
fn bare_control_characters_are_dropped() {
    check(
        "a\0b\u{7}c\u{8}d\u{b}e\u{c}f\u{7f}g\u{84}h\u{9c}i",
        "abcdefghi",
    );
}

#[test]
fn control_sequences_are_dropped_whole() {
    check(
        "\u{1b}[1;31mred\u{1b}[0m \u{1b}[?25l\u{1b}[2J\u{1b}[6nx\u{9b}31my",
        "red xy",
    );
    check("\u{1b}[3\n1mx", "\nx");
    check("\u{1b}[31世", "世");
}

#[test]
fn control_strings_end_at_every_terminator() {
    check(
        "a\u{1b}]0;title\u{7}b\u{1b}]52;c;AAAA\u{1b}\\c\u{1b}]8;;http://x\u{9c}d",
        "abcd",
    );
    check(
        "a\u{1b}Pq#1\u{1b}\\b\u{1b}Xsos\u{1b}\\c\u{1b}^pm\u{1b}\\d\u{1b}_apc\u{1b}\\e",
        "abcde",
    );
    check(
        "a\u{9d}0;t\u{9c}b\u{90}q\u{9c}c\u{98}s\u{9c}d\u{9e}p\u{9c}e\u{9f}a\u{9c}f",
        "abcdef",
    );
    check("a\u{1b}Ptmux;\u{1b}\u{1b}]52;c;AA\u{7}\u{1b}\\b", "ab");
}

#[test]
fn an_unended_control_string_swallows_its_line_only() {
    check("a\u{1b}]0;title never ends\nnext line\n", "a\nnext line\n");
    let long = format!("\u{1b}]0;{}seen", "x".repeat(STRING_LIMIT - 2));
    assert_eq!(sanitise(&long), "seen");
}

#[test]
fn short_escapes_and_charsets_are_dropped() {
    check(
        "a\u{1b}cb\u{1b}7c\u{1b}(Bd\u{1b}#8e\u{1b}%Gf\u{1b}=g\u{1b}\u{1b}Mh\u{1b}",
        "abcdefgh",
    );
}

#[test]
fn removing_a_sequence_makes_no_new_one() {
    check("\u{1b}\u{1b}[0m[31mx", "[31mx");
    check("\u{1b}]0;\u{1b}[0m1mx", "1mx");
}

#[test]
fn reordering_and_invisible_characters_are_dropped() {
    check(
        "a\u{202e}b\u{2066}c\u{2069}d\u{200e}e\u{200f}f\u{61c}g\u{feff}h\u{200b}i\u{2060}j",
        "abcdefghij",
    );
    check("ok\u{e0041}\u{e0042}\u{e007f}!", "ok!");
}

#[test]
fn emoji_and_cjk_survive() {
    check(
        "👩\u{200d}💻 ❤\u{fe0f}\u{200d}🔥 🇨🇳 1\u{fe0f}\u{20e3} 漢\u{e0100}字 e\u{301}",
        "👩\u{200d}💻 ❤\u{fe0f}\u{200d}🔥 🇨🇳 1\u{fe0f}\u{20e3} 漢\u{e0100}字 e\u{301}",
    );
    check("می\u{200c}خواهم", "می\u{200c}خواهم");
}

#[test]
fn joiners_cannot_split_an_ascii_word() {
    check("sk\u{200d}-pr\u{fe0f}oj1\u{fe0f}23\u{200c}x", "sk-proj123x");
    check("漢\u{fe00}\u{fe01}\u{fe02}字", "漢\u{fe00}字");
}

fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("\u{1b}".to_owned()),
        Just("\u{1b}]".to_owned()),
        Just("\u{1b}[".to_owned()),
        Just("\u{1b}P".to_owned()),
        Just("\u{1b}\\".to_owned()),
        Just("\u{7}".to_owned()),
        Just("\r".to_owned()),
        Just("\n".to_owned()),
        Just("1\u{fe0f}".to_owned()),
        Just("\u{20e3}".to_owned()),
        Just("\u{200d}".to_owned()),
        Just("👩".to_owned()),
        Just("plain 31m".to_owned()),
        "[\u{80}-\u{9f}]",
        any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn only_newline_and_tab_are_left(text in hostile()) {
        let clean = sanitise(&text);
        prop_assert!(clean.chars().all(|c| !c.is_control() || c == '\n' || c == '\t'));
        prop_assert!(!clean.chars().any(is_invisible));
        prop_assert_eq!(sanitise(&clean), clean);
    }

    #[test]
    fn any_split_gives_the_same_text(text in hostile(), sizes in proptest::collection::vec(1usize..6, 1..40)) {
        let mut sanitiser = Sanitiser::new();
        let mut joined = String::new();
        let chars: Vec<char> = text.chars().collect();
        let mut rest = chars.as_slice();
        for size in sizes.iter().cycle() {
            if rest.is_empty() { break; }
            let (piece, after) = rest.split_at((*size).min(rest.len()));
            joined.push_str(&sanitiser.push(&piece.iter().collect::<String>()));
            rest = after;
        }
        joined.push_str(&sanitiser.finish());
        prop_assert_eq!(joined, sanitise(&text));
    }
}
