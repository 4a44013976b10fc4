//! Makes `go test` report in JSON, and reads it from the output: go writes no report file.
//!
//! What a test prints is text in an event, so it is no event itself. go finds the events in the output of the test's
//! process by lines such as `--- PASS:`, which a test can print as well; then a test ends twice, or without a beginning,
//! which is a doubt. A process that prints a whole fitting output and ends itself is not recognized.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde::Deserialize;

use super::WHOLE_FILE;
use super::go_packages::GoPackages;
use super::report_builder::ReportBuilder;
use crate::domain::test_report::TestStatus;
use crate::text::pluralize;

/// The options for `GOFLAGS`, where a script starts go. Commands of go that do not know them ignore them; those that the
/// tests start see them, too.
pub(super) const ENVIRONMENT_OPTIONS: &str = "-json -failfast=false";

/// Makes the commands of a line report all tests.
pub(super) fn with_report(line: &str) -> String {
    static PATTERNS: LazyLock<Option<(Regex, Regex)>> = LazyLock::new(|| {
        let command =
            Regex::new(r#"(?P<start>\bgo\s+test)(?P<rest>\s[^&|;\n()`'"]*|[&|;\n()`'"]|$)"#);
        let option = Regex::new(r"\s--?(?:json|failfast)(?P<end>\s|$)");
        Some((command.ok()?, option.ok()?))
    });
    let Some((command, option)) = PATTERNS.as_ref() else {
        return line.to_owned();
    };
    let changed = command.replace_all(line, |found: &Captures<'_>| {
        let mut rest = found["rest"].to_owned();
        while let Cow::Owned(fewer) = option.replace(&rest, "$end") {
            rest = fewer;
        }
        format!("{} -json{rest}", &found["start"])
    });
    changed.trim_end().to_owned()
}

/// An event of go.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[derive(Default)]
struct GoTestEvent {
    action: String,
    /// The package, as it is imported; empty for what happens while building.
    package: String,
    /// The test with the ones around it, separated by slashes; empty for the package itself.
    test: String,
    output: String,
    /// What could not be built.
    failed_build: String,
}

/// What happened to one test.
#[derive(Debug, Default)]
struct GoTestRun {
    n_started: usize,
    ends: Vec<TestStatus>,
}

/// What happened to one package.
#[derive(Debug, Default)]
struct GoPackageRun {
    tests: BTreeMap<String, GoTestRun>,
    end: Option<TestStatus>,
    is_not_built: bool,
}

/// Reads the whole output.
pub(super) fn read_output(output: &str, root: &Path, report: &mut ReportBuilder) {
    let mut runs: BTreeMap<String, GoPackageRun> = BTreeMap::new();
    let mut has_failed_build = false;
    for line in output.lines() {
        let Some(event) = parse_event(line) else {
            // Before go 1.20 this line is no event.
            if is_build_failure(line) {
                has_failed_build = true;
                report.note_failed_load();
            }
            continue;
        };
        if event.package.is_empty() {
            continue;
        }
        let run = runs.entry(event.package.clone()).or_default();
        let status = match event.action.as_str() {
            "pass" => TestStatus::Passed,
            "fail" => TestStatus::Failed,
            "skip" => TestStatus::Skipped,
            "run" => {
                run.tests.entry(event.test).or_default().n_started += 1;
                continue;
            }
            _ => {
                run.is_not_built |= event.test.is_empty() && is_build_failure(&event.output);
                continue;
            }
        };
        if event.test.is_empty() {
            run.is_not_built |= !event.failed_build.is_empty();
            run.end = Some(status);
        } else {
            run.tests.entry(event.test).or_default().ends.push(status);
        }
    }
    // Before Go 1.24 a package that is not built has no event.
    if runs.is_empty() && !has_failed_build {
        report.doubt("go reported no package");
    }
    let mut packages = GoPackages::find(root);
    for (package, run) in &runs {
        add_package(package, run, &mut packages, report);
    }
}

fn add_package(
    package: &str,
    run: &GoPackageRun,
    packages: &mut GoPackages<'_>,
    report: &mut ReportBuilder,
) {
    let mut has_failed_test = false;
    for (name, test) in &run.tests {
        let file = packages.find_file(package, name);
        for status in &test.ends {
            has_failed_test |= *status == TestStatus::Failed;
            report.add_test(&file, name, *status);
        }
        // The process died in it.
        let died = run.end == Some(TestStatus::Failed) && test.ends.len() < test.n_started;
        if died {
            has_failed_test = true;
            report.add_test(&file, name, TestStatus::Failed);
        } else if test.ends.len() != test.n_started {
            report.doubt(format!(
                "{package}: {name} began {} and ended {}: it was stopped from inside, or a test prints such lines",
                pluralize(test.n_started, "time"),
                pluralize(test.ends.len(), "time")
            ));
        }
    }
    match run.end {
        Some(TestStatus::Failed) if run.is_not_built => report.note_failed_load(),
        Some(TestStatus::Failed) if !has_failed_test => {
            let folder = packages.folder_of(package);
            let file = folder.unwrap_or_else(|| package.to_owned());
            report.add_test(&file, WHOLE_FILE, TestStatus::Failed);
        }
        Some(_) => {}
        None => report.doubt(format!("go ended before it reported the end of {package}")),
    }
}

fn parse_event(line: &str) -> Option<GoTestEvent> {
    let event: GoTestEvent = line
        .starts_with('{')
        .then(|| serde_json::from_str(line).ok())??;
    (!event.action.is_empty()).then_some(event)
}

fn is_build_failure(line: &str) -> bool {
    let line = line.trim_end();
    line.starts_with("FAIL\t")
        && (line.ends_with("[build failed]") || line.ends_with("[setup failed]"))
}

/// Returns the output as go writes it for people: package by package, without what passing tests print.
pub(super) fn readable_output(output: &str) -> String {
    let events: Vec<Result<GoTestEvent, &str>> = output
        .split_inclusive('\n')
        .map(|line| parse_event(line).ok_or(line))
        .collect();
    let failed: BTreeSet<(&str, &str)> = events
        .iter()
        .flatten()
        .filter(|event| event.action == "fail")
        .map(|event| (&*event.package, &*event.test))
        .collect();
    let (mut text, mut packages) = (String::new(), BTreeMap::<&str, String>::new());
    for event in &events {
        match event {
            Err(line) => text.push_str(line),
            Ok(event) if event.package.is_empty() => text.push_str(&event.output),
            Ok(event) => {
                let is_shown =
                    event.test.is_empty() || failed.contains(&(&*event.package, &*event.test));
                if is_shown {
                    packages
                        .entry(&event.package)
                        .or_default()
                        .push_str(&event.output);
                }
            }
        }
    }
    text.extend(packages.into_values());
    text
}

#[cfg(test)]
mod tests;
