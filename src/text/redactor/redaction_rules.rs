//! A table of secrets that are recognised by their own shape or by the words before them.
//!
//! Its rows are in `data/vendor_rules.toml` and `data/context_rules.toml`. They are needed at each start, before the
//! first frame, so build.rs makes a constant of them: nothing is parsed then.
//!
//! Secrets that are recognised by the name of a setting are in `key_value`.

use std::ops::Range;

use super::{auth_headers, secret_heuristics, url_logins};

/// All rules; a rule's number is its index here.
pub(super) static REDACTION_RULES: &[RedactionRule] =
    &include!(concat!(env!("OUT_DIR"), "/redaction_rules.rs"));

/// One kind of secret: where to look for it, its shape, and further conditions. A row has the fields under these names,
/// but the shape is `letters` with `least`, or `pattern`, `query_least` or `finder`.
pub(super) struct RedactionRule {
    /// The kind that the mark shows.
    pub(super) kind: &'static str,
    /// The words that it begins with, or that come before it.
    pub(super) start_words: &'static [&'static str],
    pub(super) shape: SecretShape,
    /// Returns whether a match may be a secret. If not, no longer or shorter part of it may be one either. A row names
    /// the function as its `condition`; without it, a run must be no example, and another shape has no condition.
    pub(super) is_secret: fn(&str) -> bool,
    /// In a row without it: the start of a word for a run, anywhere for another shape.
    pub(super) edge: WordEdge,
    /// If not empty, one of these words must be shortly before it in the line.
    pub(super) nearby_words: &'static [&'static str],
    /// A text with such a secret in `⟦⟧`, in which `{w:40}` stands for letters as in `secrets.txt`.
    #[cfg(test)]
    pub(super) example: &'static str,
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
    /// No letter, digit or hyphen: for a short word, which would also match inside many hashes after a hyphen.
    UnhyphenatedWordStart,
    Anywhere,
}

/// Finds nothing in its own line: it makes [`super::next_line_values`] look at the lines that follow.
pub(super) fn find_nothing(_text: &str) -> Option<Range<usize>> {
    None
}
