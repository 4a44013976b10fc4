//! Makes pytest write a junit report, and reads it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::WHOLE_FILE;
use super::junit_file::{self, JunitCase};
use super::report_builder::ReportBuilder;
use super::runner_search::normalize;
use crate::domain::test_report::TestStatus;

const REPORT_NAME: &str = "pytest.xml";
/// The folder for pytest's cache, and the file in it that names each test that was collected.
const CACHE_NAME: &str = "pytest-cache";
const COLLECTED_NAME: &str = "pytest-cache/v/cache/nodeids";

/// Returns the options for pytest. They come after those of its configuration file, so they win over these, and before
/// those of the command. The older form of the report names the file of each test. The cache names what was collected.
pub(super) fn report_options(folder: &Path) -> String {
    let quoted = |name: &str| {
        let path = folder.join(name);
        path.to_string_lossy().replace('\'', r"'\''")
    };
    format!(
        "'--junitxml={}' -o 'cache_dir={}' -o junit_family=xunit1 -o junit_logging=no --junit-prefix= --maxfail=0 \
         --continue-on-collection-errors",
        quoted(REPORT_NAME),
        quoted(CACHE_NAME)
    )
}

/// Removes the options that make pytest write its report elsewhere or stop at the first failure.
pub(super) fn without_hiding_options(line: &str) -> String {
    static PATTERNS: LazyLock<Option<(Regex, Regex)>> = LazyLock::new(|| {
        let command = Regex::new(r#"\b(?:pytest|py\.test)\s[^&|;\n()`'"]*"#).ok()?;
        let option = Regex::new(
            r"\s(?:--junit-?xml[=\s]\s*[\w./:@%+,-]+|--maxfail[=\s]\s*\d+|--exitfirst|-x)(?P<end>\s|$)",
        );
        Some((command, option.ok()?))
    });
    let Some((command, option)) = PATTERNS.as_ref() else {
        return line.to_owned();
    };
    let changed = command.replace_all(line, |found: &Captures<'_>| {
        // A space ends one option and begins the next one.
        let mut words = found[0].to_owned();
        while let Cow::Owned(fewer) = option.replace(&words, "$end") {
            words = fewer;
        }
        words
    });
    changed.into_owned()
}

/// The maximum number of paths that are looked up.
const MAX_KNOWN_FILES: usize = 50_000;

/// Resolves the files that pytest names, which are relative to its own root: the folder of its configuration.
pub(super) struct PytestFiles<'a> {
    root: &'a Path,
    /// Where pytest runs, relative to the root.
    folder: &'a Path,
    known: BTreeMap<String, Option<String>>,
}

impl<'a> PytestFiles<'a> {
    pub(super) fn new(root: &'a Path, folder: &'a Path) -> Self {
        Self {
            root,
            folder,
            known: BTreeMap::new(),
        }
    }

    /// Returns an existing file by its path from the root.
    fn find(&mut self, file: &str) -> Option<String> {
        if self.known.len() >= MAX_KNOWN_FILES {
            return None;
        }
        let (root, folder) = (self.root, self.folder);
        let found = self.known.entry(file.to_owned()).or_insert_with(|| {
            let places = [normalize(&folder.join(file)), normalize(Path::new(file))];
            let exists = |path: &PathBuf| root.join(path).is_file();
            let found = places.into_iter().find(exists)?;
            Some(found.to_string_lossy().into_owned())
        });
        found.clone()
    }

    /// Splits a class name such as `tests.test_a.TestThings` into the file and the classes in it. The file that the report
    /// names is the one that defines the test, which may be another one if a class inherits it.
    fn split_class(&mut self, class: &str, file: Option<&str>) -> (String, Vec<String>) {
        if let Some(file) = file {
            let module = file.strip_suffix(".py").unwrap_or(file).replace('/', ".");
            let rest = class.strip_prefix(module.as_str());
            if let Some(rest) = rest.filter(|rest| rest.is_empty() || rest.starts_with('.')) {
                let found = self.find(file).unwrap_or_else(|| file.to_owned());
                return (found, to_classes(rest));
            }
        }
        let dots = class.match_indices('.').map(|(at, _)| at);
        let mut ends: Vec<usize> = dots.chain([class.len()]).take(MAX_CLASS_PARTS).collect();
        ends.reverse();
        for end in ends {
            let (module, rest) = class.split_at(end);
            if let Some(found) = self.find(&format!("{}.py", module.replace('.', "/"))) {
                return (found, to_classes(rest));
            }
        }
        let file = file.unwrap_or_default();
        let found = self.find(file).unwrap_or_else(|| file.to_owned());
        (found, to_classes(class))
    }
}

/// The maximum number of packages, modules and classes around a test.
const MAX_CLASS_PARTS: usize = 40;

fn to_classes(rest: &str) -> Vec<String> {
    let parts = rest.split('.').filter(|part| !part.is_empty());
    parts.map(str::to_owned).collect()
}

/// Reads the report and compares it with the names that were collected and with the output.
pub(super) fn read_report(
    folder: &Path,
    files: PytestFiles<'_>,
    output: Option<&str>,
    report: &mut ReportBuilder,
) {
    let text = match junit_file::read(folder, REPORT_NAME, "pytest") {
        Ok(Some(text)) => text,
        Ok(None) => {
            report.doubt("pytest wrote no report: it did not start, was stopped from inside, or was told not to");
            return;
        }
        Err(why) => {
            report.doubt(why);
            return;
        }
    };
    let mut cases = PytestCases {
        files,
        names: BTreeSet::new(),
    };
    junit_file::read_cases(&text, "pytest", report, |case, report| {
        cases.add(case, report)
    });
    compare_with_collected(folder, &cases.names, report);
    let n_named = cases.names.len();
    if let Some(output) = output {
        compare_with_output(output, n_named, report);
    }
}

/// Compares the report with the names that pytest collected before it ran a test. They are missing where its cache is
/// switched off, and empty where several workers collect.
fn compare_with_collected(
    folder: &Path,
    names: &BTreeSet<(String, String)>,
    report: &mut ReportBuilder,
) {
    let text = match junit_file::read(folder, COLLECTED_NAME, "pytest's cache") {
        Ok(Some(text)) => text,
        Ok(None) => return,
        Err(why) => return report.doubt(why),
    };
    let Ok(collected) = serde_json::from_str::<Vec<String>>(&text) else {
        return report.doubt("the names that pytest collected cannot be read");
    };
    let is_missing =
        |id: &&String| !id.contains(char::is_control) && !names.contains(&split_id(id));
    let missing: Vec<&String> = collected.iter().filter(is_missing).collect();
    if let [first, others @ ..] = missing.as_slice() {
        let more = match others.len() {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        report.doubt(format!(
            "pytest collected {first}{more}, but its report does not name it"
        ));
    }
}

/// Returns the class and the name by which a report names a collected test, such as `tests/test_a.py::TestB::test_c[1]`.
fn split_id(id: &str) -> (String, String) {
    let (path, parameters) = id.split_at(id.find('[').unwrap_or(id.len()));
    let mut parts: Vec<String> = path.split("::").map(str::to_owned).collect();
    if let Some(file) = parts.first_mut() {
        let dotted = file.replace('/', ".");
        *file = dotted.strip_suffix(".py").unwrap_or(&dotted).to_owned();
    }
    let name = parts.pop().unwrap_or_default() + parameters;
    (parts.join("."), name)
}

/// Adds the tests of a report; remembers their classes and names.
struct PytestCases<'a> {
    files: PytestFiles<'a>,
    /// The classes and names of the tests.
    names: BTreeSet<(String, String)>,
}

impl PytestCases<'_> {
    fn add(&mut self, case: JunitCase, report: &mut ReportBuilder) {
        let status = case.status();
        let Some(name) = case.name else {
            report.doubt("a test began and did not end: pytest was told to stop");
            return;
        };
        // A module, whose name is that of its file.
        if case.class.is_empty() && status != TestStatus::Passed {
            if status == TestStatus::Failed {
                report.note_failed_load();
            } else {
                let (file, _) = self.files.split_class(&name, case.file.as_deref());
                let file = if file.is_empty() { name } else { file };
                report.add_test(&file, WHOLE_FILE, status);
            }
            return;
        }
        let (file, mut parts) = self.files.split_class(&case.class, case.file.as_deref());
        parts.push(name.clone());
        report.add_test(&file, &parts.join("::"), status);
        self.names.insert((case.class, name));
    }
}

/// Compares the report with what pytest printed: how many tests it collected, and whether it stopped early. Quiet runs
/// do not print the former.
fn compare_with_output(output: &str, n_named: usize, report: &mut ReportBuilder) {
    let n_collected = output.lines().find_map(parse_collected_count);
    if let Some(n) = n_collected.filter(|n| *n > n_named) {
        report.doubt(format!(
            "pytest collected {n} tests, but its report names {n_named}"
        ));
    }
    let stop = output.lines().find_map(|line| {
        let reason = line.trim_matches('!');
        let is_bar = line.starts_with("!!!") && line.ends_with("!!!");
        (is_bar && !reason.trim().is_empty()).then(|| reason.trim())
    });
    if let Some(reason) = stop {
        report.doubt(format!("pytest stopped early: {reason}"));
    }
}

/// Parses `collected 5 items / 1 deselected / 4 selected` and, of several workers, `2 workers [5 items]`.
fn parse_collected_count(line: &str) -> Option<usize> {
    if let Some((_, count)) = line.split_once(" workers [") {
        return count.split_once(" item")?.0.parse().ok();
    }
    let rest = line.strip_prefix("collected ")?;
    let (n, parts) = rest.split_once(" item")?;
    let selected = parts
        .split(" / ")
        .find_map(|part| part.trim().strip_suffix(" selected"));
    selected.unwrap_or(n).parse().ok()
}

#[cfg(test)]
mod tests;
