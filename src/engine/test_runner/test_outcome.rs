//! Classifies the outcome of a test command.
//!
//! The exit status decides between passed and failed. A runner that found nothing to run has not tested
//! anything, whatever its status. If tests ran, the text never overrides a failing status.

use super::test_command_line::TestCommandLine;
use crate::domain::receipt::{TestCounts, TestOutcome};

/// What runners print, together with a failing status, when there is nothing to run.
const NOTHING_TO_RUN: [&str; 8] = [
    "no test specified",
    "Missing script: \"test\"",
    "missing script: test",
    "No tests found, exiting with code",
    "No test files found",
    "NO TESTS RAN",
    "no tests ran in ",
    "collected 0 items",
];

/// Classifies a test command that ended by itself; `exit_code` is `None` if a signal ended it.
pub(super) fn classify_outcome(
    command: &TestCommandLine,
    exit_code: Option<i32>,
    counts: Option<TestCounts>,
    output: &str,
) -> TestOutcome {
    let n_run = counts.map(|counts| counts.passed + counts.failed);
    match exit_code {
        Some(0) if n_run == Some(0) || go_found_nothing(output) => TestOutcome::NoTests,
        Some(0) => TestOutcome::Passed,
        Some(126 | 127) if n_run.is_none() && cannot_start(command, output) => not_started(output),
        Some(1) if output.contains("No module named pytest") && n_run.is_none() => TestOutcome::NotStarted(
            "pytest is not installed (hint: install it, or set test.default_command in config.toml)".to_owned(),
        ),
        Some(_) if n_run.unwrap_or(0) == 0 && says_nothing_to_run(output) => TestOutcome::NoTests,
        Some(_) | None => TestOutcome::Failed,
    }
}

/// Returns true if a command is a runner that prints how many tests ran whenever it succeeds.
///
/// `go test` does so only if it is asked to print every test, and a script in a manifest may be anything.
pub(super) fn reports_counts(command: &TestCommandLine, output: &str) -> bool {
    let is_go = output.lines().any(|line| line.starts_with("ok  \t"));
    let counts = |words: &Vec<&str>| {
        let mut words = words.iter().map(|word| {
            let name = word.rsplit('/').next().unwrap_or(word);
            if name.starts_with("python") {
                "python"
            } else {
                name
            }
        });
        let (first, rest) = (words.next().unwrap_or_default(), words);
        let mut rest: Vec<&str> = rest.collect();
        rest.truncate(2);
        match (first, rest.as_slice()) {
            ("pytest" | "py.test" | "jest" | "vitest" | "mocha" | "nextest", _) => true,
            ("python", ["-m", "pytest" | "unittest"]) => true,
            ("cargo", ["test" | "t" | "nextest", ..]) => true,
            ("node", ["--test", ..]) => true,
            ("npx" | "bunx", ["jest" | "vitest" | "mocha", ..]) => true,
            ("go", ["test", ..]) => !is_go,
            _ => false,
        }
    };
    let asks_only = ["--no-run", "--collect-only", "--listTests", "--list"];
    let commands = command.simple_commands();
    commands.iter().any(counts)
        && !commands
            .iter()
            .flatten()
            .any(|word| asks_only.contains(word))
}

fn says_nothing_to_run(output: &str) -> bool {
    // If a collection failed, tests exist: pytest could not read them.
    let collected_errors = output.lines().any(|line| line.starts_with("ERROR "));
    !collected_errors && NOTHING_TO_RUN.iter().any(|words| output.contains(words))
}

/// Returns true if the command could not start. For plain words the shell prints the last line; within a
/// shell line any command may be the missing one.
fn cannot_start(command: &TestCommandLine, output: &str) -> bool {
    let last = output.trim_end().lines().last().unwrap_or_default();
    match command {
        TestCommandLine::Words(words) => {
            last.starts_with("sh: ")
                && words
                    .first()
                    .is_some_and(|word| last.contains(word.as_str()))
        }
        TestCommandLine::Shell(_) => last.starts_with("sh: "),
    }
}

fn not_started(output: &str) -> TestOutcome {
    let last = output.trim_end().lines().last().unwrap_or_default();
    TestOutcome::NotStarted(format!(
        "{last} (hint: install it, or set test.default_command in config.toml)"
    ))
}

/// Returns true if go found no tests: it reports every package, and only packages without tests are no test
/// run.
fn go_found_nothing(output: &str) -> bool {
    let is_package = |line: &&str| {
        ["ok  \t", "?   \t", "FAIL\t"]
            .iter()
            .any(|start| line.starts_with(start))
    };
    let mut packages = output.lines().filter(is_package).peekable();
    let matched_none =
        output.contains("matched no packages") || output.contains("no packages to test");
    matched_none || (packages.peek().is_some() && packages.all(|line| line.contains("[no test")))
}

#[cfg(test)]
mod tests {
    use super::super::test_counts::parse_counts;
    use super::*;

    fn check(command: &str, exit_code: i32, output: &str, expected: &str) {
        let outcome = classify_outcome(
            &TestCommandLine::parse(command).unwrap(),
            Some(exit_code),
            parse_counts(output),
            output,
        );
        assert_eq!(
            format!("{outcome:?}"),
            expected,
            "{command} {exit_code} {output}"
        );
    }

    #[test]
    fn the_exit_status_decides() {
        check(
            "cargo test",
            0,
            "test result: ok. 3 passed; 0 failed; 0 ignored",
            "Passed",
        );
        check(
            "cargo test",
            101,
            "test result: FAILED. 3 passed; 1 failed; 0 ignored",
            "Failed",
        );
        check(
            "cargo test",
            101,
            "error[E0308]: mismatched types",
            "Failed",
        );
        check("./check", 0, "", "Passed");
        let command = TestCommandLine::parse("./check").unwrap();
        assert_eq!(
            classify_outcome(&command, None, None, ""),
            TestOutcome::Failed
        );
    }

    #[test]
    fn nothing_to_run_is_no_pass_and_no_failure() {
        check(
            "pytest",
            5,
            "collected 0 items\n\n=== no tests ran in 0.01s ===",
            "NoTests",
        );
        check(
            "python3 -m unittest",
            5,
            "Ran 0 tests in 0.000s\n\nNO TESTS RAN",
            "NoTests",
        );
        check(
            "cargo test",
            0,
            "test result: ok. 0 passed; 0 failed; 0 ignored\ntest result: ok. 0 passed; 0 failed; 0 ignored",
            "NoTests",
        );
        check(
            "go test ./...",
            0,
            "?   \tx\t[no test files]\n?   \tx/y\t[no test files]",
            "NoTests",
        );
        check(
            "go test ./...",
            0,
            "go: warning: \"./...\" matched no packages\nno packages to test",
            "NoTests",
        );
        check("npm test", 1, "Error: no test specified", "NoTests");
        check(
            "npm test",
            1,
            "npm error Missing script: \"test\"",
            "NoTests",
        );
        check("npm test", 0, "# tests 0\n# pass 0\n# fail 0", "NoTests");
        check(
            "npm test",
            1,
            "No tests found, exiting with code 1",
            "NoTests",
        );
    }

    #[test]
    fn words_do_not_excuse_a_failure() {
        check(
            "npm test",
            1,
            "No tests found, exiting with code 1\nTests:       1 failed, 1 total",
            "Failed",
        );
        check(
            "pytest",
            2,
            "collected 0 items / 1 error\nERROR test_a.py\n=== 1 error in 0.1s ===",
            "Failed",
        );
        check(
            "go test ./...",
            0,
            "ok  \tx\t0.1s\n?   \tx/y\t[no test files]",
            "Passed",
        );
    }

    #[test]
    fn runners_that_count_are_known_by_their_command() {
        let tells = |line: &str, output: &str| {
            reports_counts(&TestCommandLine::parse(line).unwrap(), output)
        };
        for line in [
            "pytest -q",
            "python3 -m pytest",
            "/usr/bin/python3.12 -m unittest",
            "cargo test --workspace",
            "cargo nextest run",
            "node --test",
            "npx jest",
            "cd x && pytest",
        ] {
            assert!(tells(line, ""), "{line}");
        }
        for line in [
            "npm test",
            "make test",
            "./check",
            "cargo build",
            "cargo test --no-run",
        ] {
            assert!(!tells(line, ""), "{line}");
        }
        assert!(tells("go test ./...", ""));
        assert!(!tells("go test ./...", "ok  \tx\t0.1s"));
    }

    #[test]
    fn a_program_that_is_not_there_was_not_started() {
        let hint = "(hint: install it, or set test.default_command in config.toml)";
        check(
            "nosuch",
            127,
            "sh: 1: exec: nosuch: not found",
            &format!("NotStarted(\"sh: 1: exec: nosuch: not found {hint}\")"),
        );
        check("./check", 127, "test 127 failed", "Failed");
        check(
            "python3 -m pytest",
            1,
            "/usr/bin/python3: No module named pytest",
            &format!("NotStarted(\"pytest is not installed {hint}\")"),
        );
    }
}
