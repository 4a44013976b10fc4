//! The fence around data in a prompt, which no data can close.
//!
//! Refuses to look at what the data says.

/// Puts a text between fences longer than any run of backticks in it, on lines of their own wherever
/// in a template it stands: a fence that shares its line with other text is none.
pub fn fenced(text: &str) -> String {
    let mut longest = 2;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    let text = text.trim_end_matches(['\n', '\r']);
    format!("\n{fence}data\n{text}\n{fence}\n")
}

/// Returns the backticks that open a fence in a line, or nothing.
pub fn opening(line: &str) -> &str {
    let n_ticks = line.len() - line.trim_start_matches('`').len();
    if n_ticks >= 3 { &line[..n_ticks] } else { "" }
}
