//! Holds the tests of a run by their identity, as the runner's own report names them (TRUTH.md T22).
//!
//! Says nothing about what a result means: `step_proof` compares the reports of several runs.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A test: the file or program that holds it, and its whole name there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TestIdentity {
    /// The file, relative to the repository's root, or the runner's name of the program; empty where the runner names
    /// neither.
    pub file: String,
    /// The name with the suites around it, as the runner writes it.
    pub name: String,
}

impl fmt::Display for TestIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.file.is_empty() {
            f.write_str(&self.name)
        } else {
            write!(f, "{}: {}", self.file, self.name)
        }
    }
}

/// How a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestStatus {
    Passed,
    /// It failed, or it ended with an error.
    Failed,
    /// It was skipped, ignored or marked as todo, so it did not pass.
    Skipped,
}

/// What one test run reports about each test.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TestReport {
    pub tests: BTreeMap<TestIdentity, TestStatus>,
    /// Whether some tests could not be loaded: a build, an import or a link failed. Their names are then not known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed_to_load: bool,
    /// Why the report cannot be relied on, such as tests that the runner lists and the report lacks; empty where nothing
    /// speaks against it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
}

impl TestReport {
    /// Returns the tests that fail.
    pub fn failed(&self) -> impl Iterator<Item = &TestIdentity> {
        let tests = self.tests.iter();
        tests.filter_map(|(test, status)| (*status == TestStatus::Failed).then_some(test))
    }

    /// Returns how many tests have this status.
    pub fn count(&self, status: TestStatus) -> usize {
        self.tests
            .values()
            .filter(|found| **found == status)
            .count()
    }
}
