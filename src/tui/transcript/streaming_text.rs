//! A text that is being received, cleaned piece by piece for display.
//!
//! Cleaning stops at the display limit, because the finished text soon replaces it.

use crate::text::{TextCleaner, redactor};

/// How many bytes of an unfinished text are shown: twice what the cleaner may hold back.
const MAX_STREAMED_BYTES: usize = 2 * redactor::LINE_HOLD_LIMIT;
/// Shown after a text that reached the limit.
const TRUNCATION_NOTE: &str = "\n[the rest is not shown]";

/// Whether a text can still grow on the screen.
#[derive(Debug)]
pub(super) enum StreamingText {
    Streaming {
        cleaner: Box<TextCleaner>,
        n_bytes: usize,
    },
    /// The display limit is reached.
    Full,
}

impl Default for StreamingText {
    fn default() -> Self {
        Self::Streaming {
            cleaner: Box::default(),
            n_bytes: 0,
        }
    }
}

impl StreamingText {
    /// Adds the next piece; returns what can be shown now.
    pub(super) fn push(&mut self, piece: &str) -> String {
        let Self::Streaming { cleaner, n_bytes } = self else {
            return String::new();
        };
        let room = MAX_STREAMED_BYTES.saturating_sub(*n_bytes);
        if piece.len() <= room {
            *n_bytes += piece.len();
            return cleaner.push(piece);
        }
        let mut shown = cleaner.push(piece.get(..piece.floor_char_boundary(room)).unwrap_or(""));
        shown.push_str(TRUNCATION_NOTE);
        *self = Self::Full;
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_text_without_end_the_beginning_is_shown() {
        let mut saying = StreamingText::default();
        let mut shown = String::new();
        for _ in 0..3 {
            shown.push_str(&saying.push(&"日本語の文 ".repeat(10_000)));
        }
        assert!(shown.starts_with("日本語の文 日本語の文 "));
        assert!(
            shown.ends_with(TRUNCATION_NOTE)
                && shown.len() <= MAX_STREAMED_BYTES + TRUNCATION_NOTE.len()
        );
        assert!(
            shown.len() > redactor::LINE_HOLD_LIMIT / 2,
            "{}",
            shown.len()
        );
    }
}
