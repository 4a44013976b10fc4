//! Reads the JSON reports of jest, and those of vitest, which have the same form.

use std::path::Path;

use serde::Deserialize;

use super::WHOLE_FILE;
use super::process_reports::{SourceRoot, read_preloaded_reports};
use super::report_builder::ReportBuilder;
use crate::domain::test_report::TestStatus;
use crate::text::pluralize;

/// What jest writes at its end.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct JestReport {
    test_results: Vec<JestFile>,
    num_total_tests: usize,
    #[serde(default)]
    snapshot: JestSnapshots,
}

/// A file with tests.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct JestFile {
    /// Its whole path.
    name: String,
    /// `failed` also where something outside of its tests failed.
    status: String,
    assertion_results: Vec<JestTest>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct JestTest {
    /// The suites around it.
    #[serde(default)]
    ancestor_titles: Vec<String>,
    title: String,
    /// `passed`, `failed`, or why it did not run.
    status: String,
    /// Whether it is expected to fail, so that it passes where it fails.
    #[serde(default)]
    failing: bool,
}

/// How many snapshots were written.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct JestSnapshots {
    added: usize,
    updated: usize,
}

impl JestTest {
    fn full_name(&self) -> String {
        // Some versions of vitest begin with a suite that has no name.
        let suites = self.ancestor_titles.iter().map(String::as_str);
        let names = suites.filter(|name| !name.is_empty()).chain([&*self.title]);
        names.collect::<Vec<_>>().join(" > ")
    }

    fn status(&self) -> TestStatus {
        match self.status.as_str() {
            "passed" if !self.failing => TestStatus::Passed,
            "failed" => TestStatus::Failed,
            _ => TestStatus::Skipped,
        }
    }
}

/// Reads the reports of all processes of a runner, `jest` or `vitest`.
pub(super) fn read_reports(runner: &str, folder: &Path, root: &Path, report: &mut ReportBuilder) {
    let reports = read_preloaded_reports(folder, runner, report);
    if reports.n_missing > 0 {
        report.doubt(format!(
            "{runner} ended before it wrote its report: it could not start, or was stopped from inside"
        ));
    }
    let root = SourceRoot::new(root);
    for text in &reports.texts {
        match serde_json::from_str(text) {
            Ok(found) => add_report(runner, &found, &root, report),
            Err(_) => report.doubt(format!("a report of {runner} is cut, or not {runner}'s")),
        }
    }
}

fn add_report(runner: &str, found: &JestReport, root: &SourceRoot<'_>, report: &mut ReportBuilder) {
    for file in &found.test_results {
        let path = root.relative_file(&file.name);
        for test in &file.assertion_results {
            report.add_test(&path, &test.full_name(), test.status());
        }
        let mut tests = file.assertion_results.iter();
        let explains = tests.any(|test| test.status() == TestStatus::Failed);
        if file.status == "failed" && !explains {
            if file.assertion_results.is_empty() {
                report.note_failed_load();
            } else {
                // A hook around all of them, or an error that nobody awaited.
                report.add_test(&path, WHOLE_FILE, TestStatus::Failed);
            }
        }
    }
    let files = found.test_results.iter();
    let n_named: usize = files.map(|file| file.assertion_results.len()).sum();
    if n_named != found.num_total_tests {
        report.doubt(format!(
            "{runner} ran {}, but its report names {n_named}",
            pluralize(found.num_total_tests, "test")
        ));
    }
    let n_written = found.snapshot.added + found.snapshot.updated;
    if n_written > 0 {
        report.doubt(format!(
            "{runner} wrote {}, so the tests with them compared nothing",
            pluralize(n_written, "snapshot")
        ));
    }
}

#[cfg(test)]
mod tests;
