//! A table of secrets that are recognised by their own shape or by the words before them.
//!
//! Secrets that are recognised by the name of a setting are in `key_value`.

use std::ops::Range;
use std::sync::LazyLock;

use super::secret_heuristics::{accept_any, is_not_example};

mod context_rules;
mod vendor_rules;

/// All rules; a rule's number is its index here.
pub(super) static REDACTION_RULES: LazyLock<Vec<&'static RedactionRule>> = LazyLock::new(|| {
    vendor_rules::VENDOR_RULES
        .iter()
        .chain(context_rules::CONTEXT_RULES)
        .collect()
});

/// One kind of secret: where to look for it, its shape, and further conditions.
pub(super) struct RedactionRule {
    /// The kind that the mark shows.
    pub(super) kind: &'static str,
    /// The words that it begins with, or that come before it.
    pub(super) start_words: &'static [&'static str],
    pub(super) shape: SecretShape,
    /// Returns whether a match may be a secret. If not, no longer or shorter part of it may be one either.
    pub(super) is_secret: fn(&str) -> bool,
    pub(super) edge: WordEdge,
    /// If not empty, one of these words must be shortly before it in the line.
    pub(super) nearby_words: &'static [&'static str],
}

/// What follows the word.
pub(super) enum SecretShape {
    /// The word exactly as written, and at least this many characters: all of it is the secret.
    Run(TokenAlphabet, usize),
    /// A pattern that begins at the word, ignoring case; group `secret` is replaced.
    Pattern(&'static str),
    /// The text after the word up to a character that ends a value in a URL, at least this long.
    QueryValue(usize),
    /// What a function finds in the text that begins with the word.
    Finder(fn(&str) -> Option<Range<usize>>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenAlphabet {
    Plain,
    /// Also `_` and `-`.
    Url,
    /// Also `_`, `-`, `.` and `=`.
    Dotted,
    /// Also `+`, `/` and `=`.
    Base64,
    Hex,
    /// Upper case letters and digits.
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

/// What may come before the word.
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

/// Makes a rule for a short word, which would also match inside many hashes after a hyphen.
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
