//! Finds the files that a plan names, so that a reviewer who opened none of them is asked to.

use super::plan_blocks::looks_like_path;

/// How many names are looked up at most.
const MAX_NAMES: usize = 200;

/// Returns the words of a text that could be paths of files below the project, each once, in the order of the text.
/// Whether such a file exists is for the caller to find out.
pub fn named_files(text: &str) -> Vec<String> {
    let is_edge = |c: char| {
        c.is_whitespace()
            || "`\"'()<>[]{},;|*\u{201c}\u{201d}\u{300c}\u{300d}\u{ab}\u{bb}".contains(c)
    };
    // An address is no path, nor is any part of it.
    let words = text.split_whitespace().filter(|word| !word.contains("://"));
    let mut names: Vec<String> = Vec::new();
    for word in words.flat_map(|word| word.split(is_edge)) {
        let path = strip_lines(word.trim_end_matches(['.', ':', '!', '?']));
        let path = path.trim_start_matches("./");
        let is_below = !path.starts_with('/') && !path.split('/').any(|part| part == "..");
        if looks_like_path(path) && is_below && !names.iter().any(|name| name == path) {
            names.push(path.to_owned());
        }
        if names.len() == MAX_NAMES {
            break;
        }
    }
    names
}

/// Removes `:12` or `:12-20` from the end of a path.
fn strip_lines(word: &str) -> &str {
    match word.split_once(':') {
        Some((path, lines)) if lines.starts_with(|c: char| c.is_ascii_digit() || c == 'L') => path,
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_in_prose_and_addresses_are_not() {
        for (text, expected) in [
            (
                "Change `src/a.rs:12-20`, then (docs/b.md).",
                "src/a.rs docs/b.md",
            ),
            ("src/a.rs and ./src/a.rs", "src/a.rs"),
            ("see https://host/src/a.rs and /etc/hosts or ../x.rs", ""),
            ("\u{201c}Makefile.in\u{201d}: e.g. v1.2", "Makefile.in"),
            ("Test: `sh tests/run.sh`", "tests/run.sh"),
            ("", ""),
        ] {
            assert_eq!(named_files(text).join(" "), expected, "{text}");
        }
    }
}
