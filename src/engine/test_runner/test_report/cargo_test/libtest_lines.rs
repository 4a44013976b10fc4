//! Parses single lines that `cargo test` and libtest print.

use crate::domain::test_report::TestStatus;

/// The line with which cargo introduces a test program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProgramHeading<'a> {
    /// `Running unittests src/lib.rs (target/debug/deps/calc-0123abcd)` or `Running tests/it.rs (…)`.
    Program {
        /// The source file, relative to the package.
        path: &'a str,
        /// The file name of the program: its name and a hash.
        id: &'a str,
        has_unit_tests: bool,
    },
    /// `Doc-tests calc`.
    Doctests(&'a str),
}

impl<'a> ProgramHeading<'a> {
    /// Parses a line; cargo aligns its verbs to the right.
    pub(super) fn parse(line: &'a str) -> Option<Self> {
        if let Some(name) = line.strip_prefix("   Doc-tests ") {
            return Some(Self::Doctests(name));
        }
        let rest = line.strip_prefix("     Running ")?;
        let (path, program) = rest.strip_suffix(')')?.rsplit_once(" (")?;
        let id = program.rsplit('/').next()?;
        // cargo prints whole commands where it is told to be verbose.
        if path.starts_with('`') || !program.contains("/deps/") {
            return None;
        }
        let unit_tests = path.strip_prefix("unittests ");
        Some(Self::Program {
            path: unit_tests.unwrap_or(path),
            id,
            has_unit_tests: unit_tests.is_some(),
        })
    }

    /// Returns the name of the program without its hash.
    pub(super) fn name(&self) -> &'a str {
        match self {
            Self::Program { id, .. } => id.rsplit_once('-').map_or(id, |(name, _)| name),
            Self::Doctests(name) => name,
        }
    }

    /// Describes the program in a sentence.
    pub(super) fn label(&self) -> String {
        match self {
            Self::Program {
                path,
                has_unit_tests: true,
                ..
            } => format!("{} ({path})", self.name()),
            Self::Program { path, .. } => (*path).to_owned(),
            Self::Doctests(name) => format!("the documentation of {name}"),
        }
    }
}

/// How many tests of a program ended in which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct LibtestCounts {
    /// Passed, or measured by a benchmark.
    n_passed: usize,
    n_failed: usize,
    n_ignored: usize,
}

impl LibtestCounts {
    /// Parses `test result: ok. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s`.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
        let mut counts = counts.split("; ");
        let mut next = |word: &str| -> Option<usize> {
            counts.next()?.strip_suffix(word)?.trim_end().parse().ok()
        };
        let (n_passed, n_failed) = (next("passed")?, next("failed")?);
        let (n_ignored, n_measured) = (next("ignored")?, next("measured")?);
        Some(Self {
            n_passed: n_passed.checked_add(n_measured)?,
            n_failed,
            n_ignored,
        })
    }

    pub(super) fn from_tests(tests: &[(&str, TestStatus)]) -> Self {
        let count = |wanted| tests.iter().filter(|(_, status)| *status == wanted).count();
        Self {
            n_passed: count(TestStatus::Passed),
            n_failed: count(TestStatus::Failed),
            n_ignored: count(TestStatus::Skipped),
        }
    }

    pub(super) fn n_tests(self) -> usize {
        self.n_passed
            .saturating_add(self.n_failed)
            .saturating_add(self.n_ignored)
    }
}

/// Parses `running 3 tests`.
pub(super) fn parse_running(line: &str) -> Option<usize> {
    let (n, word) = line.strip_prefix("running ")?.split_once(' ')?;
    matches!(word, "test" | "tests").then(|| n.parse().ok())?
}

/// Returns true for the lines that end the list of tests.
pub(super) fn ends_tests(line: &str) -> bool {
    matches!(line, "failures:" | "successes:")
        || line.starts_with("test result: ")
        || parse_running(line).is_some()
        || is_program_failure(line)
        || ProgramHeading::parse(line).is_some()
}

/// Splits `test tests::adds - should panic ... ok` into the name, without the mode of the test, and what follows.
pub(super) fn split_test_line(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.strip_prefix("test ")?.split_once(" ... ")?;
    // Some runners of the same form align their results.
    let name = name.trim_end();
    let modes = [" - should panic", " - compile fail", " - compile"];
    let plain = modes.iter().find_map(|mode| name.strip_suffix(mode));
    Some((plain.unwrap_or(name), rest))
}

/// Parses `ok`, `FAILED`, `ignored, needs a disk` and what libtest adds about time.
pub(super) fn parse_status(text: &str) -> Option<TestStatus> {
    let text = text
        .strip_suffix('>')
        .and_then(|text| text.rsplit_once(" <"))
        .map_or(text, |(text, _)| text);
    match text {
        "ok" => Some(TestStatus::Passed),
        "FAILED" | "FAILED (time limit exceeded)" => Some(TestStatus::Failed),
        "ignored" => Some(TestStatus::Skipped),
        _ if text.starts_with("ignored, ") => Some(TestStatus::Skipped),
        _ if text.starts_with("bench: ") => Some(TestStatus::Passed),
        _ => None,
    }
}

/// Parses `src/lib.rs - add (line 3)` into file, item and line; the item of a file's own documentation is empty.
pub(super) fn parse_doctest(name: &str) -> Option<(&str, &str, usize)> {
    let (place, line) = name.strip_suffix(')')?.rsplit_once("(line ")?;
    let (file, item) = place.split_once(" - ")?;
    Some((file, item.trim(), line.parse().ok()?))
}

/// Returns true for cargo's line after a program that failed.
pub(super) fn is_program_failure(line: &str) -> bool {
    line.starts_with("error: test failed, to rerun pass ")
        || line.starts_with("error: doctest failed, to rerun pass ")
}

/// Returns true for the heading of the programs that failed, `error: 2 targets failed:`.
pub(super) fn is_failure_list(line: &str) -> bool {
    line.strip_prefix("error: ")
        .and_then(|rest| rest.split_once(' '))
        .is_some_and(|(n, rest)| {
            n.parse::<usize>().is_ok() && matches!(rest, "target failed:" | "targets failed:")
        })
}
