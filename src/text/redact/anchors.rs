//! Where a closer look is worth it: the words that every secret has in it or beside it.
//!
//! Refuses to judge. A glance looks at four bytes at a time, and most text is passed over by it; where four are
//! those of a word, the word itself is looked for.

use std::sync::LazyLock;

use memchr::memchr_iter;

use super::addresses::logins;
use super::names::NAMES;
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

/// How many bytes before the place of a hint its word may have begun.
pub(super) const BEGINS_BEFORE: usize = 48;

/// All words, by four bytes that each has.
struct Words {
    words: Vec<(&'static str, Anchor)>,
    /// One bit for each four bytes that hint at a word, by a sum of them, which is quick.
    bits: Box<[u64; N_BITS / 64]>,
    /// Where the fours with the same beginning of their sum begin in `fours`, and where the last ends.
    buckets: Vec<u32>,
    fours: Vec<Four>,
}

/// Four bytes, letters of either case being the same, and the place in a word where they stand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Four {
    bucket: u32,
    four: u32,
    word: usize,
    offset: usize,
}

const TABLE_BITS: u32 = 18;
const N_BITS: usize = 1 << TABLE_BITS;
const BUCKET_BITS: u32 = 12;

/// How many places are looked at before one question whether any of them was a hint.
const STRIDE: usize = 16;

/// Letters of either case are the same, and some signs are, too.
const FOLD: u32 = 0x2020_2020;

static WORDS: LazyLock<Words> = LazyLock::new(Words::new);

impl Words {
    fn new() -> Self {
        let mut words = Vec::new();
        let mut fours = Vec::new();
        for (number, rule) in RULES.iter().enumerate() {
            let may_follow = |byte: u8| match rule.shape {
                Shape::Run(letters, _) => letters.has(byte),
                Shape::Pattern(_) | Shape::Query(_) | Shape::Read(_) => true,
            };
            for word in rule.starts {
                enter(word.as_bytes(), words.len(), &may_follow, &mut fours);
                words.push((*word, Anchor::Rule(number)));
            }
        }
        for name in NAMES {
            enter(name.as_bytes(), words.len(), &|_| true, &mut fours);
            words.push((name, Anchor::Name));
        }
        fours.sort_unstable();
        fours.dedup();
        let mut bits = Box::new([0; N_BITS / 64]);
        for four in &fours {
            let place = place(four.four);
            bits[place / 64] |= 1 << (place % 64);
        }
        let begins = |bucket: u32| fours.partition_point(|four| four.bucket < bucket);
        let buckets = (0..=1 << BUCKET_BITS).map(|bucket| u32::try_from(begins(bucket)));
        let buckets = buckets.map(|begin| begin.unwrap_or(u32::MAX)).collect();
        Self {
            words,
            bits,
            buckets,
            fours,
        }
    }

    /// Tells `found` about every word in the order of the fours by which they are seen, until it returns true.
    fn each(&self, bytes: &[u8], from: usize, found: &mut dyn FnMut(Found) -> bool) {
        let mut at = from;
        while let Some(window) = bytes
            .get(at..)
            .and_then(|rest| rest.first_chunk::<{ STRIDE + 3 }>())
        {
            let mut hints = 0u32;
            for (n, four) in window.windows(4).enumerate() {
                hints |= self.bit(folded(four)) << n;
            }
            while hints != 0 {
                let n = hints.trailing_zeros();
                hints &= hints - 1;
                if self.at_hint(bytes, at + n as usize, found) {
                    return;
                }
            }
            at += STRIDE;
        }
        for place in at..bytes.len().saturating_sub(3) {
            let is_hint = bytes
                .get(place..place + 4)
                .is_some_and(|four| self.bit(folded(four)) == 1);
            if is_hint && self.at_hint(bytes, place, found) {
                return;
            }
        }
    }

    /// Looks for the words that have the four bytes which begin at a place.
    fn at_hint(&self, bytes: &[u8], at: usize, found: &mut dyn FnMut(Found) -> bool) -> bool {
        let four = bytes.get(at..at + 4).map(folded).unwrap_or_default();
        let bucket = bucket(four) as usize;
        let border = |bucket: usize| self.buckets.get(bucket).map_or(0, |begin| *begin as usize);
        let fours = self.fours.get(border(bucket)..border(bucket + 1));
        for hint in fours.unwrap_or_default() {
            let Some((word, anchor)) = self.words.get(hint.word) else {
                continue;
            };
            let Some(start) = at.checked_sub(hint.offset).filter(|_| hint.four == four) else {
                continue;
            };
            let end = start + word.len();
            let is_there = bytes
                .get(start..end)
                .is_some_and(|there| there.eq_ignore_ascii_case(word.as_bytes()));
            let anchor = *anchor;
            if is_there && found(Found { anchor, start, end }) {
                return true;
            }
        }
        false
    }

    fn bit(&self, four: u32) -> u32 {
        let place = place(four);
        (self.bits[(place / 64) % (N_BITS / 64)] >> (place % 64) & 1) as u32
    }
}

fn folded(four: &[u8]) -> u32 {
    four.first_chunk()
        .map_or(0, |four| u32::from_le_bytes(*four))
        | FOLD
}

fn sum(four: u32) -> u32 {
    four.wrapping_mul(0x9e37_79b1)
}

fn place(four: u32) -> usize {
    (sum(four) >> (u32::BITS - TABLE_BITS)) as usize
}

fn bucket(four: u32) -> u32 {
    sum(four) >> (u32::BITS - BUCKET_BITS)
}

/// Notes the four bytes of a word that ordinary text has least; a shorter word with all that may follow.
fn enter(word: &[u8], number: usize, may_follow: &dyn Fn(u8) -> bool, fours: &mut Vec<Four>) {
    if word.len() < 4 {
        for next in (0..=u8::MAX).filter(|byte| may_follow(*byte)) {
            enter(&[word, &[next]].concat(), number, may_follow, fours);
        }
        return;
    }
    let seldom = |(_, four): &(usize, &[u8])| {
        let commonness = four.iter().map(|byte| commonness(*byte));
        commonness.sum::<u32>()
    };
    if let Some((offset, four)) = word.windows(4).enumerate().min_by_key(seldom) {
        let four = folded(four);
        fours.push(Four {
            bucket: bucket(four),
            four,
            word: number,
            offset,
        });
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

/// Finds a place at or a little after which the first word is: nothing before it belongs to one but for
/// [`BEGINS_BEFORE`] bytes.
pub(super) fn first_hint(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut hint = None;
    WORDS.each(bytes, 0, &mut |found| {
        hint = Some(found.end - 1);
        true
    });
    let upto = hint.unwrap_or(bytes.len());
    let dotted = dots(&bytes[..bytes.len().min(upto + 8)]).next();
    let login = logins(&bytes[..bytes.len().min(upto + 1)]).next();
    [hint, dotted, login].into_iter().flatten().min()
}

/// Finds every word that begins at or after `from`, in the order of their ends.
pub(super) fn all(text: &str, from: usize) -> Vec<Found> {
    let mut all = Vec::new();
    WORDS.each(text.as_bytes(), from, &mut |found| {
        all.push(found);
        false
    });
    let order = |found: &Found| (found.end, found.start);
    if !all.is_sorted_by_key(order) {
        all.sort_by_key(order);
    }
    all
}

/// Finds dots with another one seven bytes on, as tokens of three parts have them, and those after `pat` and
/// fourteen letters.
pub(super) fn dots(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let ends_pat = |at: usize| {
        let start = at.checked_sub(17)?;
        bytes.get(start..start + 3).filter(|word| *word == b"pat")
    };
    memchr_iter(b'.', bytes)
        .filter(move |at| bytes.get(at + 7) == Some(&b'.') || ends_pat(*at).is_some())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_hinted(text: &str) -> bool {
        first_hint(text).is_some()
    }

    #[test]
    fn ordinary_words_are_passed_over() {
        let plain = "the state file is written after every step, naïve 漢字 🦀";
        assert_eq!(first_hint(plain).map(|at| &plain[..=at]), None);
        let plain = r#"{"type":"stream_event","uuid":"0195e7b0-63b1-7a2c-8f3d"}"#;
        assert_eq!(first_hint(plain).map(|at| &plain[..=at]), None);
        assert!(is_hinted("a Token") && is_hinted("GLPAT-x") && is_hinted("x://y"));
    }

    #[test]
    fn no_word_begins_further_before_its_hint() {
        let longest = WORDS.words.iter().map(|(word, _)| word.len()).max();
        assert!(
            longest.is_some_and(|longest| longest <= BEGINS_BEFORE),
            "{longest:?}"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn no_word_is_missed(left in "[ -~é漢]{0,9}", number in any::<prop::sample::Index>(), right in "[0-9a-f]{4}[ -~]{1,9}", upper in any::<bool>()) {
            let (word, _) = number.get(&WORDS.words);
            let text = format!("{left}{}{right}", if upper { word.to_uppercase() } else { (*word).to_owned() });
            prop_assert!(first_hint(&text).is_some_and(|at| at < left.len() + word.len() + 2));
            let is_there = |found: &Found| found.start == left.len() && found.end == left.len() + word.len();
            prop_assert!(all(&text, 0).iter().any(is_there));
        }
    }
}
