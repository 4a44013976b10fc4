//! A glance at a text: whether it can hold any of the words that hint at a secret.
//!
//! Refuses to be exact. It looks at three characters at a time and says yes too often and never no wrongly;
//! most lines of a stream are passed over by it at a fraction of what a search for the words costs.

/// How the words of `shapes::HINT` begin. A dot stands for any letter.
const BEGINNINGS: [&[u8; 3]; 45] = [
    b"sk-", b"sk_", b"rk_", b"ghp", b"gho", b"ghu", b"ghs", b"ghr", b"git", b"xox", b"xap", b"aki",
    b"asi", b"abi", b"acc", b"aiz", b"eyj", b"npm", b"gl.", b"hf_", b"gsk", b"xai", b"pyp", b"ya2",
    b"sg.", b"dck", b"dop", b"whs", b"lin", b"shp", b"age", b"---", b"bea", b"bas", b"aut", b"://",
    b"key", b"tok", b"sec", b"pas", b"pwd", b"cre", b"sig", b"cod", b"cur",
];

/// Six bits of a byte: letters of either case are the same, everything else differs enough.
const fn short(byte: u8) -> usize {
    ((byte & 0x1f) | ((byte & 0x40) >> 1)) as usize
}

const WORDS: usize = (1 << 18) / 64;

static TABLE: [u64; WORDS] = table();

const fn table() -> [u64; WORDS] {
    let mut table = [0; WORDS];
    let mut at = 0;
    while at < BEGINNINGS.len() {
        let [a, b, c] = *BEGINNINGS[at];
        let head = short(a) << 12 | short(b) << 6;
        // The dot of `sg.` is itself; the one of `gl.` is any letter.
        let (mut last, end) = match (b, c) {
            (b'l', b'.') => (short(b'a'), short(b'z')),
            _ => (short(c), short(c)),
        };
        while last <= end {
            let place = head | last;
            table[place / 64] |= 1 << (place % 64);
            last += 1;
        }
        at += 1;
    }
    table
}

/// Tells whether a hint may be in a text.
pub(super) fn may_hold_hint(text: &str) -> bool {
    let mut place = 0;
    let mut found = 0;
    for byte in text.bytes() {
        place = (place << 6 | short(byte)) & 0x3_ffff;
        found |= TABLE[place / 64] >> (place % 64) & 1;
    }
    // Two letters outside of ASCII are an s and a k to a search that minds no case.
    found != 0 || !text.is_ascii() && text.contains(['\u{17f}', '\u{212a}'])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::shapes::HINT;
    use super::*;

    #[test]
    fn ordinary_words_are_passed_over() {
        assert!(!may_hold_hint(
            "the state file is written after every step, naïve 漢字 🦀"
        ));
        assert!(!may_hold_hint(
            r#"{"type":"stream_event","uuid":"0195e7b0-63b1-7a2c-8f3d"}"#
        ));
        assert!(
            may_hold_hint("a To\u{212a}en") && may_hold_hint("GLPAT-x") && may_hold_hint("x://y")
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn no_hint_is_missed(text in "(sk-|[sr]k_live_|gh[pousr]_|github_pat_|xox[a-z]-|xapp-|akia|asia|abia|acca|aiza|eyj|npm_|glpat-|gl[a-z]{2,5}-|hf_|gsk_|xai-|pypi-|ya29\\.|sg\\.|dckr_pat_|dop_v1_|whsec_|lin_api_|shp(at|ss)_|age-secret|-----begin|bearer|basic|authorization|://|key|token|secret|pass|pwd|credential|sig=|signature|auth=|code=|curl|[A-Z]{1,5}|ſ|\u{212a}|[a-z]{0,4}|[ .:/=_-]){0,6}", upper in any::<bool>()) {
            let text = if upper { text.to_uppercase() } else { text };
            if HINT.is_match(&text) {
                prop_assert!(may_hold_hint(&text), "{text}");
            }
        }
    }
}
