//! Finds tests that may be flaky: they fail with the step's code, and the step did not touch them (TRUTH.md T25).
//!
//! Whether such a test is flaky only further runs can tell. It is where it also fails, once, on the code before the step.

use std::collections::BTreeSet;

use super::test_location::may_hold_test;
use crate::domain::test_report::{TestIdentity, TestReport, TestStatus};

/// Returns the tests that fail here and passed before the step; empty where something else is wrong, too, which no
/// further run would excuse. `changed_tests` are the files whose tests the step changes, by path.
pub fn find_flaky_suspects(
    failed: &TestReport,
    baseline: &TestReport,
    changed_tests: &[String],
) -> BTreeSet<TestIdentity> {
    let mut suspects = BTreeSet::new();
    for test in failed.failed() {
        let is_touched = changed_tests.iter().any(|path| may_hold_test(path, test));
        match baseline.tests.get(test) {
            Some(TestStatus::Failed) => {}
            Some(TestStatus::Passed) if !is_touched => {
                suspects.insert(test.clone());
            }
            Some(TestStatus::Passed | TestStatus::Skipped) | None => return BTreeSet::new(),
        }
    }
    if failed.failed_to_load || !failed.doubts.is_empty() {
        return BTreeSet::new();
    }
    suspects
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(tests: &[(&str, TestStatus)]) -> TestReport {
        let identity = |name: &str| TestIdentity {
            file: "a.test.js".to_owned(),
            name: name.to_owned(),
        };
        TestReport {
            tests: tests
                .iter()
                .map(|(name, status)| (identity(name), *status))
                .collect(),
            ..TestReport::default()
        }
    }

    #[test]
    fn only_untouched_tests_that_passed_before_are_run_again() {
        use TestStatus::{Failed, Passed, Skipped};
        let baseline = report(&[("old", Passed), ("known", Failed), ("off", Skipped)]);
        for (now, changed, expected) in [
            (vec![("old", Failed), ("known", Failed)], "b.test.js", "old"),
            (vec![("old", Passed), ("known", Failed)], "b.test.js", ""),
            (vec![("old", Failed)], "a.test.js", ""),
            (vec![("old", Failed), ("new", Failed)], "b.test.js", ""),
            (vec![("old", Failed), ("off", Failed)], "b.test.js", ""),
        ] {
            let found = find_flaky_suspects(&report(&now), &baseline, &[changed.to_owned()]);
            let names: Vec<&str> = found.iter().map(|test| test.name.as_str()).collect();
            assert_eq!(names.join(" "), expected, "{now:?} {changed}");
        }
        let mut unloaded = report(&[("old", Failed)]);
        unloaded.failed_to_load = true;
        assert!(find_flaky_suspects(&unloaded, &baseline, &[]).is_empty());
    }
}
