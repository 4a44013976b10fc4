//! Secrets that show by their own shape or by the words before them, as a table.
//!
//! Refuses to know the names of settings; that is `pairs`.

use std::ops::Range;
use std::sync::LazyLock;

use super::judge::{always, is_no_example};

mod places;
mod vendors;

/// All rules; a rule's number is its place here.
pub(super) static RULES: LazyLock<Vec<&'static Rule>> =
    LazyLock::new(|| vendors::VENDORS.iter().chain(places::PLACES).collect());

/// One kind of secret: where to look for it, what it looks like, what must hold besides.
pub(super) struct Rule {
    /// What the mark says.
    pub(super) kind: &'static str,
    /// The words that it begins with or that stand before it.
    pub(super) starts: &'static [&'static str],
    pub(super) shape: Shape,
    /// Refuses what a longer or shorter part of the same match could not save.
    pub(super) holds: fn(&str) -> bool,
    pub(super) edge: Edge,
    /// Words of which one must stand a little before it in the line; none when any line will do.
    pub(super) needs: &'static [&'static str],
}

/// What follows the word.
pub(super) enum Shape {
    /// The word as it is written here and at least so many characters: all of it is the secret.
    Run(Letters, usize),
    /// A pattern that begins where the word does, in either case; group `secret` is replaced.
    Pattern(&'static str),
    /// What follows the word up to one of the characters that end a value in an address, at least so long.
    Query(usize),
    /// What a function finds in the text that begins with the word.
    Read(fn(&str) -> Option<Range<usize>>),
}

/// The characters of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Letters {
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

impl Letters {
    pub(super) fn has(self, byte: u8) -> bool {
        byte.is_ascii_alphanumeric() && self.has_letter(byte)
            || match self {
                Self::Plain | Self::Hex | Self::Capital => false,
                Self::Url => matches!(byte, b'_' | b'-'),
                Self::Dotted => matches!(byte, b'_' | b'-' | b'.' | b'='),
                Self::Base64 => matches!(byte, b'+' | b'/' | b'='),
            }
    }

    fn has_letter(self, byte: u8) -> bool {
        match self {
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Capital => !byte.is_ascii_lowercase(),
            Self::Plain | Self::Url | Self::Dotted | Self::Base64 => true,
        }
    }
}

/// What may stand before the word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Edge {
    /// No letter or digit.
    Word,
    /// No letter, digit or hyphen.
    Alone,
    Anywhere,
}

const fn run(
    kind: &'static str,
    starts: &'static [&'static str],
    letters: Letters,
    least: usize,
) -> Rule {
    Rule {
        kind,
        starts,
        shape: Shape::Run(letters, least),
        holds: is_no_example,
        edge: Edge::Word,
        needs: &[],
    }
}

const fn after(
    kind: &'static str,
    starts: &'static [&'static str],
    text: &'static str,
    holds: fn(&str) -> bool,
) -> Rule {
    Rule {
        kind,
        starts,
        shape: Shape::Pattern(text),
        holds,
        edge: Edge::Anywhere,
        needs: &[],
    }
}

const fn read(
    kind: &'static str,
    starts: &'static [&'static str],
    find: fn(&str) -> Option<Range<usize>>,
) -> Rule {
    Rule {
        kind,
        starts,
        shape: Shape::Read(find),
        holds: always,
        edge: Edge::Anywhere,
        needs: &[],
    }
}

const fn query(starts: &'static [&'static str], least: usize, holds: fn(&str) -> bool) -> Rule {
    Rule {
        kind: "query-secret",
        starts,
        shape: Shape::Query(least),
        holds,
        edge: Edge::Anywhere,
        needs: &[],
    }
}

/// A rule whose word is short, and so stands inside of many hashes after a hyphen.
const fn alone(rule: Rule) -> Rule {
    Rule {
        edge: Edge::Alone,
        ..rule
    }
}

const fn word(rule: Rule) -> Rule {
    Rule {
        edge: Edge::Word,
        ..rule
    }
}

const fn in_line_with(needs: &'static [&'static str], rule: Rule) -> Rule {
    Rule { needs, ..rule }
}
