//! Finds the places in a text that need a closer look: words that every secret contains or has next to it.
//!
//! Nothing is judged here. A first test looks at four bytes at a time and skips most text; where the four bytes may
//! belong to a word, the word itself is compared.

use std::sync::LazyLock;

use memchr::memchr_iter;

use super::env_secrets::EnvSecrets;
use super::redaction_rules::{REDACTION_RULES, SecretShape};
use super::secret_names::SECRET_NAME_ENDINGS;
use super::url_logins::login_signs;

/// What an anchor word leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnchorKind {
    /// The rule with this number.
    Rule(usize),
    /// The end of a name for secrets.
    SecretName,
    /// Not a word, but a sign that the line may contain a token with several parts, a login or a known value.
    Sign,
}

/// One anchor word in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AnchorMatch {
    pub(super) kind: AnchorKind,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl AnchorMatch {
    fn from_sign(at: usize) -> Self {
        Self {
            kind: AnchorKind::Sign,
            start: at,
            end: at + 1,
        }
    }

    /// Returns the same anchor in a text without its first bytes.
    pub(super) fn moved_left(self, by: usize) -> Self {
        Self {
            start: self.start - by,
            end: self.end - by,
            ..self
        }
    }

    /// Returns whether it may be one of the names in the first line of a private key, which are long.
    pub(super) fn may_start_private_key(&self) -> bool {
        self.kind == AnchorKind::SecretName && self.end - self.start >= "private key".len()
    }
}

/// All words, by four bytes that each contains.
struct AnchorTable {
    words: Vec<(&'static str, AnchorKind)>,
    /// One bit for each four bytes that hint at a word, by a hash that is fast to compute.
    bits: Box<[u64; N_BITS / 64]>,
    /// Where the hints with the same hash prefix begin in `fours`, and the end of the last.
    buckets: Vec<u32>,
    fours: Vec<FourByteHint>,
}

/// Four bytes, with letter case ignored, and their position in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FourByteHint {
    four: u32,
    word: u16,
    offset: u16,
}

/// Sorts hints by bucket, with those of one bucket in the order in which they came; returns also where each bucket begins,
/// and where the last one ends. The table is made at each start, and a general sort takes five times as long.
fn sort_into_buckets(hints: &[FourByteHint]) -> (Vec<u32>, Vec<FourByteHint>) {
    let bucket = |hint: &FourByteHint| bucket_index(hint.four) as usize;
    let mut borders = vec![0_u32; (1 << BUCKET_BITS) + 1];
    for hint in hints {
        if let Some(n_in_bucket) = borders.get_mut(bucket(hint) + 1) {
            *n_in_bucket += 1;
        }
    }
    let mut n_before = 0;
    for border in &mut borders {
        n_before += *border;
        *border = n_before;
    }
    let mut free = borders.clone();
    let mut sorted = hints.to_vec();
    for hint in hints {
        if let Some(at) = free.get_mut(bucket(hint))
            && let Some(place) = sorted.get_mut(*at as usize)
        {
            *place = *hint;
            *at += 1;
        }
    }
    (borders, sorted)
}

const TABLE_BITS: u32 = 18;
const N_BITS: usize = 1 << TABLE_BITS;
const BUCKET_BITS: u32 = 12;

/// How many positions are tested before one check whether any of them was a hint.
const STRIDE: usize = 16;

/// Letter case is ignored; some other signs become equal as well.
const CASE_FOLD: u32 = 0x2020_2020;

static ANCHOR_TABLE: LazyLock<AnchorTable> = LazyLock::new(AnchorTable::new);

impl AnchorTable {
    fn new() -> Self {
        let mut words = Vec::new();
        let mut fours = Vec::new();
        for (number, rule) in REDACTION_RULES.iter().enumerate() {
            let may_follow = |byte: u8| match rule.shape {
                SecretShape::Run(letters, _) => letters.contains(byte),
                SecretShape::Pattern(_) | SecretShape::QueryValue(_) | SecretShape::Finder(_) => {
                    true
                }
            };
            for word in rule.start_words {
                insert_word(word.as_bytes(), words.len(), &may_follow, &mut fours);
                words.push((*word, AnchorKind::Rule(number)));
            }
        }
        // A name that ends in another one is found by that one.
        let ends_in_other = |name: &str| {
            let mut others = SECRET_NAME_ENDINGS
                .iter()
                .filter(|other| other.len() < name.len());
            others.any(|other| name.ends_with(other))
        };
        for name in SECRET_NAME_ENDINGS
            .into_iter()
            .filter(|name| !ends_in_other(name))
        {
            insert_word(name.as_bytes(), words.len(), &can_end_name, &mut fours);
            words.push((name, AnchorKind::SecretName));
        }
        let mut bits = Box::new([0; N_BITS / 64]);
        for four in &fours {
            let place = bit_index(four.four);
            bits[place / 64] |= 1 << (place % 64);
        }
        let (buckets, fours) = sort_into_buckets(&fours);
        Self {
            words,
            bits,
            buckets,
            fours,
        }
    }

    /// Calls `found` for every word, in the order in which their hints are seen, until it returns true.
    fn for_each_match(
        &self,
        bytes: &[u8],
        from: usize,
        found: &mut impl FnMut(AnchorMatch) -> bool,
    ) {
        let mut at = from;
        while let Some(window) = bytes
            .get(at..)
            .and_then(|rest| rest.first_chunk::<{ STRIDE + 3 }>())
        {
            let mut hints = 0u32;
            for (n, four) in window.windows(4).enumerate() {
                hints |= self.hint_bit(fold_four(four)) << n;
            }
            while hints != 0 {
                let n = hints.trailing_zeros();
                hints &= hints - 1;
                if self.match_at_hint(bytes, at + n as usize, found) {
                    return;
                }
            }
            at += STRIDE;
        }
        for place in at..bytes.len().saturating_sub(3) {
            let is_hint = bytes
                .get(place..place + 4)
                .is_some_and(|four| self.hint_bit(fold_four(four)) == 1);
            if is_hint && self.match_at_hint(bytes, place, found) {
                return;
            }
        }
    }

    /// Looks for the words with the four bytes that begin at a position.
    fn match_at_hint(
        &self,
        bytes: &[u8],
        at: usize,
        found: &mut impl FnMut(AnchorMatch) -> bool,
    ) -> bool {
        let four = bytes.get(at..at + 4).map(fold_four).unwrap_or_default();
        let bucket = bucket_index(four) as usize;
        let border = |bucket: usize| self.buckets.get(bucket).map_or(0, |begin| *begin as usize);
        let fours = self.fours.get(border(bucket)..border(bucket + 1));
        for hint in fours.unwrap_or_default() {
            if hint.four != four {
                continue;
            }
            let Some((word, anchor)) = self.words.get(usize::from(hint.word)) else {
                continue;
            };
            let Some(start) = at.checked_sub(usize::from(hint.offset)) else {
                continue;
            };
            let end = start + word.len();
            let is_there = bytes
                .get(start..end)
                .is_some_and(|there| there.eq_ignore_ascii_case(word.as_bytes()));
            let anchor = *anchor;
            if is_there
                && found(AnchorMatch {
                    kind: anchor,
                    start,
                    end,
                })
            {
                return true;
            }
        }
        false
    }

    fn hint_bit(&self, four: u32) -> u32 {
        let place = bit_index(four);
        (self.bits[(place / 64) % (N_BITS / 64)] >> (place % 64) & 1) as u32
    }
}

/// Returns whether a name may end before a byte and lead to a value.
pub(super) fn can_end_name(next: u8) -> bool {
    next.is_ascii() && !next.is_ascii_alphanumeric() && !matches!(next, b'_' | b'-' | b'.')
}

fn fold_four(four: &[u8]) -> u32 {
    four.first_chunk()
        .map_or(0, |four| u32::from_le_bytes(*four))
        | CASE_FOLD
}

fn hash_four(four: u32) -> u32 {
    four.wrapping_mul(0x9e37_79b1)
}

fn bit_index(four: u32) -> usize {
    (hash_four(four) >> (u32::BITS - TABLE_BITS)) as usize
}

fn bucket_index(four: u32) -> u32 {
    hash_four(four) >> (u32::BITS - BUCKET_BITS)
}

/// Adds a hint for the four bytes of a word that are rarest in ordinary text; a shorter word is combined
/// with all bytes that may follow.
fn insert_word(
    word: &[u8],
    number: usize,
    may_follow: &dyn Fn(u8) -> bool,
    fours: &mut Vec<FourByteHint>,
) {
    if word.len() < 4 {
        let mut longer = [word, &[0]].concat();
        // Of two bytes that are equal when folded, one is enough.
        let is_entered = |byte: u8| byte & 0x20 != 0 && may_follow(byte & !0x20);
        let next = (0..=u8::MAX).filter(|byte| may_follow(*byte) && !is_entered(*byte));
        for next in next {
            if let Some(last) = longer.last_mut() {
                *last = next;
            }
            insert_word(&longer, number, may_follow, fours);
        }
        return;
    }
    // The windows of a longer word are compared; a word of four bytes has one.
    let seldom = |(_, four): &(usize, &[u8])| {
        let commonness = four.iter().map(|byte| byte_frequency(*byte));
        commonness.sum::<u32>()
    };
    let rarest = match word {
        [_, _, _, _] => Some((0, word)),
        _ => word.windows(4).enumerate().min_by_key(seldom),
    };
    if let Some((offset, four)) = rarest {
        let four = fold_four(four);
        // There are some hundred short words.
        fours.push(FourByteHint {
            four,
            word: u16::try_from(number).unwrap_or(u16::MAX),
            offset: u16::try_from(offset).unwrap_or(u16::MAX),
        });
    }
}

/// Returns how common a byte is in typical input: logs, code and prose.
fn byte_frequency(byte: u8) -> u32 {
    match byte.to_ascii_lowercase() {
        b'e' | b't' | b'a' | b'o' | b'i' | b'n' | b's' | b'r' | b' ' => 10,
        b'h' | b'l' | b'd' | b'c' | b'u' | b'm' | b'p' | b'g' => 6,
        b'f' | b'w' | b'y' | b'b' | b'v' | b'-' | b'.' | b'0'..=b'9' => 4,
        _ => 2,
    }
}

/// Returns whether [`collect_anchors`] would find anything.
pub(super) fn has_hint(text: &str, known: Option<&EnvSecrets>) -> bool {
    let bytes = text.as_bytes();
    let mut has_word = false;
    ANCHOR_TABLE.for_each_match(bytes, 0, &mut |_| {
        has_word = true;
        true
    });
    has_word
        || token_dots(bytes).chain(login_signs(bytes)).next().is_some()
        || known.is_some_and(|known| known.match_starts(text).next().is_some())
}

/// Collects into `all` every word of a text, and every sign of a secret without a word, in the order of their ends.
pub(super) fn collect_anchors(text: &str, known: Option<&EnvSecrets>, all: &mut Vec<AnchorMatch>) {
    all.clear();
    let bytes = text.as_bytes();
    let order = |found: &AnchorMatch| (found.end, found.start);
    ANCHOR_TABLE.for_each_match(bytes, 0, &mut |found| {
        // Words are found almost in order.
        let mut at = all.len();
        while at > 0
            && all
                .get(at - 1)
                .is_some_and(|last| order(last) > order(&found))
        {
            at -= 1;
        }
        all.insert(at, found);
        false
    });
    let n_words = all.len();
    all.extend(
        token_dots(bytes)
            .chain(login_signs(bytes))
            .map(AnchorMatch::from_sign),
    );
    let known = known.into_iter().flat_map(|known| known.match_starts(text));
    all.extend(known.map(AnchorMatch::from_sign));
    if all.len() > n_words {
        all.sort_by_key(order);
    }
}

/// Finds dots with another one seven bytes later, as in tokens with three parts, and dots
/// after `pat` and fourteen letters.
pub(super) fn token_dots(bytes: &[u8]) -> impl Iterator<Item = usize> {
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
        has_hint(text, None)
    }

    #[test]
    fn ordinary_words_are_passed_over() {
        for plain in [
            "the state file is written after every step, naïve 漢字 🦀",
            r#"{"type":"stream_event","uuid":"0195e7b0-63b1-7a2c-8f3d"}"#,
        ] {
            let mut all = Vec::new();
            collect_anchors(plain, None, &mut all);
            assert_eq!(all, [], "{plain}");
            assert!(!is_hinted(plain));
        }
        assert!(is_hinted("a Token") && is_hinted("GLPAT-x") && is_hinted("x://y"));
    }

    #[test]
    fn each_hint_is_in_its_bucket_once() {
        let table = &*ANCHOR_TABLE;
        assert_eq!(table.buckets.len(), (1 << BUCKET_BITS) + 1);
        assert_eq!(
            table.buckets.last().copied(),
            u32::try_from(table.fours.len()).ok()
        );
        for (bucket, borders) in (0_u32..).zip(table.buckets.windows(2)) {
            let hints = &table.fours[borders[0] as usize..borders[1] as usize];
            for (n, hint) in hints.iter().enumerate() {
                assert_eq!(bucket_index(hint.four), bucket);
                assert!(
                    !hints[..n].contains(hint),
                    "{}",
                    table.words[usize::from(hint.word)].0
                );
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn no_word_is_missed(left in "[ -~é漢]{0,9}", number in any::<prop::sample::Index>(), sign in "[ -,:-?]", letters in "[0-9a-f]{4}", rest in "[ -~]{1,9}", upper in any::<bool>()) {
            let (word, anchor) = number.get(&ANCHOR_TABLE.words);
            let right = if *anchor == AnchorKind::SecretName { sign + &rest } else { letters + &rest };
            let text = format!("{left}{}{right}", if upper { word.to_uppercase() } else { (*word).to_owned() });
            let is_there = |found: &AnchorMatch| found.start == left.len() && found.end == left.len() + word.len();
            let mut all = Vec::new();
            collect_anchors(&text, None, &mut all);
            prop_assert!(is_hinted(&text) && all.iter().any(is_there));
            prop_assert!(all.is_sorted_by_key(|found| (found.end, found.start)));
        }
    }
}
