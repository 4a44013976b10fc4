//! Finds the tests that fail before the first step and that no step of the plan says it fixes (TRUTH.md T25).

use super::TestNames;
use super::named_tests::{find_mentions, names_test};
use super::test_location::may_hold_test;
use crate::domain::plan::Plan;
use crate::domain::plan::proof_lines::{ExpectedTestChange, ProofClaim};
use crate::domain::test_report::{TestIdentity, TestReport};

/// Returns the failing tests that neither `Test first:` nor `Changes tests:` of a step names; `None` where the report does
/// not name every test that fails.
pub fn find_unplanned_failures(report: &TestReport, plan: &Plan) -> Option<TestNames> {
    let is_known = report.failed().next().is_some() && !report.failed_to_load;
    let is_unplanned = |test: &&TestIdentity| !is_fix_planned(plan, test);
    is_known.then(|| TestNames::from_tests(report.failed().filter(is_unplanned)))
}

fn is_fix_planned(plan: &Plan, test: &TestIdentity) -> bool {
    let changes = |change: &ExpectedTestChange| {
        let is_in_file = change.matches_path(&test.file) || may_hold_test(&change.path, test);
        is_in_file && (change.test.is_empty() || names_test(&change.test, &test.name))
    };
    plan.steps.iter().any(|step| {
        let words = match &step.proof.claim {
            ProofClaim::TestFirst(words) => words.as_str(),
            ProofClaim::Command(_)
            | ProofClaim::KeepsBehaviour
            | ProofClaim::NoTest(_)
            | ProofClaim::Unnamed => "",
        };
        let mentions = find_mentions(words);
        mentions.iter().any(|mention| mention.matches(test))
            || step.proof.changes_tests.iter().any(changes)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::plan;
    use crate::domain::test_report::TestStatus;

    #[test]
    fn failures_that_the_plan_does_not_name_are_unplanned() {
        let identity = |name: &str| TestIdentity {
            file: "tests/test_a.py".to_owned(),
            name: name.to_owned(),
        };
        let report = |failing: &[&str]| TestReport {
            tests: failing
                .iter()
                .map(|name| (identity(name), TestStatus::Failed))
                .chain([(identity("test_other"), TestStatus::Passed)])
                .collect(),
            ..TestReport::default()
        };
        let failing = report(&["test_x", "test_y"]);
        for (lines, expected) in [
            ("", 2),
            ("Test first: test_x", 1),
            ("Test first: test_x\n2. [ ] more\nTest first: test_y", 0),
            ("Test first: tests/test_a.py", 0),
            ("Test first: tests/test_b.py", 2),
            ("Proof: pytest", 2),
            (
                "Changes tests: tests/test_a.py::test_y \u{2014} it is wrong",
                1,
            ),
            ("Changes tests: tests/** \u{2014} all are wrong", 0),
        ] {
            let plan = plan::parse(&format!("1. [ ] one\n{lines}\n")).unwrap();
            let found = find_unplanned_failures(&failing, &plan).unwrap();
            assert_eq!(found.count, expected, "{lines}");
        }
        // A command that fails, and no report that says why.
        let plan = plan::parse("1. [ ] one\n").unwrap();
        assert_eq!(find_unplanned_failures(&report(&[]), &plan), None);
        let mut unloaded = failing;
        unloaded.failed_to_load = true;
        assert_eq!(find_unplanned_failures(&unloaded, &plan), None);
    }
}
