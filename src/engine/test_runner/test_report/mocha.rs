//! Reads what the reporter for mocha wrote: mocha's own JSON report does not say which tests began.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;

use super::process_reports::{SourceRoot, read_preloaded_reports};
use super::report_builder::ReportBuilder;
use crate::domain::test_report::TestStatus;
use crate::text::pluralize;

/// An event, as the reporter writes it.
#[derive(Debug, Deserialize)]
struct MochaEvent {
    #[serde(rename = "type")]
    event: String,
    /// The file that defines it, as a whole path; none for a hook around all files.
    #[serde(default)]
    file: Option<String>,
    /// The names of the suites around it, then its own.
    #[serde(default)]
    path: Vec<String>,
    /// `test` or `hook`.
    #[serde(default)]
    kind: Option<String>,
}

/// Reads the reports of all processes.
pub(super) fn read_reports(
    folder: &Path,
    root: &Path,
    exit_code: Option<i32>,
    report: &mut ReportBuilder,
) {
    let reports = read_preloaded_reports(folder, "mocha", report);
    if reports.n_missing > 0 {
        // It loads all files before it opens its report.
        if exit_code == Some(0) {
            report.doubt("mocha wrote no report: it was stopped from inside");
        } else {
            report.note_failed_load();
        }
    }
    let root = SourceRoot::new(root);
    for text in &reports.texts {
        let mut reader = MochaEventReader {
            root: &root,
            running: BTreeSet::new(),
            is_complete: false,
            report,
        };
        for line in text.lines() {
            match serde_json::from_str(line) {
                Ok(event) => reader.add_event(&event),
                Err(_) => reader
                    .report
                    .doubt("a report of mocha has a line that is not an event"),
            }
        }
        reader.finish();
    }
}

/// Folds the events of one process into the report.
struct MochaEventReader<'a> {
    root: &'a SourceRoot<'a>,
    /// The tests that began and did not end, by file and name.
    running: BTreeSet<(String, String)>,
    is_complete: bool,
    report: &'a mut ReportBuilder,
}

impl MochaEventReader<'_> {
    fn add_event(&mut self, event: &MochaEvent) {
        let file = self
            .root
            .relative_file(event.file.as_deref().unwrap_or_default());
        let test = (file, event.path.join(" > "));
        match event.event.as_str() {
            // A test that is tried again begins twice.
            "begin" => {
                self.running.insert(test);
            }
            "end" => {
                self.running.remove(&test);
            }
            "pass" => self.add_test(&test, TestStatus::Passed),
            "skip" => self.add_test(&test, TestStatus::Skipped),
            "fail" => {
                self.add_test(&test, TestStatus::Failed);
                if event.kind.as_deref() == Some("hook") {
                    self.end_running_tests(&test.0);
                }
            }
            "complete" => self.is_complete = true,
            _ => {}
        }
    }

    fn add_test(&mut self, (file, name): &(String, String), status: TestStatus) {
        self.report.add_test(file, name, status);
    }

    /// Notes that the tests that began in a file failed, because a hook before them did: mocha does not end them.
    fn end_running_tests(&mut self, file: &str) {
        let (ended, running) = std::mem::take(&mut self.running)
            .into_iter()
            .partition(|test| test.0 == file);
        self.running = running;
        let ended: BTreeSet<(String, String)> = ended;
        for test in &ended {
            self.add_test(test, TestStatus::Failed);
        }
    }

    fn finish(self) {
        if let Some((_, name)) = self.running.first() {
            let n = pluralize(self.running.len(), "test");
            self.report.doubt(format!(
                "{n} began and did not end, such as {name:?}: the process was stopped from inside"
            ));
        }
        if !self.is_complete {
            self.report
                .doubt("mocha ended before its report was complete");
        }
    }
}

#[cfg(test)]
mod tests;
