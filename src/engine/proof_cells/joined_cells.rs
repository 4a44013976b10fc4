//! Joins what several test commands found on the same tree into one cell.
//!
//! Each command has a receipt of its own; the cell names the first one's.

use super::cell_runner::FinishedCell;
use crate::domain::receipt::{Receipt, TestCounts, TestOutcome};
use crate::domain::test_report::{TestIdentity, TestReport, TestStatus};

/// Joins the cells of several commands: the worst outcome, and all tests. `None` where there are none.
pub(super) fn join_cells(cells: Vec<FinishedCell>) -> Option<FinishedCell> {
    let report = join_reports(&cells);
    let receipts: Vec<&Receipt> = cells.iter().map(|cell| &cell.receipt).collect();
    let receipt = join_receipts(&receipts)?;
    let is_reused = cells.iter().all(|cell| cell.is_reused);
    let mut doubts: Vec<String> = Vec::new();
    for doubt in cells.iter().flat_map(|cell| &cell.doubts) {
        if !doubts.contains(doubt) {
            doubts.push(doubt.clone());
        }
    }
    let first = cells.into_iter().next()?;
    Some(FinishedCell {
        receipt,
        report,
        doubts,
        is_reused,
        ..first
    })
}

fn join_receipts(receipts: &[&Receipt]) -> Option<Receipt> {
    let worst = receipts
        .iter()
        .rev()
        .max_by_key(|receipt| badness(&receipt.outcome))?;
    let [_, _, ..] = receipts else {
        return Some((*worst).clone());
    };
    let join = |text: fn(&Receipt) -> &String, between: &str| {
        let texts: Vec<&str> = receipts
            .iter()
            .map(|receipt| text(receipt).as_str())
            .collect();
        texts.join(between)
    };
    let counts = receipts.iter().map(|receipt| receipt.counts);
    let add = |sum: TestCounts, more: TestCounts| TestCounts {
        passed: sum.passed + more.passed,
        failed: sum.failed + more.failed,
        skipped: sum.skipped + more.skipped,
    };
    let failed = receipts.iter().flat_map(|receipt| &receipt.failed_tests);
    Some(Receipt {
        command: join(|receipt| &receipt.command, " && "),
        duration_ms: receipts.iter().map(|receipt| receipt.duration_ms).sum(),
        counts: counts.flatten().reduce(add),
        output_tail: join(|receipt| &receipt.output_tail, "\n"),
        failed_tests: failed.cloned().collect(),
        ..(*worst).clone()
    })
}

/// Returns an order of outcomes; what has not run to its end is the worst.
fn badness(outcome: &TestOutcome) -> u8 {
    match outcome {
        TestOutcome::NoCommand => 0,
        TestOutcome::NoTests => 1,
        TestOutcome::Passed => 2,
        TestOutcome::Failed => 3,
        TestOutcome::TimedOut => 4,
        TestOutcome::NotStarted(_) => 5,
    }
}

/// Joins the reports; `None` where no command names its tests. A command that does not counts as one test, with a doubt.
fn join_reports(cells: &[FinishedCell]) -> Option<TestReport> {
    let [_, _, ..] = cells else {
        return cells.first()?.report.clone();
    };
    cells.iter().find(|cell| cell.report.is_some())?;
    let mut joined = TestReport::default();
    for cell in cells {
        let command = &cell.receipt.command;
        let Some(report) = &cell.report else {
            let test = TestIdentity {
                file: String::new(),
                name: format!("`{command}`"),
            };
            let status = match &cell.receipt.outcome {
                TestOutcome::Passed => TestStatus::Passed,
                TestOutcome::NoTests | TestOutcome::NoCommand => TestStatus::Skipped,
                TestOutcome::Failed | TestOutcome::TimedOut | TestOutcome::NotStarted(_) => {
                    TestStatus::Failed
                }
            };
            joined.tests.insert(test, status);
            joined.doubts.push(format!(
                "`{command}` does not name its tests, so only its exit code is known"
            ));
            continue;
        };
        joined.failed_to_load |= report.failed_to_load;
        joined.doubts.extend(report.doubts.iter().cloned());
        for (test, status) in &report.tests {
            let known = joined
                .tests
                .entry(tell_apart(test, command))
                .or_insert(*status);
            if status_badness(*status) > status_badness(*known) {
                *known = *status;
            }
        }
    }
    Some(joined)
}

/// Returns the identity of a test among those of other commands: where no file tells them apart, the command does.
fn tell_apart(test: &TestIdentity, command: &str) -> TestIdentity {
    let mut test = test.clone();
    if test.file.is_empty() {
        test.name = format!("`{command}`: {}", test.name);
    }
    test
}

fn status_badness(status: TestStatus) -> u8 {
    match status {
        TestStatus::Passed => 0,
        TestStatus::Skipped => 1,
        TestStatus::Failed => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::Sha256;
    use crate::engine::git::TreeId;

    /// A cell of a command; `a.py:x+` is a test that passed, `-` one that failed.
    fn cell(command: &str, outcome: TestOutcome, tests: Option<&str>) -> FinishedCell {
        let test = |word: &str| {
            let (identity, mark) = word.split_at(word.len() - 1);
            let (file, name) = identity.split_once(':').unwrap();
            let identity = TestIdentity {
                file: file.to_owned(),
                name: name.to_owned(),
            };
            let status = match mark {
                "+" => TestStatus::Passed,
                _ => TestStatus::Failed,
            };
            (identity, status)
        };
        let report = tests.map(|tests| TestReport {
            tests: tests.split_whitespace().map(test).collect(),
            ..TestReport::default()
        });
        FinishedCell {
            tree: TreeId("t".to_owned()),
            receipt: Receipt {
                command: command.to_owned(),
                outcome,
                duration_ms: 10,
                ..Receipt::without_command()
            },
            report,
            doubts: vec!["the same doubt".to_owned()],
            number: Some(1),
            is_reused: false,
            environment: Sha256::new(""),
        }
    }

    #[test]
    fn the_worst_outcome_counts_and_tests_do_not_collide() {
        use TestOutcome::{Failed, NoTests, Passed, TimedOut};
        for (cells, outcome, tests, n_doubts) in [
            (
                vec![
                    cell("a", Passed, Some("x.py:t+")),
                    cell("b", Failed, Some("y.js:t-")),
                ],
                Failed,
                "x.py: t Passed, y.js: t Failed",
                0,
            ),
            (
                vec![
                    cell("a", NoTests, Some("")),
                    cell("b", Passed, Some("y.js:t+")),
                ],
                Passed,
                "y.js: t Passed",
                0,
            ),
            (
                vec![
                    cell("a", Passed, Some(":t+")),
                    cell("b", Failed, Some(":t-")),
                ],
                Failed,
                "`a`: t Passed, `b`: t Failed",
                0,
            ),
            (
                vec![
                    cell("a", Passed, Some("x.py:t+")),
                    cell("make lint", TimedOut, None),
                ],
                TimedOut,
                "`make lint` Failed, x.py: t Passed",
                1,
            ),
            (vec![cell("a", Passed, Some(":t+"))], Passed, "t Passed", 0),
        ] {
            let n_cells = cells.len();
            let joined = join_cells(cells).unwrap();
            let report = joined.report.unwrap();
            let tests_now: Vec<String> = report
                .tests
                .iter()
                .map(|(test, status)| format!("{test} {status:?}"))
                .collect();
            assert_eq!(tests_now.join(", "), tests);
            assert_eq!(joined.receipt.outcome, outcome);
            assert_eq!(report.doubts.len(), n_doubts, "{tests}");
            assert_eq!(joined.receipt.duration_ms, n_cells as u64 * 10);
            assert_eq!(joined.doubts.len(), 1);
        }
        let without = vec![cell("a", Passed, None), cell("b", Passed, None)];
        assert_eq!(join_cells(without).unwrap().report, None);
        assert!(join_cells(Vec::new()).is_none());
    }
}
