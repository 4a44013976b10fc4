//! Parses the names of failing tests from the output of test runners.
//!
//! Knows pytest, unittest, node:test, jest, vitest, mocha, cargo test, nextest and `go test`. A name that a
//! runner prints twice counts once.

use std::collections::BTreeSet;

use super::test_counts::strip_ansi_escapes;
use crate::text::clean_to_one_line;

/// The maximum number of names; if there are more, none is kept.
const MAX_FAILED_TESTS: usize = 500;
/// The maximum length of a name, in characters.
const MAX_NAME_CHARS: usize = 300;

/// Returns the names of the tests that failed, sorted. They include files, suites and packages that a runner
/// reports as failed.
pub(super) fn parse_failed_tests(output: &str) -> Vec<String> {
    let lines: Vec<String> = output.lines().map(strip_ansi_escapes).collect();
    let is_mocha = lines.iter().any(|line| line.trim().ends_with(" failing"));
    // Each binary of cargo has its own tests.
    let mut binary = String::new();
    let mut names = BTreeSet::new();
    for line in &lines {
        let line = line.trim();
        if let Some(new) = parse_cargo_binary(line) {
            binary = new;
            continue;
        }
        let name = parse_cargo_failure(line)
            .map(|name| format!("{binary}{name}"))
            .or_else(|| parse_failure_line(line).map(str::to_owned))
            .or_else(|| {
                parse_mocha_failure(line)
                    .filter(|_| is_mocha)
                    .map(str::to_owned)
            });
        names.extend(name.map(|name| {
            clean_to_one_line(&name)
                .chars()
                .take(MAX_NAME_CHARS)
                .collect::<String>()
        }));
    }
    if names.len() <= MAX_FAILED_TESTS {
        names.into_iter().collect()
    } else {
        Vec::new()
    }
}

fn parse_failure_line(line: &str) -> Option<&str> {
    parse_pytest_failure(line)
        .or_else(|| parse_go_failure(line))
        .or_else(|| parse_node_failure(line))
        .or_else(|| parse_jest_failure(line))
        .or_else(|| parse_nextest_failure(line))
        .or_else(|| parse_uppercase_failure(line))
        .filter(|name| !name.is_empty())
}

/// Parses `Running unittests src/lib.rs (target/debug/deps/calc-0123abcd)` and `Doc-tests calc`.
fn parse_cargo_binary(line: &str) -> Option<String> {
    if let Some(name) = line.strip_prefix("Doc-tests ") {
        return Some(format!("{name} "));
    }
    let path = line.strip_prefix("Running ")?.rsplit_once(" (")?.1;
    let file = path.strip_suffix(')')?.rsplit('/').next()?;
    let name = file.rsplit_once('-').map_or(file, |(name, _)| name);
    Some(format!("{name} "))
}

/// Parses `test tests::adds ... FAILED`.
fn parse_cargo_failure(line: &str) -> Option<&str> {
    line.strip_prefix("test ")?.strip_suffix(" ... FAILED")
}

/// Parses `FAIL [   0.003s] calc tests::adds`.
fn parse_nextest_failure(line: &str) -> Option<&str> {
    let (time, name) = line.strip_prefix("FAIL [")?.split_once("s] ")?;
    time.trim().parse::<f64>().ok().map(|_| name.trim())
}

/// Parses `FAILED tests/test_a.py::test_b - assert 1 == 2`, and `ERROR` where it could not be collected or
/// set up.
fn parse_pytest_failure(line: &str) -> Option<&str> {
    let name = line
        .strip_prefix("FAILED ")
        .or_else(|| line.strip_prefix("ERROR "))?;
    let name = name.split_once(" - ").map_or(name, |(name, _)| name);
    let is_name = name.contains("::") || name.ends_with(".py");
    is_name.then_some(name)
}

/// Parses `--- FAIL: TestAdd (0.00s)`, and `FAIL\tcalc/add\t0.01s` or `FAIL\tcalc/add [build failed]` for its
/// package.
fn parse_go_failure(line: &str) -> Option<&str> {
    let test = line.strip_prefix("--- FAIL: ");
    let test = test.map(|name| name.rsplit_once(" (").map_or(name, |(name, _)| name));
    let package = || {
        let rest = line.strip_prefix("FAIL\t")?;
        Some(rest.split_once('\t').map_or(rest, |(package, _)| package))
    };
    test.or_else(package)
}

/// Parses `not ok 3 - adds` and `✖ adds (1.5ms)`.
fn parse_node_failure(line: &str) -> Option<&str> {
    let tap = || {
        let (n, name) = line.strip_prefix("not ok ")?.split_once(" - ")?;
        let is_left_out = name.contains("# TODO") || name.contains("# SKIP");
        n.parse::<u64>().ok().filter(|_| !is_left_out).map(|_| name)
    };
    let told = || {
        let name = line.strip_prefix("\u{2716} ")?;
        let (name, time) = name.rsplit_once(" (")?;
        time.ends_with("ms)").then_some(name)
    };
    tap().or_else(told)
}

/// Parses `● sums › adds`.
fn parse_jest_failure(line: &str) -> Option<&str> {
    line.strip_prefix("\u{25cf} ")
}

/// Parses `FAIL: test_a (tests.A.test_a)` and `ERROR: …` of unittest, `FAIL src/a.test.js` of jest and `FAIL
/// a.test.ts > adds` of vitest.
fn parse_uppercase_failure(line: &str) -> Option<&str> {
    if let Some(name) = line.strip_prefix("ERROR: ") {
        return name.ends_with(')').then_some(name);
    }
    let name = line
        .strip_prefix("FAIL: ")
        .or_else(|| line.strip_prefix("FAIL "))?;
    Some(name.trim())
}

/// Parses `1) adds`.
fn parse_mocha_failure(line: &str) -> Option<&str> {
    let (n, name) = line.split_once(") ")?;
    n.parse::<u64>().ok().map(|_| name.trim_end_matches(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(output: &str, expected: &[&str]) {
        assert_eq!(parse_failed_tests(output), expected, "{output}");
    }

    #[test]
    fn the_names_that_runners_print_are_read() {
        check(
            "FAILED tests/test_a.py::test_b[1-x] - assert 1 == 2\nERROR tests/test_c.py\n2 failed in 0.1s",
            &["tests/test_a.py::test_b[1-x]", "tests/test_c.py"],
        );
        check(
            "FAIL: test_a (t.A.test_a)\n---\nERROR: test_b (t.A.test_b)\nERROR: No matching distribution\nRan 2 tests in 0.1s",
            &["test_a (t.A.test_a)", "test_b (t.A.test_b)"],
        );
        check(
            "--- FAIL: TestAdd (0.00s)\n    --- FAIL: TestAdd/zero (0.00s)\nFAIL\nFAIL\tcalc/add\t0.01s\nFAIL\tcalc/sum [build failed]",
            &[
                "TestAdd",
                "TestAdd/zero",
                "calc/add",
                "calc/sum [build failed]",
            ],
        );
        check(
            "not ok 1 - adds\n    not ok 2 - sums # TODO\nok 3 - divides\n# fail 1",
            &["adds"],
        );
        check("\u{2716} adds (1.2ms)\n\u{2716} failing tests:", &["adds"]);
        check(
            "FAIL src/a.test.js\n  \u{25cf} sums \u{203a} adds\nTests: 1 failed, 1 total",
            &["src/a.test.js", "sums \u{203a} adds"],
        );
        check(
            " FAIL  src/a.test.ts > sums > adds\nTests  1 failed (1)",
            &["src/a.test.ts > sums > adds"],
        );
        check(
            "    1) adds\n  1 passing (2ms)\n  1 failing\n\n  1) sums\n       adds:",
            &["adds", "sums"],
        );
        check(
            "        FAIL [   0.003s] calc tests::adds\n     Summary [   0.01s] 1 tests run: 0 passed, 1 failed\n        FAIL [   0.003s] calc tests::adds",
            &["calc tests::adds"],
        );
    }

    #[test]
    fn tests_of_one_name_in_two_binaries_of_cargo_are_two() {
        let output = "     Running unittests src/lib.rs (target/debug/deps/calc-0123abcd)\n\
            test tests::adds ... FAILED\ntest tests::sums ... ok\n\
            \u{20}    Running tests/whole.rs (target/debug/deps/whole-4567)\n\
            test tests::adds ... FAILED\n   Doc-tests calc\ntest src/lib.rs - add (line 3) ... FAILED\n";
        check(
            output,
            &[
                "calc src/lib.rs - add (line 3)",
                "calc tests::adds",
                "whole tests::adds",
            ],
        );
    }

    #[test]
    fn what_is_no_name_is_none() {
        check("1) first do this\nFAILED to open a file\nnot ok", &[]);
        check("\u{1b}[31mFAIL: test_a (t.A)\u{1b}[0m", &["test_a (t.A)"]);
        let many: String = (0..=MAX_FAILED_TESTS)
            .map(|n| format!("FAIL: a{n}\n"))
            .collect();
        check(&many, &[]);
    }
}
