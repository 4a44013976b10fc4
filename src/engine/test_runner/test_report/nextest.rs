//! Makes `cargo nextest run` write a junit report, and reads it.
//!
//! The report is asked for by a tool's configuration, which ranks below the repository's own: one that names a junit
//! report itself wins, so such a repository has no reporting runner (see `runner_search`). Doc tests are none of nextest's.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::cargo_packages::CargoPackages;
use super::junit_file;
use super::report_builder::ReportBuilder;

const REPORT_NAME: &str = "nextest.xml";
const SETTINGS_NAME: &str = "nextest.toml";
/// nextest's exit status where the tests could not be built.
const BUILD_FAILED: i32 = 101;

/// Writes the configuration into the folder of the report.
///
/// # Errors
/// The disk fails.
pub(super) fn write_settings(folder: &Path) -> io::Result<()> {
    let path = |name: &str| toml::Value::from(folder.join(name).to_string_lossy().into_owned());
    let settings = format!(
        "[store]\ndir = {}\n\n[profile.default.junit]\npath = {}\n",
        path("nextest"),
        path(REPORT_NAME)
    );
    fs::write(folder.join(SETTINGS_NAME), settings)
}

/// Adds the configuration, and takes away what ends the run at a failed test.
pub(super) fn with_report(line: &str, folder: &Path) -> String {
    static PATTERNS: LazyLock<Option<(Regex, Regex)>> = LazyLock::new(|| {
        let command = Regex::new(
            r#"(?P<start>\bcargo(?:\s+\+[\w.-]+)?\s+nextest\s+(?:run|r))(?P<rest>\s[^&|;\n()`'"]*|[&|;\n()`'"]|$)"#,
        );
        let option = Regex::new(
            r"\s(?:--fail-fast|--ff|--no-fail-fast|--nff|--max-fail[=\s]\s*[\w:]+)(?P<end>\s|$)",
        );
        Some((command.ok()?, option.ok()?))
    });
    let settings = folder.join(SETTINGS_NAME);
    let settings = settings.to_string_lossy();
    // It may stand between quotes, so it is not quoted.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./:=@%+,-".contains(c);
    let Some((command, option)) = PATTERNS.as_ref().filter(|_| settings.chars().all(is_plain))
    else {
        return line.to_owned();
    };
    let changed = command.replace_all(line, |found: &Captures<'_>| {
        let mut rest = found["rest"].to_owned();
        while let Cow::Owned(fewer) = option.replace(&rest, "$end") {
            rest = fewer;
        }
        let start = &found["start"];
        format!("{start} --tool-config-file agent-collab:{settings} --no-fail-fast{rest}")
    });
    changed.trim_end().to_owned()
}

pub(super) fn read_report(
    folder: &Path,
    root: &Path,
    exit_code: Option<i32>,
    report: &mut ReportBuilder,
) {
    let text = match junit_file::read(folder, REPORT_NAME, "nextest") {
        Ok(Some(text)) => text,
        Ok(None) if exit_code == Some(BUILD_FAILED) => {
            report.note_failed_load();
            return;
        }
        Ok(None) => {
            report.doubt("nextest wrote no report: it ran no tests, or its settings put the report elsewhere");
            return;
        }
        Err(why) => {
            report.doubt(why);
            return;
        }
    };
    let packages = CargoPackages::find(root);
    junit_file::read_cases(&text, "nextest", report, |case, report| {
        let status = case.status();
        let file = packages.find_named_program_file(&case.class);
        match case.name {
            Some(name) => report.add_test(&file.unwrap_or(case.class), &name, status),
            None => report.doubt("the report of nextest has a test without a name"),
        }
    });
}

#[cfg(test)]
mod tests;
