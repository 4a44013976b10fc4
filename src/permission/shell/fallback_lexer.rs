//! Splits a text at operators and spaces, for texts that cannot be parsed.
//!
//! Quotes and backslashes are dropped, so that no word can hide in them. There is no syntax here.

/// Splits a text into lines of words, without empty lines. Linear for every text.
pub fn split_rough_lines(text: &str) -> Vec<Vec<String>> {
    let is_operator = |c: char| matches!(c, ';' | '|' | '&' | '\n' | '(' | ')' | '`' | '<' | '>');
    text.replace("\\\n", "")
        .split(is_operator)
        .map(split_rough_words)
        .filter(|words| !words.is_empty())
        .collect()
}

fn split_rough_words(line: &str) -> Vec<String> {
    line.split(|c: char| c.is_whitespace() || matches!(c, '{' | '}'))
        .map(|word| word.replace(['\'', '"', '\\', '$'], ""))
        .filter(|word| !word.is_empty())
        .collect()
}
