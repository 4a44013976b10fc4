//! Collects what a runner reports about its tests, within limits.

use crate::domain::test_report::{TestIdentity, TestReport, TestStatus};
use crate::text::{clean_to_one_line, pluralize, truncate};

/// The maximum number of tests of a report.
const MAX_TESTS: usize = 100_000;
/// The maximum length of a name or a path, in bytes.
const MAX_NAME_BYTES: usize = 2_000;
/// The maximum number of doubts; further ones add nothing.
const MAX_DOUBTS: usize = 20;

/// A report while it is read.
#[derive(Default)]
pub(super) struct ReportBuilder {
    report: TestReport,
}

impl ReportBuilder {
    /// Adds a test. Of a test that is named twice the worse status counts.
    pub(super) fn add_test(&mut self, file: &str, name: &str, status: TestStatus) {
        if file.len() > MAX_NAME_BYTES || name.len() > MAX_NAME_BYTES {
            self.doubt("the name of a test is too long and was cut");
        }
        let test = TestIdentity {
            file: clean_name(file),
            name: clean_name(name),
        };
        if self.report.tests.len() >= MAX_TESTS && !self.report.tests.contains_key(&test) {
            self.doubt(format!(
                "more than {MAX_TESTS} tests are reported; the others are left out"
            ));
            return;
        }
        let known = self.report.tests.entry(test).or_insert(status);
        if badness(status) > badness(*known) {
            *known = status;
        }
    }

    /// Notes that some tests could not be loaded.
    pub(super) fn note_failed_load(&mut self) {
        self.report.failed_to_load = true;
    }

    /// Notes why the report cannot be relied on.
    pub(super) fn doubt(&mut self, text: impl AsRef<str>) {
        let text = truncate::to_bytes(&clean_to_one_line(text.as_ref()), MAX_NAME_BYTES);
        if self.report.doubts.len() < MAX_DOUBTS && !self.report.doubts.contains(&text) {
            self.report.doubts.push(text);
        }
    }

    /// Ends the report by comparing it with the exit status.
    pub(super) fn finish(mut self, exit_code: Option<i32>) -> TestReport {
        let n_failed = self.report.count(TestStatus::Failed);
        let has_failed = n_failed > 0 || self.report.failed_to_load;
        match exit_code {
            None => self.doubt("the command did not end by itself, so tests may be missing"),
            Some(0) if n_failed > 0 => self.doubt(format!(
                "{} failed, but the exit status is 0",
                pluralize(n_failed, "test")
            )),
            Some(0) if has_failed => {
                self.doubt("tests could not be loaded, but the exit status is 0");
            }
            // If something is missing already, that explains it.
            Some(code) if code != 0 && !has_failed && self.report.doubts.is_empty() => {
                self.doubt(format!("no test failed, but the exit status is {code}"));
            }
            Some(_) => {}
        }
        self.report
    }
}

fn clean_name(name: &str) -> String {
    clean_to_one_line(&truncate::to_bytes(name, MAX_NAME_BYTES))
}

fn badness(status: TestStatus) -> u8 {
    match status {
        TestStatus::Passed => 0,
        TestStatus::Skipped => 1,
        TestStatus::Failed => 2,
    }
}
