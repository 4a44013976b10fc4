//! Finds the word at the cursor that names a file.

/// Returns the word before the cursor that starts with `@`.
pub(super) fn file_word(line: &str) -> Option<&str> {
    let at = line.rfind('@')?;
    let before = line[..at].chars().next_back();
    let word = &line[at..];
    let stands_alone = before.is_none_or(|c| c.is_whitespace() || "([{\"'`,;:，。（「".contains(c));
    (stands_alone && !word.contains(char::is_whitespace)).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_meant_by_a_word_of_its_own() {
        assert_eq!(file_word("look at @src/m"), Some("@src/m"));
        assert_eq!(file_word("看（@目"), Some("@目"));
        assert_eq!(file_word("me@example.org"), None);
        assert_eq!(file_word("@a b"), None);
        assert_eq!(file_word("no"), None);
    }
}
