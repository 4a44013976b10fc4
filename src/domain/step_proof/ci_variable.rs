//! Compares the tests of a step with the variable `CI` and without it: a step must not pass only where `CI` is set
//! (TRUTH.md T26).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{CellRun, TestNames};
use crate::domain::test_report::{TestIdentity, TestReport, TestStatus};

/// The new tests on the new code, without the variable `CI`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunWithoutCi {
    pub run: CellRun,
    /// The first line of the step that reads the variable, as `path:line`.
    pub read_at: String,
    /// The tests that pass with the variable and do not pass without it.
    #[serde(default, skip_serializing_if = "TestNames::is_empty")]
    pub failing: TestNames,
}

/// Returns the tests that pass with `CI` set and fail, are skipped or are gone without it. Tests that did not pass
/// without it `before` the step, either, are left out.
pub fn find_tests_that_need_ci(
    with: &TestReport,
    without: &TestReport,
    before: Option<&TestReport>,
) -> BTreeSet<TestIdentity> {
    let status_before = |test: &TestIdentity| before?.tests.get(test).copied();
    let needs_ci = |test: &TestIdentity| {
        let passes = without.tests.get(test) == Some(&TestStatus::Passed);
        let passed_before = status_before(test).is_none_or(|status| status == TestStatus::Passed);
        !passes && passed_before
    };
    let tests = with.tests.iter();
    let passing = tests.filter(|(_, status)| **status == TestStatus::Passed);
    let needing = passing.map(|(test, _)| test).filter(|test| needs_ci(test));
    needing.cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::report;
    use super::*;

    #[test]
    fn a_test_that_passes_only_with_ci_is_found_unless_it_was_so_before() {
        for (with, without, before, expected) in [
            ("t.py:a+ t.py:b+", "t.py:a+ t.py:b+", "", ""),
            ("t.py:a+ t.py:b+", "t.py:a+ t.py:b-", "", "t.py:b"),
            ("t.py:a+ t.py:b+", "t.py:a+ t.py:b~", "", "t.py:b"),
            ("t.py:a+ t.py:b+", "t.py:a+", "t.py:a+", "t.py:b"),
            ("t.py:a+ t.py:b+", "t.py:a-", "t.py:a- t.py:b~", ""),
            ("t.py:a- t.py:b~", "t.py:a-", "", ""),
        ] {
            let before = report(before);
            let found = find_tests_that_need_ci(&report(with), &report(without), Some(&before));
            let names: Vec<String> = found
                .iter()
                .map(|test| format!("{}:{}", test.file, test.name))
                .collect();
            assert_eq!(names.join(" "), expected, "{with} / {without}");
        }
    }
}
