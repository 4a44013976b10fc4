//! Where a closer look is worth it: the words that every secret has in it or beside it.
//!
//! Refuses to judge. A glance looks at four bytes at a time and says yes too often and never no wrongly; most
//! text is passed over by it. Where it says yes, one automaton finds all the words at once.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};
use memchr::memchr_iter;

use super::pairs::NAMES;
use super::rules::{RULES, Shape};

/// What a word leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    /// The rule of this number.
    Rule(usize),
    /// The end of a name under which secrets are kept.
    Name,
}

/// One word in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) anchor: Anchor,
    pub(super) start: usize,
    pub(super) end: usize,
}

struct Anchors {
    /// `None` when it could not be made, which a test rules out.
    automaton: Option<AhoCorasick>,
    anchors: Vec<Anchor>,
}

/// How many bytes before the place of a hint its word may have begun.
pub(super) const BEGINS_BEFORE: usize = 48;

const TABLE_BITS: u32 = 18;

static ANCHORS: LazyLock<Anchors> = LazyLock::new(|| {
    let mut words = Vec::new();
    let mut anchors = Vec::new();
    for (number, rule) in RULES.iter().enumerate() {
        words.extend_from_slice(rule.starts);
        anchors.extend(rule.starts.iter().map(|_| Anchor::Rule(number)));
    }
    words.extend_from_slice(&NAMES);
    anchors.extend(NAMES.iter().map(|_| Anchor::Name));
    let automaton = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::Standard)
        .kind(Some(AhoCorasickKind::DFA))
        .build(words)
        .ok();
    Anchors { automaton, anchors }
});

/// Every four bytes that hint at a word: one bit each by a sum of them, which is quick, and in order.
struct Hints {
    bits: Box<[u64; N_WORDS]>,
    fours: Vec<u32>,
}

const N_WORDS: usize = (1 << TABLE_BITS) / 64;

/// How many places are looked at before one question whether any of them was a hint.
const STRIDE: usize = 16;

impl Hints {
    /// Finds the last byte of the first four that hint at a word.
    fn first(&self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while let Some(window) = bytes
            .get(at..)
            .and_then(|rest| rest.first_chunk::<{ STRIDE + 3 }>())
        {
            let mut found = 0;
            for four in window.windows(4) {
                found |= self.bit(folded(four));
            }
            if found != 0
                && let Some(hint) = window
                    .windows(4)
                    .position(|four| self.is_hint(folded(four)))
            {
                return Some(at + hint + 3);
            }
            at += STRIDE;
        }
        let rest = bytes.get(at..)?;
        let hint = rest
            .windows(4)
            .position(|four| self.is_hint(folded(four)))?;
        Some(at + hint + 3)
    }

    fn bit(&self, four: u32) -> u64 {
        let place = place(four);
        self.bits[(place / 64) % N_WORDS] >> (place % 64) & 1
    }

    fn is_hint(&self, four: u32) -> bool {
        self.bit(four) == 1 && self.fours.binary_search(&four).is_ok()
    }
}

fn folded(four: &[u8]) -> u32 {
    four.first_chunk()
        .map_or(0, |four| u32::from_le_bytes(*four))
        | FOLD
}

static HINTS: LazyLock<Hints> = LazyLock::new(|| {
    let mut fours = Vec::new();
    for rule in RULES.iter() {
        let may_follow = |byte: u8| match rule.shape {
            Shape::Run(letters, _) => letters.has(byte),
            Shape::Pattern(_) => true,
        };
        for word in rule.starts {
            enter(word.as_bytes(), &may_follow, &mut fours);
        }
    }
    for name in NAMES {
        enter(name.as_bytes(), &|_| true, &mut fours);
    }
    fours.sort_unstable();
    fours.dedup();
    let mut bits = Box::new([0; N_WORDS]);
    for four in &fours {
        let place = place(*four);
        bits[place / 64] |= 1 << (place % 64);
    }
    Hints { bits, fours }
});

/// Letters of either case are the same, and some signs are, too.
const FOLD: u32 = 0x2020_2020;

fn place(folded: u32) -> usize {
    (folded.wrapping_mul(0x9e37_79b1) >> (u32::BITS - TABLE_BITS)) as usize
}

/// Notes the four bytes of a word that ordinary text has least; a shorter word with all that may follow.
fn enter(word: &[u8], may_follow: &dyn Fn(u8) -> bool, fours: &mut Vec<u32>) {
    if word.len() < 4 {
        for next in (0..=u8::MAX).filter(|byte| may_follow(*byte)) {
            enter(&[word, &[next]].concat(), may_follow, fours);
        }
        return;
    }
    let windows = word
        .windows(4)
        .filter_map(|four| <[u8; 4]>::try_from(four).ok());
    if let Some(four) =
        windows.min_by_key(|four| four.iter().map(|byte| commonness(*byte)).sum::<u32>())
    {
        fours.push(u32::from_le_bytes(four) | FOLD);
    }
}

/// How common a byte is in what passes through: logs, code and prose.
fn commonness(byte: u8) -> u32 {
    match byte.to_ascii_lowercase() {
        b'e' | b't' | b'a' | b'o' | b'i' | b'n' | b's' | b'r' | b' ' => 10,
        b'h' | b'l' | b'd' | b'c' | b'u' | b'm' | b'p' | b'g' => 6,
        b'f' | b'w' | b'y' | b'b' | b'v' | b'-' | b'.' | b'0'..=b'9' => 4,
        _ => 2,
    }
}

/// Finds the first place at or after which a word may be: nothing before it belongs to one.
pub(super) fn first_hint(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let hint = HINTS.first(bytes);
    let upto = hint.unwrap_or(bytes.len());
    let dotted = dots(&bytes[..bytes.len().min(upto + 8)]).next();
    let login = logins(&bytes[..bytes.len().min(upto + 1)]).next();
    [hint, dotted, login].into_iter().flatten().min()
}

/// Finds every word that does not end before `from`, in the order of their ends.
pub(super) fn each(text: &str, from: usize) -> impl Iterator<Item = Found> {
    let automaton = ANCHORS.automaton.iter();
    automaton.flat_map(move |automaton| {
        automaton
            .find_overlapping_iter(Input::new(text).range(from..))
            .filter_map(|found| {
                Some(Found {
                    anchor: *ANCHORS.anchors.get(found.pattern().as_usize())?,
                    start: found.start(),
                    end: found.end(),
                })
            })
    })
}

/// Finds dots with another one seven bytes on, as tokens of three parts have them.
pub(super) fn dots(bytes: &[u8]) -> impl Iterator<Item = usize> {
    memchr_iter(b'.', bytes).filter(|at| bytes.get(at + 7) == Some(&b'.'))
}

/// Finds signs of an address that have a colon a little before them, as `name:password@host` has.
pub(super) fn logins(bytes: &[u8]) -> impl Iterator<Item = usize> {
    memchr_iter(b'@', bytes).filter(|at| {
        let left = &bytes[..*at];
        let near = left.iter().rev().take(LONGEST_PASSWORD);
        let mut near = near.take_while(|byte| byte.is_ascii_graphic());
        near.any(|byte| *byte == b':')
    })
}

/// How long a password before an address may be, in bytes.
const LONGEST_PASSWORD: usize = 40;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_hinted(text: &str) -> bool {
        first_hint(text).is_some()
    }

    #[test]
    fn ordinary_words_are_passed_over() {
        assert!(ANCHORS.automaton.is_some());
        let plain = "the state file is written after every step, naïve 漢字 🦀";
        assert_eq!(first_hint(plain).map(|at| &plain[..=at]), None);
        let plain = r#"{"type":"stream_event","uuid":"0195e7b0-63b1-7a2c-8f3d"}"#;
        assert_eq!(first_hint(plain).map(|at| &plain[..=at]), None);
        assert!(is_hinted("a Token") && is_hinted("GLPAT-x") && is_hinted("x://y"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn no_word_is_missed(left in "[ -~é漢]{0,9}", number in any::<prop::sample::Index>(), right in "[0-9a-f]{4}[ -~]{1,9}", upper in any::<bool>()) {
            let words: Vec<&str> = RULES.iter().flat_map(|rule| rule.starts).chain(&NAMES).copied().collect();
            let word = number.get(&words);
            let text = format!("{left}{}{right}", if upper { word.to_uppercase() } else { (*word).to_owned() });
            prop_assert!(first_hint(&text).is_some_and(|at| at < left.len() + word.len() + 2));
            let is_there = |found: Found| found.start == left.len() && found.end == left.len() + word.len();
            prop_assert!(each(&text, 0).any(is_there));
        }
    }
}
