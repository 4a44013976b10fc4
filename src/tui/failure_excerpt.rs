//! The part of a test run's output that says what failed.

/// How many lines, counted from the end of the output, are searched for the start of a failure.
const MAX_SEARCHED_LINES: usize = 40;
/// Words that start a failure report of a test runner.
const FAILURE_MARKERS: [&str; 9] = [
    "not ok",
    "FAIL",
    "panicked at",
    "Error:",
    "error:",
    "error[",
    "AssertionError",
    "✗",
    "✕",
];

/// Returns whether a line of output says that something failed.
pub fn is_failure_line(line: &str) -> bool {
    line.starts_with("E  ") || FAILURE_MARKERS.iter().any(|word| line.contains(word))
}

/// Returns at most so many lines of an output: from the start of the failure report on if it can be found, else its end.
pub fn failure_excerpt(output: &str, most: usize) -> String {
    let lines: Vec<&str> = output.lines().collect();
    let near_end = lines.len().saturating_sub(MAX_SEARCHED_LINES);
    let found = lines
        .iter()
        .skip(near_end)
        .position(|line| is_failure_line(line));
    let last = lines.len().saturating_sub(most);
    let from = found.map_or(last, |at| (at + near_end).min(last));
    let shown: Vec<&str> = lines.into_iter().skip(from).take(most).collect();
    shown.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_is_told_from_the_beginning_of_a_failure_on() {
        let mut output: Vec<String> = (1..=30).map(|n| format!("ok {n}")).collect();
        output.push("not ok 31 - counts".to_owned());
        output.extend((1..=12).map(|n| format!("  # line {n} 空")));
        let shown = failure_excerpt(&output.join("\n"), 10);
        assert!(
            shown.starts_with("not ok 31 - counts\n  # line 1 空"),
            "{shown}"
        );
        assert_eq!(shown.lines().count(), 10);
        let late = failure_excerpt("a\nb\nc\nerror: test failed", 3);
        assert_eq!(late, "b\nc\nerror: test failed");
        let plain = failure_excerpt("a\nb", 10);
        assert_eq!(plain, "a\nb");
    }
}
