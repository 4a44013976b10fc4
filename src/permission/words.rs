//! Lists of words written as one text, blanks between them.
//!
//! It refuses to know what the words are.

/// Tells whether a word stands in a list.
pub fn listed(list: &str, word: &str) -> bool {
    let is_end = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_whitespace);
    let bytes = list.as_bytes();
    // Lists are long and asked often: the word is searched, the list not taken apart.
    !word.is_empty()
        && !word.contains(char::is_whitespace)
        && memchr::memmem::find_iter(bytes, word.as_bytes()).any(|at| {
            let before = at.checked_sub(1).and_then(|before| bytes.get(before));
            is_end(before) && is_end(bytes.get(at + word.len()))
        })
}
