//! Finds the fence around data in a prompt, which no data can close.

use crate::text::fenced_block::fence_text_as;

/// Performs the filter `fenced`: puts a text into a block that it cannot close. The info string is `data` unless a
/// template gives another one.
pub fn fence_filter(text: &str, info: Option<&str>) -> String {
    fence_text_as(info.unwrap_or("data"), text)
}

/// Returns the backticks that open a fence in a line, or an empty string.
pub fn opening_fence(line: &str) -> &str {
    let n_ticks = line.len() - line.trim_start_matches('`').len();
    if n_ticks >= 3 { &line[..n_ticks] } else { "" }
}
