//! Lists of words written as one text, blanks between them.
//!
//! It refuses to know what the words are.

/// Tells whether a word stands in a list.
pub fn listed(list: &str, word: &str) -> bool {
    !word.is_empty() && list.split_whitespace().any(|listed| listed == word)
}
