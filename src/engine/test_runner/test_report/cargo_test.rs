//! Reads which tests ran from the output of `cargo test`.
//!
//! libtest has no stable report file, so its lines are read, and what they say is compared: `running N tests` comes before
//! the first test and counts what `--list` would name, so nothing is listed apart; `test result:` counts how they ended,
//! and the list of `failures:` names those that failed. The output of tests may look the same. libtest captures it and
//! prints it only below `failures:`, which is passed over up to the result line that fits. What is printed past the
//! capture makes the counts differ, which is a doubt. A test that prints a whole fitting output and ends the process
//! itself is not recognized.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::WHOLE_FILE;
use super::cargo_packages::CargoPackages;
use super::report_builder::ReportBuilder;
use crate::domain::test_report::TestStatus;
use crate::engine::test_runner::test_counts::strip_ansi_escapes;
use crate::text::pluralize;

mod libtest_lines;

/// The maximum number of test programs of a run.
const MAX_PROGRAMS: usize = 2_000;
/// The maximum number of files with documentation tests.
const MAX_DOCTEST_FILES: usize = 1_000;

use libtest_lines::{LibtestCounts, ProgramHeading};

/// Adds `--no-fail-fast`, so that the programs after one with a failing test run, too, and removes the options that hide
/// the names of the tests.
pub(super) fn with_all_programs(line: &str) -> String {
    static COMMAND: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"(?P<start>\bcargo(?:\s+\+[\w.-]+)?\s+(?:test|t))(?P<rest>\s[^&|;\n()`'"]*|[&|;\n()`'"]|$)"#).ok()
    });
    let Some(command) = COMMAND.as_ref() else {
        return line.to_owned();
    };
    let changed = command.replace_all(line, |found: &Captures<'_>| {
        let rest = found["rest"].to_owned();
        let is_hiding = |word: &&str| ["-q", "--quiet"].contains(word);
        let has_hiding = rest.split_whitespace().any(|word| is_hiding(&word));
        let shown: String = if has_hiding {
            let words = rest.split_whitespace().filter(|word| !is_hiding(word));
            words
                .map(|word| format!(" {word}"))
                .chain([" ".to_owned()])
                .collect()
        } else {
            rest
        };
        let added = if shown.contains("--no-fail-fast") || shown.contains("--no-run") {
            ""
        } else {
            " --no-fail-fast"
        };
        format!("{}{added}{shown}", &found["start"])
    });
    changed.trim_end().to_owned()
}

/// Reads the whole output.
pub(super) fn read_output(
    output: &str,
    root: &Path,
    exit_code: Option<i32>,
    report: &mut ReportBuilder,
) {
    let lines: Vec<Cow<'_, str>> = output
        .lines()
        .map(|line| {
            if line.contains('\u{1b}') {
                Cow::Owned(strip_ansi_escapes(line))
            } else {
                Cow::Borrowed(line)
            }
        })
        .collect();
    let mut parser = OutputParser {
        lines_to_search: lines.len().saturating_mul(2),
        lines: &lines,
        at: 0,
        programs: Vec::new(),
        has_compile_error: false,
        stopped_at_failure: false,
        ran_all: false,
        report,
    };
    parser.read();
    let (programs, has_compile_error) = (parser.programs, parser.has_compile_error);
    let stops_early = parser.stopped_at_failure && !parser.ran_all;
    if has_compile_error && exit_code != Some(0) {
        report.note_failed_load();
    } else if programs.is_empty() {
        report.doubt("cargo ran no test program");
        if exit_code != Some(0) {
            report.note_failed_load();
        }
    }
    if stops_early {
        report.doubt(
            "cargo stopped at the first program with a failing test; later ones did not run",
        );
    }
    add_programs(&programs, root, report);
}

/// What one test program printed.
#[derive(Debug, Default)]
struct ProgramRun<'a> {
    heading: Option<ProgramHeading<'a>>,
    /// How many times it printed `running N tests`.
    n_groups: usize,
    /// Each test, without what libtest says about its mode.
    tests: Vec<(&'a str, TestStatus)>,
    /// Whether cargo says that the program failed.
    has_failed: bool,
    /// Whether its lines fit together.
    has_doubts: bool,
}

impl ProgramRun<'_> {
    fn label(&self) -> String {
        match self.heading {
            Some(heading) => heading.label(),
            None => "a test program without a heading".to_owned(),
        }
    }
}

/// Reads the output from top to bottom.
struct OutputParser<'a, 'r> {
    lines: &'a [Cow<'a, str>],
    at: usize,
    /// How many more lines may be read ahead: an output of hostile tests must not take long.
    lines_to_search: usize,
    programs: Vec<ProgramRun<'a>>,
    has_compile_error: bool,
    /// Whether cargo named a failed program, which ends the run unless it is told to go on.
    stopped_at_failure: bool,
    /// Whether cargo listed the failed programs at the end, which it does where it is told to go on.
    ran_all: bool,
    report: &'r mut ReportBuilder,
}

impl<'a> OutputParser<'a, '_> {
    fn read(&mut self) {
        while let Some(line) = self.lines.get(self.at) {
            let line: &'a str = line;
            self.at += 1;
            if self.programs.len() > MAX_PROGRAMS {
                self.report
                    .doubt(format!("more than {MAX_PROGRAMS} test programs ran"));
                return;
            }
            if let Some(heading) = ProgramHeading::parse(line) {
                self.programs.push(ProgramRun {
                    heading: Some(heading),
                    ..ProgramRun::default()
                });
            } else if let Some(n) = libtest_lines::parse_running(line) {
                self.read_group(n);
            } else if libtest_lines::is_program_failure(line) {
                self.stopped_at_failure = true;
                if let Some(program) = self.programs.last_mut() {
                    program.has_failed = true;
                }
            } else if libtest_lines::is_failure_list(line) {
                self.ran_all = true;
            } else if line.starts_with("error: could not compile ") {
                self.has_compile_error = true;
            } else if LibtestCounts::parse(line).is_some() {
                self.doubt("has a result line of no tests");
            }
        }
    }

    /// Notes a doubt about the current program; one is enough.
    fn doubt(&mut self, text: &str) {
        if self.programs.is_empty() {
            self.programs.push(ProgramRun::default());
        }
        if let Some(program) = self.programs.last_mut()
            && !std::mem::replace(&mut program.has_doubts, true)
        {
            self.report.doubt(format!("{} {text}", program.label()));
        }
    }

    /// Reads the lines from the one after `running N tests` up to the result line.
    fn read_group(&mut self, n_announced: usize) {
        if self.programs.is_empty() {
            self.doubt("ran: cargo's own lines are missing");
        }
        let tests = self.read_tests();
        let counts = LibtestCounts::from_tests(&tests);
        match tests.len() {
            n if n > n_announced => {
                let announced = pluralize(n_announced, "test");
                self.doubt(&format!(
                    "names {n} tests, but announced {announced}: a test prints such lines, too; all are left out"
                ));
                self.end_group(Vec::new());
                return;
            }
            0 if n_announced > 0 && self.skip_unnamed_tests(n_announced) => {
                self.doubt("names no tests, because it is told to be quiet");
            }
            n if n < n_announced => self.doubt(&format!(
                "announced {}, but {n} ended: it was stopped from inside, or a test prints into these lines",
                pluralize(n_announced, "test")
            )),
            _ => {
                let failed = tests.iter().filter(|(_, status)| *status == TestStatus::Failed);
                let failed: BTreeSet<&str> = failed.map(|(name, _)| *name).collect();
                if !self.skip_to_result(counts, &failed) {
                    self.doubt("has no result line that fits its tests");
                }
            }
        }
        let names: BTreeSet<&str> = tests.iter().map(|(name, _)| *name).collect();
        if names.len() < tests.len() {
            self.doubt("names a test twice");
        }
        self.end_group(tests);
    }

    fn end_group(&mut self, tests: Vec<(&'a str, TestStatus)>) {
        if let Some(program) = self.programs.last_mut() {
            program.n_groups += 1;
            program.tests.extend(tests);
        }
    }

    /// Reads the lines of tests up to the one that ends them.
    fn read_tests(&mut self) -> Vec<(&'a str, TestStatus)> {
        let mut tests = Vec::new();
        // The test whose own output stands between its name and its result: a single thread without capture.
        let mut started = None;
        while let Some(line) = self.lines.get(self.at) {
            let line: &'a str = line;
            if libtest_lines::ends_tests(line) {
                break;
            }
            self.at += 1;
            if let Some((name, rest)) = libtest_lines::split_test_line(line) {
                match libtest_lines::parse_status(rest) {
                    Some(status) => {
                        tests.push((name, status));
                        started = None;
                    }
                    None => started = Some(name),
                }
            } else if let Some(status) = libtest_lines::parse_status(line)
                && let Some(name) = started.take()
            {
                tests.push((name, status));
            }
        }
        tests
    }

    /// Moves behind the result line that fits; false if there is none, and then stays.
    ///
    /// With failed tests the output of these comes before, and may look like anything. The list of their names, right
    /// before the result, must then fit as well.
    fn skip_to_result(&mut self, counts: LibtestCounts, failed: &BTreeSet<&str>) -> bool {
        for at in self.at..self.lines.len() {
            if self.lines_to_search == 0 {
                return false;
            }
            self.lines_to_search -= 1;
            let line = &self.lines[at];
            if LibtestCounts::parse(line) == Some(counts)
                && (failed.is_empty() || self.lists_failures(at, failed))
            {
                self.at = at + 1;
                return true;
            }
            if failed.is_empty() && ProgramHeading::parse(line).is_some() {
                return false;
            }
        }
        false
    }

    /// Returns whether the lines before one list these failed tests.
    fn lists_failures(&mut self, at: usize, failed: &BTreeSet<&str>) -> bool {
        let before = self.lines[..at].iter().rev().map(|line| &**line);
        let listed: Vec<&str> = before
            .skip_while(|line| line.is_empty())
            .map_while(|line| line.strip_prefix("    "))
            .take(failed.len() + 1)
            .collect();
        self.lines_to_search = self.lines_to_search.saturating_sub(listed.len());
        listed.len() == failed.len() && listed.iter().all(|name| failed.contains(name))
    }

    /// Moves behind the result line of tests that are not named; false if the next result is another one.
    fn skip_unnamed_tests(&mut self, n_announced: usize) -> bool {
        for at in self.at..self.lines.len() {
            self.lines_to_search = self.lines_to_search.saturating_sub(1);
            if self.lines_to_search == 0 || ProgramHeading::parse(&self.lines[at]).is_some() {
                return false;
            }
            if let Some(counts) = LibtestCounts::parse(&self.lines[at])
                && counts.n_tests() == n_announced
            {
                self.at = at + 1;
                return true;
            }
        }
        false
    }
}

/// Adds the tests of all programs under the files that define them.
fn add_programs(programs: &[ProgramRun<'_>], root: &Path, report: &mut ReportBuilder) {
    let mut packages = CargoPackages::find(root);
    let mut unplaced: BTreeMap<String, &str> = BTreeMap::new();
    for program in programs {
        let Some(heading) = program.heading else {
            add_tests("", &program.tests, report);
            continue;
        };
        match heading {
            ProgramHeading::Doctests(name) => {
                add_doctests(
                    program,
                    |file| packages.find_doctest_file(file, name),
                    report,
                );
            }
            ProgramHeading::Program { path, id, .. } => {
                let file = packages.find_program_file(path, heading.name(), id);
                // Two programs of one path, and no telling which package each is in.
                if file.is_none()
                    && unplaced
                        .insert(path.to_owned(), id)
                        .is_some_and(|other| other != id)
                {
                    report.doubt(format!(
                        "two packages have {path}, and cargo does not tell which ran"
                    ));
                }
                let file = file.unwrap_or_else(|| path.to_owned());
                if program.n_groups == 0 {
                    let status = if program.has_failed {
                        TestStatus::Failed
                    } else {
                        TestStatus::Passed
                    };
                    report.add_test(&file, WHOLE_FILE, status);
                }
                add_tests(&file, &program.tests, report);
            }
        }
        let has_failed_test = program
            .tests
            .iter()
            .any(|(_, status)| *status == TestStatus::Failed);
        if program.n_groups > 0 && program.has_failed && !has_failed_test && !program.has_doubts {
            report.doubt(format!(
                "{} failed, although none of its tests did",
                heading.label()
            ));
        }
    }
}

fn add_tests(file: &str, tests: &[(&str, TestStatus)], report: &mut ReportBuilder) {
    for (name, status) in tests {
        report.add_test(file, name, *status);
    }
}

/// Adds documentation tests. Their names have line numbers, which change with any edit above, so the tests of one item are
/// numbered instead.
fn add_doctests(
    program: &ProgramRun<'_>,
    mut find_file: impl FnMut(&str) -> String,
    report: &mut ReportBuilder,
) {
    if program.n_groups == 0 && program.has_failed {
        report.note_failed_load();
    }
    let mut lines: BTreeMap<(&str, &str), BTreeMap<usize, TestStatus>> = BTreeMap::new();
    for (name, status) in &program.tests {
        match libtest_lines::parse_doctest(name) {
            Some((file, item, line)) => {
                lines.entry((file, item)).or_default().insert(line, *status);
            }
            None => report.add_test("", name, *status),
        }
    }
    let mut files: BTreeMap<&str, String> = BTreeMap::new();
    for ((file, item), statuses) in lines {
        let n_files = files.len();
        let file = files.entry(file).or_insert_with(|| {
            if n_files < MAX_DOCTEST_FILES {
                find_file(file)
            } else {
                file.to_owned()
            }
        });
        for (n, status) in statuses.into_values().enumerate() {
            let number = if n == 0 {
                String::new()
            } else {
                format!(" {}", n + 1)
            };
            let name = format!("{item} (doctest{number})");
            report.add_test(file, name.trim_start(), status);
        }
    }
}

#[cfg(test)]
mod tests;
