//! Measures how much two short texts share, word by word, whatever their order, letter case and white space.

use std::collections::HashMap;

/// Returns the words of a text in lower case. A character of a script without spaces is a word of its own.
pub fn split_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for c in text.chars().flat_map(char::to_lowercase) {
        let is_ideograph = matches!(u32::from(c), 0x3040..=0x30ff | 0x3400..=0x9fff | 0xac00..=0xd7af | 0x20000..=0x2ffff);
        if c.is_alphanumeric() && !is_ideograph {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if is_ideograph {
            words.push(c.to_string());
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Returns the share of words that two texts have in common, from 0 to 1 (Sørensen–Dice over multisets). Two texts
/// without a word are the same.
pub fn word_similarity(one: &str, other: &str) -> f64 {
    let (one, other) = (split_words(one), split_words(other));
    if one.is_empty() && other.is_empty() {
        return 1.0;
    }
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for word in &one {
        *counts.entry(word).or_default() += 1;
    }
    let mut n_shared = 0usize;
    for word in &other {
        if let Some(left) = counts.get_mut(word.as_str()).filter(|left| **left > 0) {
            *left -= 1;
            n_shared += 1;
        }
    }
    2.0 * n_shared as f64 / (one.len() + other.len()) as f64
}

/// Returns a text with every run of white space as one space, and none at its ends.
pub fn collapse_white_space(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_case_and_white_space_do_not_count_and_words_do() {
        let is = |one: &str, other: &str| (word_similarity(one, other) * 100.0).round();
        assert!((is("No test for empty input", "empty INPUT:\n no test for") - 100.0).abs() < 0.1);
        assert!((is("缺少空输入的测试", "测试缺少空输入的") - 100.0).abs() < 0.1);
        assert!((is("a b c d", "a b x y") - 50.0).abs() < 0.1);
        assert!((is("a a", "a") - 67.0).abs() < 0.1);
        assert!((is("", "  ") - 100.0).abs() < 0.1);
        assert!(is("one", "").abs() < 0.1);
        assert_eq!(collapse_white_space("  a\n\tb  "), "a b");
    }
}
