//! Formats counts with their noun, and counts the lines in which two documents differ.
//!
//! Only English plurals are known.

use similar::{DiffOp, TextDiff};

use super::front_matter;

/// Formats a number with its noun: `1 step`, `3 steps`.
pub fn pluralize(n: usize, one: &str) -> String {
    match n {
        1 => format!("1 {one}"),
        n => format!("{n} {one}s"),
    }
}

/// Formats how many lines came and went, without a count of zero: `+3 −1`, `+3`, `−1`; empty if none did.
pub fn describe_line_counts(added: usize, removed: usize) -> String {
    let counts = [('+', added), ('−', removed)];
    let counts = counts.into_iter().filter(|(_, n)| *n > 0);
    let counts: Vec<String> = counts.map(|(sign, n)| format!("{sign}{n}")).collect();
    counts.join(" ")
}

/// Formats how many lines of two documents differ, in a sentence: `+3 −1`, or `no lines`.
pub fn describe_line_changes(added: usize, removed: usize) -> String {
    match (added, removed) {
        (0, 0) => "no lines".to_owned(),
        _ => describe_line_counts(added, removed),
    }
}

/// Returns how many lines a document has that an earlier one lacks, and how many it lacks itself. Lines that the
/// program writes before the document's text do not count, and a missing newline at the end makes no difference.
pub fn count_changed_lines(old: &str, new: &str) -> (usize, usize) {
    let (old, new) = (body_lines(old), body_lines(new));
    let diff = TextDiff::from_slices(&old, &new);
    let changed = diff
        .ops()
        .iter()
        .filter(|op| !matches!(op, DiffOp::Equal { .. }));
    changed.fold((0, 0), |(came, went), op| {
        (came + op.new_range().len(), went + op.old_range().len())
    })
}

/// Returns how many lines the text of a document has.
pub fn count_lines(document: &str) -> usize {
    body_lines(document).len()
}

fn body_lines(document: &str) -> Vec<&str> {
    let body = front_matter::parse_document(document).body;
    body.trim_start_matches('\n').lines().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_no_plural() {
        let told: Vec<String> = (0..3).map(|n| pluralize(n, "step")).collect();
        assert_eq!(told, ["0 steps", "1 step", "2 steps"]);
    }

    #[test]
    fn lines_are_counted_whatever_ends_them_and_without_what_the_program_writes() {
        assert_eq!(count_changed_lines("a\nb\nc", "a\nx\ny\nc\n"), (2, 1));
        assert_eq!(count_changed_lines("a\nb", "a\nb\n"), (0, 0));
        assert_eq!(
            count_changed_lines("---\nplan: 1\n---\n\na\n", "a\nb\n"),
            (1, 0)
        );
        assert_eq!(count_changed_lines("", "a\n"), (1, 0));
        assert_eq!(
            [count_lines("---\nplan: 1\n---\n\na\nb"), count_lines("")],
            [2, 0]
        );
    }
}
