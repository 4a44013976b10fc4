//! Lists of words written as one text, blanks between them.
//!
//! It refuses to know what the words are.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

thread_local! {
    /// Each list taken apart once, by where its text lies.
    static WORD_LISTS: RefCell<HashMap<(usize, usize), HashSet<&'static str>>> = RefCell::default();
}

/// Tells whether a word stands in a list.
pub fn is_in_word_list(list: &'static str, word: &str) -> bool {
    let key = (list.as_ptr() as usize, list.len());
    WORD_LISTS.with_borrow_mut(|lists| {
        let words = lists
            .entry(key)
            .or_insert_with(|| list.split_whitespace().collect());
        words.contains(word)
    })
}
