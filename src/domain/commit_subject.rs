//! The first line of the message of a step's commit.

use crate::text::clean_to_one_line;

/// The maximum length of a commit message's first line, in characters.
const MAX_SUBJECT_CHARS: usize = 72;

/// Writes `[mark] text`, cut to 72 characters.
pub fn commit_subject(mark: &str, text: &str) -> String {
    let line = format!("[{mark}] {}", clean_to_one_line(text));
    let mut short: String = line.chars().take(MAX_SUBJECT_CHARS).collect();
    if short.len() < line.len() {
        short.pop();
        short.push('…');
    }
    short
}
