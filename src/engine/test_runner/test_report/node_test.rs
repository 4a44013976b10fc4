//! Makes `node --test` report its tests, and reads what it reported.
//!
//! node's junit reporter names no files (20, 22), so the events of the runner are written by a reporter of ours, one file
//! for each process. `NODE_OPTIONS` carries it as a `data:` address, which also reaches `npm test` and needs no file that
//! tests could change. The reporter removes itself from the environment before the first test starts, so that
//! programs which tests start neither report nor behave differently.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use super::process_reports::{SourceRoot, list_reports, read_files};
use super::report_builder::ReportBuilder;
use super::runner_search::normalize;
use super::{NamedReporters, WHOLE_FILE};
use crate::domain::test_report::TestStatus;
use crate::store::scoped_read::ScopedReader;
use crate::text::pluralize;

const REPORTER: &str = include_str!("node_reporter.js");

/// The maximum number of source files that are read for a report.
const MAX_SOURCES: usize = 1_000;
/// The maximum size of a source file that is read, in bytes.
const MAX_SOURCE_BYTES: u64 = 1024 * 1024;
/// The maximum depth of suites.
const MAX_NESTING: usize = 200;

/// Returns the options that add the reporter to those that the command names.
pub(super) fn report_options(folder: &Path, named: NamedReporters) -> String {
    let folder = serde_json::Value::from(folder.to_string_lossy()).to_string();
    let script = REPORTER.replace("${FOLDER}", &format!("${{{folder}}}"));
    // It writes nothing to its destination.
    let reporter = format!(
        "--test-reporter=data:text/javascript,{} --test-reporter-destination=stdout",
        percent_encode(&script)
    );
    match named {
        // With a reporter, node no longer chooses the one that people read.
        NamedReporters::Nothing => {
            format!("--test-reporter=spec --test-reporter-destination=stdout {reporter}")
        }
        // node wants a destination for every reporter once there are two.
        NamedReporters::WithoutDestination => {
            format!("{reporter} --test-reporter-destination=stdout")
        }
        NamedReporters::WithDestinations => reporter,
    }
}

fn percent_encode(text: &str) -> String {
    text.bytes().fold(String::new(), |mut encoded, byte| {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
        encoded
    })
}

/// Reads the reports of all processes.
pub(super) fn read_reports(folder: &Path, root: &Path, report: &mut ReportBuilder) {
    let names = list_reports(folder, "node", ".jsonl");
    if names.is_empty() {
        report.doubt(
            "node wrote no report: it ran no tests, was stopped from inside, or the command sets NODE_OPTIONS",
        );
        return;
    }
    for text in read_files(folder, "node", &names, report) {
        parse_report(&text, root, report);
    }
}

/// An event of the runner, as the reporter writes it.
#[derive(Debug, Deserialize)]
struct NodeTestEvent {
    #[serde(rename = "type")]
    event: String,
    #[serde(default)]
    name: String,
    /// How many suites and tests are around it.
    #[serde(default)]
    nesting: usize,
    /// The file that defines it, as an absolute path.
    #[serde(default)]
    file: Option<String>,
    /// `suite`, `test` or nothing.
    #[serde(default)]
    kind: Option<String>,
    /// Why it failed, in node's words.
    #[serde(default)]
    failure: Option<String>,
    #[serde(default)]
    skip: bool,
    #[serde(default)]
    todo: bool,
    /// Where node runs, in the first record.
    #[serde(default)]
    folder: PathBuf,
}

impl NodeTestEvent {
    /// Returns true if this is not a test, but a whole file that the runner runs in a process of its own.
    fn is_whole_file(&self, folder: &Path) -> bool {
        let file = Path::new(self.file.as_deref().unwrap_or_default());
        let path = folder.join(&self.name);
        self.nesting == 0
            && !self.name.is_empty()
            && (file.ends_with(&self.name)
                || normalize(path.strip_prefix("/").unwrap_or(&path))
                    == file.strip_prefix("/").unwrap_or(file))
    }

    fn is_suite(&self) -> bool {
        self.kind.as_deref() == Some("suite")
    }

    /// Returns how a test ended; `None` for a suite that only has the result of its tests.
    fn status(&self) -> Option<TestStatus> {
        let has_failed = self.event == "test:fail";
        if self.skip || self.todo {
            return Some(TestStatus::Skipped);
        }
        let is_sum = !has_failed || self.failure.as_deref() == Some("subtestsFailed");
        if self.is_suite() && is_sum {
            return None;
        }
        Some(if has_failed {
            TestStatus::Failed
        } else {
            TestStatus::Passed
        })
    }
}

/// Reads the events of one process.
fn parse_report(text: &str, root: &Path, report: &mut ReportBuilder) {
    let mut reader = NodeEventReader {
        root: SourceRoot::new(root),
        folder: PathBuf::new(),
        suites: Vec::new(),
        n_running: BTreeMap::new(),
        files: BTreeSet::new(),
        n_sources: 0,
        has_ended: false,
        report,
    };
    for line in text.lines() {
        match serde_json::from_str(line) {
            Ok(event) => reader.add_event(event),
            Err(_) => reader
                .report
                .doubt("a report of node has a line that is not an event"),
        }
    }
    reader.finish();
}

/// Folds the events of one process into the report.
struct NodeEventReader<'a> {
    root: SourceRoot<'a>,
    /// Where node runs.
    folder: PathBuf,
    /// The names of the suites and tests around the next one.
    suites: Vec<String>,
    /// How often a test began without a result, by file, depth and name.
    n_running: BTreeMap<(String, usize, String), i64>,
    /// The files from which a test was reported.
    files: BTreeSet<String>,
    /// How many source files were read.
    n_sources: usize,
    has_ended: bool,
    report: &'a mut ReportBuilder,
}

impl NodeEventReader<'_> {
    fn add_event(&mut self, event: NodeTestEvent) {
        if event.nesting > MAX_NESTING {
            self.report
                .doubt("the suites of node are nested too deeply");
            return;
        }
        match event.event.as_str() {
            "begin" => self.folder = event.folder,
            "test:enqueue" if !event.is_whole_file(&self.folder) => self.count_running(&event, 1),
            "test:start" => {
                self.suites.resize(event.nesting, String::new());
                self.suites.push(event.name);
            }
            "test:pass" | "test:fail" if event.is_whole_file(&self.folder) => {
                self.add_whole_file(&event);
            }
            "test:pass" | "test:fail" => self.add_result(&event),
            "end" => self.has_ended = true,
            _ => {}
        }
    }

    fn count_running(&mut self, event: &NodeTestEvent, n: i64) {
        let key = (
            event.file.clone().unwrap_or_default(),
            event.nesting,
            event.name.clone(),
        );
        *self.n_running.entry(key).or_default() += n;
    }

    fn add_result(&mut self, event: &NodeTestEvent) {
        self.count_running(event, -1);
        let file = event.file.clone().unwrap_or_default();
        if let Some(status) = event.status() {
            self.suites.resize(event.nesting, String::new());
            let mut names: Vec<&str> = self.suites.iter().map(String::as_str).collect();
            names.push(&event.name);
            let file = self.root.relative_file(&file);
            self.report.add_test(&file, &names.join(" > "), status);
        }
        self.files.insert(file);
    }

    /// Adds a file that names no tests, or that failed beside them. A file without tests that failed may be one that could
    /// not be loaded, or a script that is a test itself: it counts as both.
    fn add_whole_file(&mut self, event: &NodeTestEvent) {
        let file = event.file.clone().unwrap_or_default();
        let status = event.status().unwrap_or(TestStatus::Passed);
        let has_tests = self.files.contains(&file);
        let file = self.root.relative_file(&file);
        if status == TestStatus::Failed && !has_tests {
            self.report.note_failed_load();
        }
        if status == TestStatus::Passed && !has_tests && self.calls_tests(&file) {
            self.report.doubt(format!(
                "{file} has tests, but none was reported: its process may have been ended from inside"
            ));
        }
        self.report.add_test(&file, WHOLE_FILE, status);
    }

    /// Returns whether a file calls node's test functions outside of other functions. A process that ends before its output
    /// is written leaves no event, so that its file looks like a script without tests.
    fn calls_tests(&mut self, file: &str) -> bool {
        static CALL: LazyLock<Option<Regex>> = LazyLock::new(|| {
            Regex::new(r"(?m)^(?:await )?(?:test|it|describe|suite)(?:\.only)?\(").ok()
        });
        self.n_sources += 1;
        let source = (self.n_sources <= MAX_SOURCES)
            .then(|| {
                ScopedReader::open(self.root.root)
                    .ok()?
                    .read_file(file, MAX_SOURCE_BYTES)
                    .ok()
            })
            .flatten();
        source.is_some_and(|source| {
            let source = String::from_utf8_lossy(&source);
            let has_call = CALL.as_ref().is_some_and(|call| call.is_match(&source));
            has_call && source.contains("node:test")
        })
    }

    fn finish(self) {
        let mut unfinished = self.n_running.iter().filter(|(_, n)| **n > 0);
        if let Some(((_, _, name), _)) = unfinished.next() {
            let n = 1 + unfinished.count();
            let n = pluralize(n, "test");
            self.report.doubt(format!(
                "{n} began and did not end, such as {name:?}: the process was stopped from inside"
            ));
        }
        if !self.has_ended {
            self.report
                .doubt("node ended before its report was complete");
        }
    }
}

#[cfg(test)]
mod tests;
