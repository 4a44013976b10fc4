//! Looks up words in lists that are written as one text, separated by spaces.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

thread_local! {
    /// Each list is split once; the key is the address and length of its text.
    static WORD_LISTS: RefCell<HashMap<(usize, usize), HashSet<&'static str>>> = RefCell::default();
}

/// Returns whether a list contains a word.
pub fn is_in_word_list(list: &'static str, word: &str) -> bool {
    let key = (list.as_ptr() as usize, list.len());
    WORD_LISTS.with_borrow_mut(|lists| {
        let words = lists
            .entry(key)
            .or_insert_with(|| list.split_whitespace().collect());
        words.contains(word)
    })
}
