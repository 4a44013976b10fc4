//! What is removed, what stays, and that no split changes it.

use proptest::prelude::*;

use super::invisible_filter::is_invisible;
use super::*;

fn check(text: &str, expected: &str) {
    assert_eq!(sanitise_text(text), expected, "{text:?}");
    assert_eq!(
        sanitise_text(expected),
        expected,
        "not idempotent: {expected:?}"
    );
    for cut in text.char_indices().map(|(at, _)| at) {
        let mut sanitiser = TextSanitiser::new();
        let mut joined = sanitiser.push(&text[..cut]).into_owned();
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
    check(
        "a\u{1b}Pnever\nnext line\n\u{1b}[0mlast",
        "a\nnext line\nlast",
    );
    check("a\u{1b}]0;x\nword", "a\nword");
    let long = format!("a\u{1b}]52;c;{}\u{7}b", "QUJD".repeat(50_000));
    assert_eq!(sanitise_text(&long), "ab");
    let lines = format!("a\u{1b}]x\n{}", "word\n".repeat(STRING_HOLD_LIMIT / 5 + 9));
    assert_eq!(sanitise_text(&lines), format!("a{}", &lines[4..]));
}

#[test]
fn an_unended_control_string_does_not_swallow_what_stands_behind_damage() {
    for start in ["\u{1b}]0;title", "\u{1b}P1;x", "\u{9d}8;;", "\u{1b}_a"] {
        check(
            &format!("a{start}\u{fffd}the rest of it\nb"),
            "athe rest of it\nb",
        );
        check(&format!("a{start}\u{80}the rest"), "athe rest");
        check(&format!("a{start}\u{fffd}its end\u{1b}\\b"), "ab");
    }
}

#[test]
fn a_picture_of_many_lines_is_dropped_whole() {
    check("a\u{1b}Pq#0;2;0;0;0\n#0~~@@\n$-~~\u{1b}\\b", "ab");
    check("a\u{1b}]1337;File=inline=1:QUJD\r\nREVG\u{7}b", "ab");
    check("a\u{1b}_Gf=100;QUJD\u{7}REVG\u{1b}\\b", "ab");
    check("a\u{1b}_apc\u{7}text after", "atext after");
}

#[test]
fn a_multiplexers_title_is_dropped_and_text_is_not() {
    check("a\u{1b}kmy title\u{1b}\\b", "ab");
    check("a\u{1b}kno title\nb", "ano title\nb");
    check("a\u{1b}kno title\u{1b}[1mb", "ano titleb");
}

#[test]
fn control_characters_inside_a_sequence_do_not_end_it() {
    check("a\u{1b}\0[31mb\u{1b}[3\u{7}1mc\u{1b}(\u{8}Bd", "abcd");
    check("a\u{1b}[31\nnext", "a\nnext");
    check("a\u{1b}[3\r\n1mb", "a\nb");
    check("a\u{1b}\nnext", "a\nnext");
    let long = format!("a\u{1b}[{}mb", "1;".repeat(5_000));
    assert_eq!(sanitise_text(&long), "ab");
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
    for kept in [
        "می\u{200c}خواهم",
        "क\u{94d}\u{200d}ष ශ\u{dca}\u{200d}රී",
        "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}!",
        "👨\u{200d}👩\u{200d}👧 👍🏽 🏳\u{fe0f}\u{200d}🌈 ☎\u{fe0e} ©\u{fe0f}",
    ] {
        check(kept, kept);
    }
    check(
        "🏴\u{e0067}\u{e0062}\u{e0069}x 🏴\u{e0068}\u{e0069} 👩\u{200d}x 漢\u{200d}字 é\u{200c}é",
        "🏴x 🏴 👩x 漢字 éé",
    );
}

#[test]
fn joiners_cannot_split_an_ascii_word() {
    check("sk\u{200d}-pr\u{fe0f}oj1\u{fe0f}23\u{200c}x", "sk-proj123x");
    check("漢\u{fe00}\u{fe01}\u{fe02}字", "漢\u{fe00}字");
    check(
        "😀\u{e0163}\u{e0175} é\u{e0100}漢\u{e0100}",
        "😀 é漢\u{e0100}",
    );
}

fn decode(bytes: &[u8]) -> String {
    let mut decoder = Utf8Decoder::default();
    let text = decoder.push(bytes).into_owned();
    text + &decoder.finish()
}

#[test]
fn bytes_that_are_no_text_are_controls_or_damage() {
    let rows: [(&[u8], &str); 8] = [
        (b"a\x9b31mb", "a\u{9b}31mb"),
        (b"a\xe9b\xff", "a\u{fffd}b\u{fffd}"),
        (b"\xe2\x9b31m", "\u{fffd}31m"),
        (b"\xc0\x9b[1m", "\u{1b}[1m"),
        (b"\xe0\x80\x9b[1m\xf0\x80\x80\x87", "\u{1b}[1m\u{7}"),
        (b"a\xe6\xbc", "a\u{fffd}"),
        // The bytes after a surrogate's first byte are bare bytes, and 0x80 is a control byte.
        (b"\xed\xa0\x80", "\u{fffd}\u{fffd}\u{80}"),
        ("漢é🦀".as_bytes(), "漢é🦀"),
    ];
    for (bytes, expected) in rows {
        assert_eq!(decode(bytes), expected, "{bytes:x?}");
    }
}

fn is_tag(c: char) -> bool {
    matches!(c, '\u{e0061}'..='\u{e007f}')
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
        Just("\u{1b}k".to_owned()),
        Just("\u{9c}".to_owned()),
        Just("🏴\u{e0067}\u{e0062}".to_owned()),
        Just("\u{e0065}\u{e006e}\u{e0067}\u{e007f}".to_owned()),
        Just("می\u{200c}".to_owned()),
        "[\u{80}-\u{9f}]",
        any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn only_newline_and_tab_are_left(text in hostile()) {
        let clean = sanitise_text(&text);
        prop_assert!(clean.chars().all(|c| !c.is_control() || c == '\n' || c == '\t'));
        let hides = |c| is_invisible(c) && !is_tag(c);
        prop_assert!(!clean.chars().any(hides));
        prop_assert_eq!(sanitise_text(&clean), clean);
    }

    #[test]
    fn any_split_of_bytes_gives_the_same_text(
        bytes in proptest::collection::vec(prop_oneof![any::<u8>(), 0x80u8..=0xa0, Just(0xc0), Just(0xe0), Just(0xf0)], 0..40),
        size in 1usize..5,
    ) {
        let mut decoder = Utf8Decoder::default();
        let mut joined = String::new();
        for piece in bytes.chunks(size) {
            joined.push_str(&decoder.push(piece));
        }
        joined.push_str(&decoder.finish());
        prop_assert_eq!(joined, decode(&bytes));
    }

    #[test]
    fn what_is_called_harmless_is_not_changed(text in hostile()) {
        if is_harmless(&text) {
            prop_assert_eq!(sanitise_text(&text), text);
        }
    }

    #[test]
    fn any_split_gives_the_same_text(text in hostile(), sizes in proptest::collection::vec(1usize..6, 1..40)) {
        let mut sanitiser = TextSanitiser::new();
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
        prop_assert_eq!(joined, sanitise_text(&text));
    }
}
