//! Secrets that show by their own shape or by the words before them, as a table.
//!
//! Refuses to know the names of settings; that is `pairs`.

use std::ops::Range;
use std::sync::LazyLock;

use super::secret_heuristics::{accept_any, is_not_example};

mod context_rules;
mod vendor_rules;

/// All rules; a rule's number is its place here.
pub(super) static REDACTION_RULES: LazyLock<Vec<&'static RedactionRule>> = LazyLock::new(|| {
    vendor_rules::VENDOR_RULES
        .iter()
        .chain(context_rules::CONTEXT_RULES)
        .collect()
});

/// One kind of secret: where to look for it, what it looks like, what must hold besides.
pub(super) struct RedactionRule {
    /// What the mark says.
    pub(super) kind: &'static str,
    /// The words that it begins with or that stand before it.
    pub(super) start_words: &'static [&'static str],
    pub(super) shape: SecretShape,
    /// Refuses what a longer or shorter part of the same match could not save.
    pub(super) is_secret: fn(&str) -> bool,
    pub(super) edge: WordEdge,
    /// Words of which one must stand a little before it in the line; none when any line will do.
    pub(super) nearby_words: &'static [&'static str],
}

/// What follows the word.
pub(super) enum SecretShape {
    /// The word as it is written here and at least so many characters: all of it is the secret.
    Run(TokenAlphabet, usize),
    /// A pattern that begins where the word does, in either case; group `secret` is replaced.
    Pattern(&'static str),
    /// What follows the word up to one of the characters that end a value in an address, at least so long.
    QueryValue(usize),
    /// What a function finds in the text that begins with the word.
    Finder(fn(&str) -> Option<Range<usize>>),
}

/// The characters of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenAlphabet {
    /// Letters and digits.
    Plain,
    /// Also `_` and `-`.
    Url,
    /// Also `_`, `-`, `.` and `=`.
    Dotted,
    /// Also `+`, `/` and `=`.
    Base64,
    Hex,
    /// Capital letters and digits.
    Capital,
}

impl TokenAlphabet {
    pub(super) fn contains(self, byte: u8) -> bool {
        byte.is_ascii_alphanumeric() && self.contains_alphanumeric(byte)
            || match self {
                Self::Plain | Self::Hex | Self::Capital => false,
                Self::Url => matches!(byte, b'_' | b'-'),
                Self::Dotted => matches!(byte, b'_' | b'-' | b'.' | b'='),
                Self::Base64 => matches!(byte, b'+' | b'/' | b'='),
            }
    }

    fn contains_alphanumeric(self, byte: u8) -> bool {
        match self {
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Capital => !byte.is_ascii_lowercase(),
            Self::Plain | Self::Url | Self::Dotted | Self::Base64 => true,
        }
    }
}

/// What may stand before the word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WordEdge {
    /// No letter or digit.
    WordStart,
    /// No letter, digit or hyphen.
    UnhyphenatedWordStart,
    Anywhere,
}

const fn token_rule(
    kind: &'static str,
    starts: &'static [&'static str],
    letters: TokenAlphabet,
    least: usize,
) -> RedactionRule {
    RedactionRule {
        kind,
        start_words: starts,
        shape: SecretShape::Run(letters, least),
        is_secret: is_not_example,
        edge: WordEdge::WordStart,
        nearby_words: &[],
    }
}

const fn pattern_rule(
    kind: &'static str,
    starts: &'static [&'static str],
    text: &'static str,
    holds: fn(&str) -> bool,
) -> RedactionRule {
    RedactionRule {
        kind,
        start_words: starts,
        shape: SecretShape::Pattern(text),
        is_secret: holds,
        edge: WordEdge::Anywhere,
        nearby_words: &[],
    }
}

const fn finder_rule(
    kind: &'static str,
    starts: &'static [&'static str],
    find: fn(&str) -> Option<Range<usize>>,
) -> RedactionRule {
    RedactionRule {
        kind,
        start_words: starts,
        shape: SecretShape::Finder(find),
        is_secret: accept_any,
        edge: WordEdge::Anywhere,
        nearby_words: &[],
    }
}

const fn query_rule(
    starts: &'static [&'static str],
    least: usize,
    holds: fn(&str) -> bool,
) -> RedactionRule {
    RedactionRule {
        kind: "query-secret",
        start_words: starts,
        shape: SecretShape::QueryValue(least),
        is_secret: holds,
        edge: WordEdge::Anywhere,
        nearby_words: &[],
    }
}

/// A rule whose word is short, and so stands inside of many hashes after a hyphen.
const fn at_unhyphenated_word_start(rule: RedactionRule) -> RedactionRule {
    RedactionRule {
        edge: WordEdge::UnhyphenatedWordStart,
        ..rule
    }
}

const fn at_word_start(rule: RedactionRule) -> RedactionRule {
    RedactionRule {
        edge: WordEdge::WordStart,
        ..rule
    }
}

const fn needs_nearby_word(needs: &'static [&'static str], rule: RedactionRule) -> RedactionRule {
    RedactionRule {
        nearby_words: needs,
        ..rule
    }
}
