//! Parses how many tests ran from the summary of test runners.
//!
//! Knows pytest, unittest, node:test, jest, vitest, mocha, cargo test, nextest and `go test -v`. The exit
//! status decides about success; the counts only say how much was tested.

use crate::domain::receipt::TestCounts;

/// Adds up every summary line of a known runner; `None` if there is none.
pub(super) fn parse_counts(output: &str) -> Option<TestCounts> {
    let mut total = None;
    let mut n_ran_by_unittest = None;
    for line in output.lines() {
        let line = strip_ansi_escapes(line);
        let line = line.trim();
        if let Some(n) = line
            .strip_prefix("Ran ")
            .and_then(|rest| rest.split_once(" test"))
            .and_then(|(n, _)| n.parse().ok())
        {
            n_ran_by_unittest = Some(n);
            continue;
        }
        let found = match n_ran_by_unittest {
            Some(n_ran) if !line.is_empty() => {
                n_ran_by_unittest = None;
                parse_unittest_summary(n_ran, line).or_else(|| parse_counts_line(line))
            }
            _ => parse_counts_line(line),
        };
        if let Some(found) = found {
            total = Some(add_counts(total.unwrap_or_default(), found));
        }
    }
    total
}

fn parse_counts_line(line: &str) -> Option<TestCounts> {
    let is_closing = is_cargo_summary(line)
        || is_nextest_summary(line)
        || is_pytest_summary(line)
        || is_jest_summary(line)
        || is_vitest_summary(line)
        || is_mocha_summary(line);
    if is_closing {
        Some(sum_counts_in_line(line))
    } else {
        parse_node_line(line).or_else(|| parse_go_line(line))
    }
}

fn is_cargo_summary(line: &str) -> bool {
    line.starts_with("test result: ")
}

fn is_nextest_summary(line: &str) -> bool {
    line.starts_with("Summary [") && line.contains(" run: ")
}

/// Recognizes `=== 1 failed, 2 passed in 0.12s ===`, with or without the bars.
fn is_pytest_summary(line: &str) -> bool {
    let line = line.trim_matches(['=', ' ']);
    if line.starts_with("no tests ran in ") {
        return true;
    }
    let Some((numbers, time)) = line.rsplit_once(" in ") else {
        return false;
    };
    let is_time = time.starts_with(|c: char| c.is_ascii_digit()) && time.contains('s');
    let words = [
        "failed",
        "passed",
        "skipped",
        "error",
        "errors",
        "xfailed",
        "xpassed",
        "deselected",
        "warning",
        "warnings",
    ];
    is_time
        && !numbers.is_empty()
        && numbers.split(", ").all(|part| {
            part.split_once(' ')
                .is_some_and(|(n, word)| n.parse::<u64>().is_ok() && words.contains(&word))
        })
}

fn is_jest_summary(line: &str) -> bool {
    line.starts_with("Tests: ") && line.ends_with(" total")
}

fn is_vitest_summary(line: &str) -> bool {
    line.starts_with("Tests  ") && line.ends_with(')')
}

fn is_mocha_summary(line: &str) -> bool {
    let mut words = line.split(' ');
    let is_number = words.next().is_some_and(|n| n.parse::<u64>().is_ok());
    let (word, rest) = (words.next(), words.next());
    is_number
        && matches!(word, Some("passing" | "failing" | "pending"))
        && rest.is_none_or(|rest| rest.starts_with('('))
}

/// Parses `# pass 3` or `ℹ pass 3`; `tests 0` alone makes the counts known.
fn parse_node_line(line: &str) -> Option<TestCounts> {
    let rest = line
        .strip_prefix("# ")
        .or_else(|| line.strip_prefix("\u{2139} "))?;
    let (word, n) = rest.split_once(' ')?;
    let n = n.parse().ok()?;
    match word {
        "tests" => Some(TestCounts::default()),
        "pass" => Some(TestCounts {
            passed: n,
            ..TestCounts::default()
        }),
        "fail" | "cancelled" => Some(TestCounts {
            failed: n,
            ..TestCounts::default()
        }),
        "skipped" | "todo" => Some(TestCounts {
            skipped: n,
            ..TestCounts::default()
        }),
        _ => None,
    }
}

fn parse_go_line(line: &str) -> Option<TestCounts> {
    let word = line.strip_prefix("--- ")?.split_once(": ")?.0;
    match word {
        "PASS" => Some(TestCounts {
            passed: 1,
            ..TestCounts::default()
        }),
        "FAIL" => Some(TestCounts {
            failed: 1,
            ..TestCounts::default()
        }),
        "SKIP" => Some(TestCounts {
            skipped: 1,
            ..TestCounts::default()
        }),
        _ => None,
    }
}

/// Parses the line after `Ran N tests`: `OK (skipped=1)`, `FAILED (failures=1, errors=2)`, `NO TESTS RAN`.
fn parse_unittest_summary(n_ran: u64, line: &str) -> Option<TestCounts> {
    if !["OK", "FAILED", "NO TESTS RAN"]
        .iter()
        .any(|start| line.starts_with(start))
    {
        return None;
    }
    let (mut failed, mut skipped) = (0, 0);
    for part in line.split(['(', ',', ')']) {
        match part
            .trim()
            .split_once('=')
            .map(|(word, n)| (word, n.parse::<u64>().unwrap_or(0)))
        {
            Some(("failures" | "errors" | "unexpected successes", n)) => failed += n,
            Some(("skipped" | "expected failures", n)) => skipped += n,
            _ => {}
        }
    }
    Some(TestCounts {
        passed: n_ran.saturating_sub(failed + skipped),
        failed,
        skipped,
    })
}

/// Adds up `3 passed`, `1 failed`, … anywhere in a line.
fn sum_counts_in_line(line: &str) -> TestCounts {
    let words: Vec<&str> = line
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let mut counts = TestCounts::default();
    for pair in words.windows(2) {
        let Ok(n) = pair[0].parse::<u64>() else {
            continue;
        };
        match pair[1] {
            "passed" | "passing" | "xpassed" => counts.passed += n,
            "failed" | "failing" | "error" | "errors" => counts.failed += n,
            "skipped" | "ignored" | "pending" | "todo" | "xfailed" => counts.skipped += n,
            _ => {}
        }
    }
    counts
}

fn add_counts(a: TestCounts, b: TestCounts) -> TestCounts {
    TestCounts {
        passed: a.passed + b.passed,
        failed: a.failed + b.failed,
        skipped: a.skipped + b.skipped,
    }
}

/// Removes colour codes (`ESC [ … letter`) from a line.
pub(super) fn strip_ansi_escapes(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            text.push(c);
        } else if chars.next() == Some('[') {
            for c in chars.by_ref() {
                if c.is_ascii_alphabetic() {
                    break;
                }
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(output: &str, expected: &str) {
        let told = parse_counts(output).map_or("unknown".to_owned(), |c| {
            format!("{} {} {}", c.passed, c.failed, c.skipped)
        });
        assert_eq!(told, expected, "{output}");
    }

    #[test]
    fn pytest_is_read_long_and_quiet() {
        check(
            "=== 1 failed, 5 passed, 2 skipped, 1 error in 0.12s ===",
            "5 2 2",
        );
        check(
            "\u{1b}[32m\u{1b}[1m3 passed\u{1b}[0m\u{1b}[32m in 0.01s\u{1b}[0m",
            "3 0 0",
        );
        check(
            "== 3 passed, 1 xfailed, 1 xpassed, 2 warnings in 61.21s (0:01:01) ==",
            "4 0 1",
        );
        check("==== no tests ran in 0.00s ====", "0 0 0");
        check("I passed 3 in 5s", "unknown");
    }

    #[test]
    fn unittest_is_read_from_two_lines() {
        check(
            "Ran 5 tests in 0.001s\n\nFAILED (failures=1, errors=1, skipped=1)",
            "2 2 1",
        );
        check("Ran 1 test in 0.001s\n\nOK", "1 0 0");
        check("Ran 0 tests in 0.000s\n\nNO TESTS RAN", "0 0 0");
    }

    #[test]
    fn cargo_and_nextest_are_read_and_added_up() {
        let line = "test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 4 filtered out; finished in 0.00s";
        check(&format!("{line}\n   Doc-tests x\n{line}"), "4 2 2");
        check(
            "     Summary [   0.021s] 10 tests run: 9 passed (1 slow), 1 failed, 2 skipped",
            "9 1 2",
        );
    }

    #[test]
    fn node_jest_vitest_and_mocha_are_read() {
        check(
            "\u{2139} tests 4\n\u{2139} suites 0\n\u{2139} pass 2\n\u{2139} fail 1\n\u{2139} cancelled 0\n\u{2139} skipped 1\n\u{2139} todo 0",
            "2 1 1",
        );
        check("# tests 0\n# pass 0\n# fail 0", "0 0 0");
        check(
            "Test Suites: 1 failed, 1 total\nTests:       1 failed, 2 skipped, 3 passed, 6 total",
            "3 1 2",
        );
        check(
            " Test Files  1 failed (1)\n      Tests  1 failed | 5 passed | 1 skipped (7)",
            "5 1 1",
        );
        check("  5 passing (10ms)\n  1 pending\n  2 failing\n", "5 2 1");
    }

    #[test]
    fn go_is_counted_where_it_names_its_tests() {
        check(
            "=== RUN   TestA\n--- PASS: TestA (0.00s)\n--- FAIL: TestB (0.00s)\nok  \tx\t0.1s",
            "1 1 0",
        );
        check("ok  \tx\t0.1s", "unknown");
    }
}
