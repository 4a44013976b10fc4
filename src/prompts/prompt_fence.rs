//! Finds the fence around data in a prompt, which no data can close.

pub use crate::text::fenced_block::fence_text;

/// Returns the backticks that open a fence in a line, or an empty string.
pub fn opening_fence(line: &str) -> &str {
    let n_ticks = line.len() - line.trim_start_matches('`').len();
    if n_ticks >= 3 { &line[..n_ticks] } else { "" }
}
