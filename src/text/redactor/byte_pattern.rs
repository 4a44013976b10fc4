//! Regular expressions over bytes, in which letters, digits and spaces are ASCII only.
//!
//! They are ten times smaller than expressions over all of Unicode and quick to compile, so the first
//! text with a secret does not wait.

use std::ops::Range;

use regex_automata::util::primitives::NonMaxUsize;
use regex_automata::util::syntax;
use regex_automata::{Input, meta};

#[derive(Debug)]
pub(super) struct BytePattern(meta::Regex);

/// How many groups are reported, including the whole match.
const N_GROUPS: usize = 2;

/// Where a pattern matched.
#[derive(Debug, Clone, Copy)]
pub(super) struct BytePatternMatch<'t> {
    text: &'t str,
    slots: [Option<NonMaxUsize>; 2 * N_GROUPS],
}

impl BytePattern {
    /// Compiles one of the redactor's own patterns.
    #[expect(
        clippy::expect_used,
        reason = "the patterns are constants and every one is compiled by the tests"
    )]
    pub(super) fn new(text: &str) -> Self {
        Self::try_new(text).expect("a constant pattern is valid")
    }

    pub(super) fn try_new(text: &str) -> Result<Self, Box<meta::BuildError>> {
        meta::Regex::builder()
            .syntax(syntax::Config::new().unicode(false).utf8(false))
            .configure(meta::Config::new().utf8_empty(false))
            .build(text)
            .map(Self)
            .map_err(Box::new)
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    /// Finds the leftmost match and its first group.
    pub(super) fn find_match<'t>(&self, text: &'t str) -> Option<BytePatternMatch<'t>> {
        let mut slots = [None; 2 * N_GROUPS];
        self.0.search_slots(&Input::new(text), &mut slots)?;
        Some(BytePatternMatch { text, slots })
    }

    /// Returns the name of the pattern's first group.
    #[cfg(test)]
    pub(super) fn first_group(&self) -> Option<&str> {
        let groups = self.0.group_info();
        groups.to_name(regex_automata::PatternID::ZERO, 1)
    }
}

impl<'t> BytePatternMatch<'t> {
    /// Returns the range of the whole match; like every reported position it is on character boundaries.
    pub(super) fn whole_range(&self) -> Range<usize> {
        self.group_range(0).unwrap_or_default()
    }

    /// Returns the range of the first group, if it took part.
    pub(super) fn first_group_range(&self) -> Option<Range<usize>> {
        self.group_range(1)
    }

    fn group_range(&self, number: usize) -> Option<Range<usize>> {
        let slot = |at: usize| self.slots.get(at).copied().flatten();
        let (start, end) = (slot(2 * number)?.get(), slot(2 * number + 1)?.get());
        Some(self.text.floor_char_boundary(start)..self.text.ceil_char_boundary(end))
    }
}
