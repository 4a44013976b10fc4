//! Lists the checks that the steps of a chain count on, and compares such a check with the same one run again
//! (TRUTH.md T32).

use std::collections::{BTreeMap, BTreeSet};

use super::{ChainLink, ChainStep, ChainStepStatus, CheckLink, LinkKind, StepLink};
use crate::domain::receipt::TestOutcome;
use crate::domain::test_report::{TestIdentity, TestReport, TestStatus};

/// How many differences are named.
const MAX_NAMED: usize = 3;

/// A check that a step counts on.
#[derive(Debug, Clone, Copy)]
pub struct StepCheck<'a> {
    /// The number of the check's receipt.
    pub receipt: u32,
    pub check: &'a CheckLink,
    pub step: &'a StepLink,
    /// The command of the step's checks that is not the test command, as of a `Proof:` line.
    pub other_command: Option<&'a str>,
}

/// Lists the checks of these steps that were not undone, each once: those that a step names, and those of other
/// commands, as of a `Proof:` line, on the same trees.
pub fn list_step_checks<'a>(links: &'a [ChainLink], steps: &[ChainStep]) -> Vec<StepCheck<'a>> {
    let by_number: BTreeMap<u32, &LinkKind> =
        links.iter().map(|link| (link.number, &link.kind)).collect();
    let mut seen = BTreeSet::new();
    let mut listed = Vec::new();
    for counted in steps {
        let Some(LinkKind::Step(step)) = by_number.get(&counted.receipt) else {
            continue;
        };
        if counted.status == ChainStepStatus::Undone {
            continue;
        }
        let mut checks: Vec<(u32, &CheckLink)> = Vec::new();
        for number in &step.checks {
            if let Some(LinkKind::Check(check)) = by_number.get(number) {
                checks.push((*number, check));
            }
        }
        let others = checks_of_other_commands(&by_number, counted.receipt, step, &checks);
        let other_command = others.first().map(|(_, check)| check.command.as_str());
        checks.extend(others);
        let new = checks
            .into_iter()
            .filter(|(number, _)| seen.insert(*number));
        listed.extend(new.map(|(receipt, check)| StepCheck {
            receipt,
            check,
            step,
            other_command,
        }));
    }
    listed
}

/// Returns the last check of each other command on a tree of the named checks.
fn checks_of_other_commands<'a>(
    by_number: &BTreeMap<u32, &'a LinkKind>,
    step_receipt: u32,
    step: &StepLink,
    named: &[(u32, &CheckLink)],
) -> Vec<(u32, &'a CheckLink)> {
    let mut last = BTreeMap::new();
    for (number, kind) in by_number.range(..step_receipt) {
        let LinkKind::Check(check) = kind else {
            continue;
        };
        let has_command = |(_, named): &(u32, &CheckLink)| named.command == check.command;
        let has_tree = |(_, named): &(u32, &CheckLink)| named.tree == check.tree;
        if check.step == step.step && named.iter().any(has_tree) && !named.iter().any(has_command) {
            last.insert((&check.tree, &check.command), (*number, check));
        }
    }
    last.into_values().collect()
}

/// Compares a check with the same one run again: the outcome, and each test by its identity. Names the first
/// differences; `None` where there is none. `flaky` names tests that may end in either way.
pub fn describe_differences(
    check: &CheckLink,
    flaky: &[String],
    outcome: &TestOutcome,
    report: Option<&TestReport>,
) -> Option<String> {
    let mut found = Vec::new();
    let is_flaky = |test: &TestIdentity| flaky.contains(&test.to_string());
    let has_flaky_failure = |report: Option<&TestReport>| {
        let mut tests = report.iter().flat_map(|report| &report.tests);
        tests.any(|(test, status)| *status == TestStatus::Failed && is_flaky(test))
    };
    let is_explained = has_flaky_failure(check.report.as_ref()) || has_flaky_failure(report);
    if check.outcome != *outcome && !is_explained {
        let (then, now) = (outcome_word(&check.outcome), outcome_word(outcome));
        found.push(format!("the command {then} then, and {now} now"));
    }
    match (&check.report, report) {
        (Some(then), Some(now)) => found.extend(report_differences(then, now, is_flaky)),
        (Some(_), None) => found.push("the tests are not known by name now".to_owned()),
        // A newer version of this program may know more runners.
        (None, _) => {}
    }
    let n_more = found.len().saturating_sub(MAX_NAMED);
    found.truncate(MAX_NAMED);
    if n_more > 0 {
        found.push(format!("and {n_more} more"));
    }
    (!found.is_empty()).then(|| found.join("; "))
}

fn report_differences(
    then: &TestReport,
    now: &TestReport,
    is_flaky: impl Fn(&TestIdentity) -> bool,
) -> Vec<String> {
    let tests: BTreeSet<&TestIdentity> = then.tests.keys().chain(now.tests.keys()).collect();
    let status = |report: &TestReport, test: &TestIdentity| report.tests.get(test).copied();
    let mut found: Vec<String> = tests
        .into_iter()
        .filter(|test| status(then, test) != status(now, test) && !is_flaky(test))
        .map(|test| {
            let before = status_word(status(then, test));
            let after = status_word(status(now, test));
            format!("{test} {before} then, and {after} now")
        })
        .collect();
    if then.failed_to_load != now.failed_to_load {
        found.push(if now.failed_to_load {
            "some tests cannot be loaded now".to_owned()
        } else {
            "some tests could not be loaded then".to_owned()
        });
    }
    found
}

fn outcome_word(outcome: &TestOutcome) -> &'static str {
    match outcome {
        TestOutcome::Passed => "passed",
        TestOutcome::Failed => "failed",
        TestOutcome::NoTests => "found no tests",
        TestOutcome::TimedOut => "timed out",
        TestOutcome::NotStarted(_) | TestOutcome::NoCommand => "did not start",
    }
}

fn status_word(status: Option<TestStatus>) -> &'static str {
    match status {
        Some(TestStatus::Passed) => "passed",
        Some(TestStatus::Failed) => "failed",
        Some(TestStatus::Skipped) => "was skipped",
        None => "was not there",
    }
}

#[cfg(test)]
mod tests {
    use super::super::list_steps;
    use super::super::tests::{ChainFixture, approval, check, step};
    use super::super::{ReversalLink, read_chain};
    use super::*;
    use crate::domain::step_proof::ProofCell;

    fn numbers(chain: &ChainFixture) -> Vec<u32> {
        let links = read_chain(&chain.files, None).links;
        let checks = list_step_checks(&links, &list_steps(&links));
        checks.iter().map(|check| check.receipt).collect()
    }

    #[test]
    fn the_checks_of_steps_that_count_are_listed_once() {
        let mut chain = ChainFixture::default();
        chain.add(approval("p", None));
        let first = check(1, ProofCell::Green, "t1", "out");
        let with_command = |tree: &str, command: &str| CheckLink {
            command: command.to_owned(),
            ..check(1, ProofCell::Green, tree, "out")
        };
        // One that was repeated, one of a `Proof:` line, and one of a mutant.
        let failed = chain.add(LinkKind::Check(first.clone()));
        let green = chain.add(LinkKind::Check(first));
        let proof = chain.add(LinkKind::Check(with_command("t1", "sh proof.sh")));
        let mutant = chain.add(LinkKind::Check(with_command("t9", "node --test")));
        chain.add(LinkKind::Step(step(1, "p", green)));
        assert_eq!(numbers(&chain), [green, proof]);
        // The second step uses the first one's check as its baseline.
        let second = chain.add(LinkKind::Check(check(2, ProofCell::Green, "t2", "out")));
        let link = StepLink {
            checks: vec![green, second],
            ..step(2, "p", second)
        };
        chain.add(LinkKind::Step(link));
        assert_eq!(numbers(&chain), [green, proof, second]);
        chain.add(LinkKind::Undo(ReversalLink {
            steps: vec![1, 2],
            commit: None,
        }));
        assert_eq!(numbers(&chain), [0; 0]);
        assert!(failed < green && mutant < second);
    }

    fn differences(change: impl FnOnce(&mut TestReport)) -> Option<String> {
        let check = check(1, ProofCell::Green, "t1", "out");
        let mut report = check.report.clone().unwrap();
        change(&mut report);
        describe_differences(&check, &[], &TestOutcome::Passed, Some(&report))
    }

    #[test]
    fn tests_are_compared_by_identity() {
        assert_eq!(differences(|_| {}), None);
        let renamed = differences(|report| {
            let (mut test, status) = report.tests.pop_last().unwrap();
            assert_eq!(test.name, "adds");
            test.name = "sums".to_owned();
            report.tests.insert(test, status);
        });
        assert_eq!(
            renamed.unwrap(),
            "a.test.js: adds passed then, and was not there now; \
             a.test.js: sums was not there then, and passed now"
        );
        let many = differences(|report| {
            report.failed_to_load = true;
            for name in ["b", "c", "d"] {
                let test = TestIdentity {
                    file: String::new(),
                    name: name.to_owned(),
                };
                report.tests.insert(test, TestStatus::Failed);
            }
        });
        assert_eq!(
            many.unwrap(),
            "b was not there then, and failed now; c was not there then, and failed now; \
             d was not there then, and failed now; and 1 more"
        );
    }

    #[test]
    fn the_outcome_and_the_report_are_compared() {
        let mut link = check(1, ProofCell::Green, "t1", "out");
        let other = describe_differences(&link, &[], &TestOutcome::Failed, None);
        assert_eq!(
            other.unwrap(),
            "the command passed then, and failed now; the tests are not known by name now"
        );
        let mut failed = link.report.clone().unwrap();
        let (test, _) = failed.tests.pop_last().unwrap();
        failed.tests.insert(test.clone(), TestStatus::Failed);
        let flaky = [test.to_string()];
        let again = |flaky| describe_differences(&link, flaky, &TestOutcome::Failed, Some(&failed));
        assert_eq!(again(&flaky), None);
        assert!(again(&[]).is_some());
        link.report = None;
        assert_eq!(
            describe_differences(&link, &[], &TestOutcome::Passed, None),
            None
        );
    }
}
