//! Makes a test runner report each test by its identity, and reads what it reported (TRUTH.md T22).
//!
//! Each runner has its own file. Tests run in the process that reports, so a report is not trusted: it is limited in
//! size, its names are cleaned, and what does not fit together becomes a doubt. Code that changes its runner in memory,
//! or writes a whole report in the runner's place, is not recognized.

mod cargo_packages;
mod cargo_test;
mod go_packages;
mod go_test;
mod jest;
mod junit_file;
mod mocha;
mod nextest;
mod node_test;
mod process_reports;
mod pytest;
mod report_builder;
mod runner_preload;
mod runner_search;
mod test_selection;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

pub use runner_search::find_runner;
pub use test_selection::{select_test_files, select_tests};

use self::report_builder::ReportBuilder;
use super::test_command_line::TestCommandLine;
use crate::domain::test_report::TestReport;

/// The name of a file or program that counts as one test, because its runner names no tests in it.
const WHOLE_FILE: &str = "(whole file)";

/// The maximum size of a run's reports, in bytes.
const MAX_REPORT_BYTES: u64 = 32 * 1024 * 1024;

/// The runner that a test command starts, as far as its tests can be known by identity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReportingRunner {
    /// pytest, which writes a junit report.
    Pytest {
        /// The folder in which it runs, relative to the repository's root.
        folder: PathBuf,
    },
    /// `node --test`, whose events a reporter of this program writes to a file.
    NodeTest {
        /// The reporters that the command itself names.
        named: NamedReporters,
    },
    /// `cargo test`, whose output is its report.
    CargoTest,
    /// `cargo nextest run`, which writes a junit report.
    Nextest,
    /// jest, which writes a JSON report.
    Jest,
    /// vitest, which writes one like jest's.
    Vitest,
    /// mocha, whose events a reporter of this program writes to a file.
    Mocha,
    /// `go test`, whose output is its report.
    GoTest {
        /// Whether a script starts it, so that only the environment reaches it.
        is_in_script: bool,
    },
}

/// The reporters that a `node --test` command names itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NamedReporters {
    Nothing,
    /// One reporter without a destination.
    WithoutDestination,
    /// Reporters, each with its destination.
    WithDestinations,
}

impl ReportingRunner {
    /// Writes what the runner needs into the folder for its report, which must exist and be empty.
    ///
    /// # Errors
    /// The disk fails.
    pub fn prepare_folder(&self, folder: &Path) -> io::Result<()> {
        match self {
            Self::Jest | Self::Vitest | Self::Mocha => runner_preload::write_scripts(folder),
            Self::Nextest => nextest::write_settings(folder),
            Self::Pytest { .. } | Self::NodeTest { .. } | Self::CargoTest | Self::GoTest { .. } => {
                Ok(())
            }
        }
    }

    /// Returns the environment that makes the runner write its report into a folder. The path is the one that the test
    /// command sees; options that `env` has stay.
    ///
    /// A run does not stop at the first failure where the environment can say so, because tests that did not run are
    /// unknown.
    pub fn report_variables(
        &self,
        folder: &Path,
        env: &BTreeMap<String, String>,
    ) -> BTreeMap<String, String> {
        let (name, value) = match self {
            Self::Pytest { .. } => ("PYTEST_ADDOPTS", pytest::report_options(folder)),
            Self::NodeTest { named } => ("NODE_OPTIONS", node_test::report_options(folder, *named)),
            Self::Jest | Self::Vitest | Self::Mocha => {
                ("NODE_OPTIONS", runner_preload::node_option(folder))
            }
            Self::GoTest { is_in_script: true } => {
                ("GOFLAGS", go_test::ENVIRONMENT_OPTIONS.to_owned())
            }
            Self::CargoTest | Self::Nextest => {
                return BTreeMap::from([("CARGO_TERM_COLOR".to_owned(), "never".to_owned())]);
            }
            Self::GoTest { .. } => return BTreeMap::new(),
        };
        let value = match env.get(name) {
            Some(own) => format!("{own} {value}"),
            None => value,
        };
        BTreeMap::from([(name.to_owned(), value)])
    }

    /// Returns the command to run instead, so that its own options neither hide tests nor end the run at the first
    /// failure. Commands in scripts that it calls stay as they are.
    pub fn reporting_command(&self, command: &TestCommandLine, folder: &Path) -> TestCommandLine {
        let line = command.to_string();
        let changed = match self {
            Self::Pytest { .. } => pytest::without_hiding_options(&line),
            Self::CargoTest => cargo_test::with_all_programs(&line),
            Self::Nextest => nextest::with_report(&line, folder),
            Self::GoTest { .. } => go_test::with_report(&line),
            // The reporters of node add up, and the others get their options later.
            Self::NodeTest { .. } | Self::Jest | Self::Vitest | Self::Mocha => {
                return command.clone();
            }
        };
        if changed == line {
            return command.clone();
        }
        TestCommandLine::parse(&changed).unwrap_or_else(|| command.clone())
    }

    /// Returns the command that builds what a reporting command runs, and runs nothing; `None` where the runner builds
    /// nothing that it keeps.
    pub fn build_command(&self, reporting: &TestCommandLine) -> Option<TestCommandLine> {
        const ALL_PROGRAMS: &str = "--no-fail-fast";
        let build_options = match self {
            Self::CargoTest => "--no-run --no-fail-fast",
            Self::Nextest => "--no-run",
            _ => return None,
        };
        let line = reporting.to_string();
        let build = line.replace(ALL_PROGRAMS, build_options);
        (build != line).then(|| TestCommandLine::parse(&build))?
    }

    /// Returns the output as people read it, where the runner writes it for programs.
    pub fn readable_output(&self, output: &str) -> Option<String> {
        matches!(self, Self::GoTest { .. }).then(|| go_test::readable_output(output))
    }

    /// Reads what a run reported about its tests.
    ///
    /// `folder` is where this program finds what the runner wrote, and `root` the repository's root. `output` is the whole
    /// output, or `None` if it was cut; `exit_code` is `None` if the command did not end by itself.
    pub fn read_report(
        &self,
        folder: &Path,
        root: &Path,
        output: Option<&str>,
        exit_code: Option<i32>,
    ) -> TestReport {
        let mut report = ReportBuilder::default();
        match self {
            Self::Pytest { folder: runs_in } => {
                let files = pytest::PytestFiles::new(root, runs_in);
                pytest::read_report(folder, files, output, &mut report);
            }
            Self::NodeTest { .. } => node_test::read_reports(folder, root, &mut report),
            Self::CargoTest => match output {
                Some(output) => cargo_test::read_output(output, root, exit_code, &mut report),
                None => report.doubt("the output of cargo was cut, so its tests are not known"),
            },
            Self::Nextest => nextest::read_report(folder, root, exit_code, &mut report),
            Self::Jest => jest::read_reports("jest", folder, root, &mut report),
            Self::Vitest => jest::read_reports("vitest", folder, root, &mut report),
            Self::Mocha => mocha::read_reports(folder, root, exit_code, &mut report),
            Self::GoTest { .. } => match output {
                Some(output) => go_test::read_output(output, root, &mut report),
                None => report.doubt("the output of go was cut, so its tests are not known"),
            },
        }
        report.finish(exit_code)
    }
}

#[cfg(test)]
mod tests;
