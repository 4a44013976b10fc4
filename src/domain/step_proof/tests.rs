//! Tests what the reports of four cells prove, from the reports to the status.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::domain::plan::proof_lines::StepProofPlan;
use crate::domain::test_report::{TestReport, TestStatus};

/// One step with its cells. In a report `f.py:x+` is a test that passed, `-` one that failed, `~` one that was skipped;
/// `!` says that some tests could not be loaded and `?` that there are doubts. `None` is a cell known by its exit code.
#[derive(Debug, Clone)]
struct StepCase {
    plan: &'static str,
    changed_tests: &'static str,
    renames: &'static str,
    baseline: Option<&'static str>,
    red: Option<&'static str>,
    green: Option<&'static str>,
    kept: Option<&'static str>,
}

/// A step that adds the test `t.py:new` and keeps two old ones.
const CASE: StepCase = StepCase {
    plan: "",
    changed_tests: "t.py",
    renames: "",
    baseline: Some("t.py:a+ u.py:b+"),
    red: Some("t.py:a+ t.py:new- u.py:b+"),
    green: Some("t.py:a+ t.py:new+ u.py:b+"),
    kept: Some("t.py:a+ u.py:b+"),
};

pub(super) fn report(text: &str) -> TestReport {
    let mut report = TestReport::default();
    for word in text.split_whitespace() {
        match word {
            "!" => report.failed_to_load = true,
            "?" => report.doubts.push("the report is cut".to_owned()),
            test => {
                let (identity, mark) = test.split_at(test.len() - 1);
                let (file, name) = identity.split_once(':').unwrap();
                let status = match mark {
                    "+" => TestStatus::Passed,
                    "-" => TestStatus::Failed,
                    _ => TestStatus::Skipped,
                };
                let identity = TestIdentity {
                    file: file.to_owned(),
                    name: name.to_owned(),
                };
                report.tests.insert(identity, status);
            }
        }
    }
    report
}

fn run(cell: ProofCell, report: Option<&TestReport>) -> CellRun {
    let is_failed =
        report.is_some_and(|report| report.failed_to_load || report.count(TestStatus::Failed) > 0);
    CellRun {
        cell,
        tree: "t".to_owned(),
        outcome: if is_failed {
            TestOutcome::Failed
        } else {
            TestOutcome::Passed
        },
        exit_code: Some(i32::from(is_failed)),
        duration_ms: 1_000,
        n_passed: 0,
        n_failed: report.map_or(0, |report| report.count(TestStatus::Failed)),
        n_skipped: 0,
        receipt: None,
        is_reused: false,
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn prove(case: &StepCase) -> (StepProof, StepProofPlan) {
    let reports = [case.baseline, case.red, case.green, case.kept].map(|text| text.map(report));
    let [baseline, red, green, kept] = reports.each_ref().map(Option::as_ref);
    let cells = [
        (ProofCell::Baseline, baseline),
        (ProofCell::Red, red),
        (ProofCell::Green, green),
        (ProofCell::Kept, kept),
    ];
    let mut proof = StepProof {
        cells: cells.map(|(cell, report)| run(cell, report)).to_vec(),
        changed_tests: words(case.changed_tests),
        ..StepProof::default()
    };
    let plan = StepProofPlan::parse(&format!("Title\n{}", case.plan));
    let renames = words(case.renames);
    let renames: BTreeMap<String, String> = renames
        .iter()
        .filter_map(|pair| pair.split_once('>'))
        .map(|(old, new)| (old.to_owned(), new.to_owned()))
        .collect();
    proof.compare_cells(
        CellReports {
            baseline,
            red,
            green,
            kept,
        },
        &plan,
        &renames,
    );
    (proof, plan)
}

fn assess(case: &StepCase) -> ProofStatus {
    let (proof, plan) = prove(case);
    let mut changed = vec!["src/code.py".to_owned()];
    changed.extend(proof.changed_tests.iter().cloned());
    proof.assess(&plan, &changed)
}

fn check(case: &StepCase, status: &str, summary: &str) {
    assert_eq!(assess(case).describe(), status, "{case:?}");
    assert_eq!(prove(case).0.summary(), summary, "{case:?}");
}

#[test]
fn a_step_was_already_true_where_every_test_that_it_names_passes_before_it() {
    let no = |words: &str| format!("no: not every test of `Test first: {words}` passes");
    for (words, baseline, expected) in [
        ("t.py::a", "t.py:a+ u.py:b-", "t.py: a passes".to_owned()),
        (
            "t.py",
            "t.py:a+ t.py:c+",
            "t.py: a, t.py: c passes".to_owned(),
        ),
        (
            "t.py::a, u.py",
            "t.py:a+ u.py:b+",
            "t.py: a, u.py: b passes".to_owned(),
        ),
        ("t.py::new", "t.py:a+", no("t.py::new")),
        ("t.py::a, t.py::new", "t.py:a+", no("t.py::a, t.py::new")),
        ("t.py::a", "t.py:a-", no("t.py::a")),
        ("t.py::a", "t.py:a~", no("t.py::a")),
        ("t.py", "t.py:a+ t.py:c-", no("t.py")),
        ("t.py::a", "t.py:a+ !", no("t.py::a")),
        ("a test of sums", "t.py:a+", no("a test of sums")),
    ] {
        let plan = StepProofPlan::parse(&format!("Title\nTest first: {words}"));
        let mut proof = StepProof::default();
        proof.note_named_tests(Some(&report(baseline)), &plan);
        let found = proof.assess_already_true(&plan);
        let found = found.unwrap_or_else(|missing| format!("no: {missing}"));
        assert_eq!(found, expected, "{words}: {baseline}");
    }
}

#[test]
fn a_red_test_and_clean_cells_prove_a_step() {
    check(&CASE, "proven", "red → green · kept 2");
    for plan in [
        "Test first: t.py",
        "Test first: new",
        "Test first: t.py::new",
        "Test first: a test of the parser",
    ] {
        check(&StepCase { plan, ..CASE }, "proven", "red → green · kept 2");
    }
    check(
        &StepCase {
            plan: "Test first: `u.py`",
            ..CASE
        },
        "unproven: `Test first` names u.py, which does not fail without the change",
        "red → green · kept 2",
    );
    check(
        &StepCase {
            plan: "Test first: test_missing_everywhere",
            ..CASE
        },
        "proven",
        "red → green · kept 2",
    );
}

#[test]
fn a_step_without_a_red_test_is_not_proven() {
    check(
        &StepCase {
            red: Some("t.py:a+ t.py:new+ u.py:b+"),
            ..CASE
        },
        "unproven: no new or changed test fails without the change",
        "green · kept 2",
    );
    check(
        &StepCase {
            red: Some("u.py:b+ !"),
            ..CASE
        },
        "unproven: without the change the tests cannot be built or loaded, which shows nothing about what they test",
        "not loaded → green · kept 2",
    );
    check(
        &StepCase {
            red: Some("t.py:a+ t.py:new~ u.py:b+"),
            ..CASE
        },
        "unproven: no new or changed test fails without the change",
        "green · kept 2",
    );
    // The old code does not have the file in which a new test lies.
    check(
        &StepCase {
            red: Some("t.py:a+ u.py:b+"),
            ..CASE
        },
        "unproven: without the change the tests cannot be built or loaded, which shows nothing about what they test",
        "not loaded → green · kept 2",
    );
    let untested = StepCase {
        changed_tests: "",
        red: None,
        green: CASE.baseline,
        kept: None,
        ..CASE
    };
    check(
        &untested,
        "unproven: no test is new or changed",
        "green · kept 2",
    );
    // A test of another file that happened to fail, while only a file of tests changed.
    check(
        &StepCase {
            red: Some("t.py:a+ t.py:new+ u.py:b-"),
            ..CASE
        },
        "unproven: no new or changed test fails without the change",
        "green · kept 2",
    );
    // The same where a fixture changed.
    check(
        &StepCase {
            changed_tests: "tests/b.json",
            red: Some("t.py:a+ u.py:b-"),
            green: CASE.baseline,
            ..CASE
        },
        "proven",
        "red → green · kept 2",
    );
}

#[test]
fn a_mutant_replaces_red_only_where_the_tests_cannot_run_without_the_change() {
    let killed = MutantTrial {
        n_tried: 1,
        killed: Some("a line".to_owned()),
        survived: Vec::new(),
    };
    for (red, expected) in [
        ("u.py:b+ !", "proven"),
        (
            "t.py:a+ t.py:new+ u.py:b+",
            "unproven: no new or changed test fails without the change",
        ),
    ] {
        let (mut proof, plan) = prove(&StepCase {
            red: Some(red),
            ..CASE
        });
        assert_eq!(proof.needs_mutants(&plan.claim), proof.is_red_by_load);
        proof.mutants = Some(killed.clone());
        assert_eq!(
            proof.assess(&plan, &["a".to_owned()]).describe(),
            expected,
            "{red}"
        );
    }
}

#[test]
fn a_known_failure_is_no_fault_of_the_step() {
    let known = StepCase {
        baseline: Some("t.py:a+ u.py:b+ u.py:c-"),
        red: Some("t.py:a+ t.py:new- u.py:b+ u.py:c-"),
        green: Some("t.py:a+ t.py:new+ u.py:b+ u.py:c-"),
        kept: Some("t.py:a+ u.py:b+ u.py:c-"),
        ..CASE
    };
    check(&known, "proven", "red → green · kept 2 · 1 known failure");
    // Nothing is known to have failed without a baseline.
    check(
        &StepCase {
            baseline: None,
            ..known.clone()
        },
        "unproven: u.py: c fails with the change",
        "red → not green · 1 failing",
    );
    // To fix one proves a step only if the plan says so.
    let fixed = StepCase {
        changed_tests: "",
        red: None,
        green: Some("t.py:a+ u.py:b+ u.py:c+"),
        kept: None,
        baseline: known.baseline,
        ..CASE
    };
    check(
        &fixed,
        "unproven: no test is new or changed",
        "green · kept 2",
    );
    check(
        &StepCase {
            plan: "Test first: u.py::c",
            ..fixed
        },
        "proven",
        "red → green · kept 2",
    );
}

#[test]
fn failing_broken_and_lost_tests_are_named() {
    check(
        &StepCase {
            green: Some("t.py:a+ t.py:new+ u.py:b- t.py:p- t.py:q- t.py:r-"),
            ..CASE
        },
        "unproven: t.py: p, t.py: q, t.py: r and 1 more fail with the change",
        "red → not green · kept 2 · 4 failing",
    );
    check(
        &StepCase {
            kept: Some("t.py:a- u.py:b+"),
            ..CASE
        },
        "unproven: t.py: a passed before and does not pass with the new code",
        "red → green · kept 1 · 1 broken",
    );
    check(
        &StepCase {
            green: Some("t.py:new+ u.py:b~"),
            ..CASE
        },
        "unproven: t.py: a, u.py: b passed before and are gone or skipped",
        "red → green · 2 lost",
    );
    check(
        &StepCase {
            green: Some("t.py:a+ t.py:new+ u.py:b+ !"),
            ..CASE
        },
        "unproven: a test file that cannot be loaded fails with the change",
        "red → not green · kept 2 · 1 failing",
    );
    check(
        &StepCase {
            baseline: Some("t.py:a+ u.py:b+ !"),
            green: Some("t.py:a+ t.py:new+ u.py:b+ !"),
            ..CASE
        },
        "checked: some tests could not be loaded before the step, so nobody knows whether they passed",
        "red → green · kept 2 · 1 known failure",
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn old_tests_change_only_as_the_plan_says() {
    let renamed = StepCase {
        green: Some("t.py:z+ t.py:new+ u.py:b+"),
        ..CASE
    };
    check(
        &renamed,
        "unproven: t.py: a passed before and is gone or skipped",
        "red → green · kept 1 · 1 lost",
    );
    let planned = "red → green · kept 1 · 1 changed as planned";
    for plan in [
        "Changes tests: t.py \u{2014} a is z now",
        "Changes tests: t.py::a: z",
        "Changes tests: *.py - z",
    ] {
        check(
            &StepCase {
                plan,
                ..renamed.clone()
            },
            "proven",
            planned,
        );
    }
    for plan in ["Changes tests: u.py: no", "Changes tests: t.py::b: no"] {
        check(
            &StepCase {
                plan,
                ..renamed.clone()
            },
            "unproven: t.py: a passed before and is gone or skipped",
            "red → green · kept 1 · 1 lost",
        );
    }
    let stricter = StepCase {
        kept: Some("t.py:a- u.py:b+"),
        ..CASE
    };
    check(
        &StepCase {
            plan: "Changes tests: t.py: stricter",
            ..stricter
        },
        "proven",
        planned,
    );
    // Old tests use what the step renames.
    let unloaded = StepCase {
        kept: Some("u.py:b+ !"),
        ..CASE
    };
    check(
        &unloaded,
        "unproven: t.py: a passed before and does not pass with the new code",
        "red → green · kept 1 · 1 broken",
    );
    check(
        &StepCase {
            plan: "Changes tests: t.py: renamed",
            ..unloaded.clone()
        },
        "proven",
        planned,
    );
    // Of a crate nothing is loaded then, other files included.
    let crate_case = StepCase {
        kept: Some("!"),
        plan: "Changes tests: t.py: renamed",
        ..CASE
    };
    check(&crate_case, "proven", "red → green · 2 changed as planned");
    check(
        &StepCase {
            changed_tests: "t.py v.py",
            ..crate_case
        },
        "unproven: u.py: b passed before and does not pass with the new code",
        "red → green · 1 broken · 1 changed as planned",
    );
}

#[test]
fn a_test_of_a_renamed_file_is_the_same_test() {
    let moved = StepCase {
        changed_tests: "t.py v.py",
        renames: "t.py>v.py",
        red: Some("v.py:a+ v.py:new- u.py:b+"),
        green: Some("v.py:a+ v.py:new+ u.py:b+"),
        ..CASE
    };
    check(&moved, "proven", "red → green · kept 2");
    check(
        &StepCase {
            renames: "",
            ..moved.clone()
        },
        "unproven: t.py: a passed before and is gone or skipped",
        "red → green · kept 1 · 1 lost",
    );
    let known = StepCase {
        baseline: Some("t.py:a- u.py:b+"),
        green: Some("v.py:a- v.py:new+ u.py:b+"),
        ..moved
    };
    check(&known, "proven", "red → green · kept 1 · 1 known failure");
}

#[test]
fn without_identities_a_step_is_at_most_checked() {
    let by_exit = StepCase {
        baseline: None,
        red: None,
        green: None,
        kept: None,
        ..CASE
    };
    let (mut proof, plan) = prove(&by_exit);
    let mut check = |cell: ProofCell, outcome: TestOutcome, expected: &str| {
        let found = proof.cells.iter_mut().find(|run| run.cell == cell).unwrap();
        found.outcome = outcome;
        let status = proof.assess(&plan, &["src/a.py".to_owned()]);
        assert_eq!(status.describe(), expected);
    };
    check(
        ProofCell::Green,
        TestOutcome::Passed,
        "unproven: no new or changed test fails without the change",
    );
    let checked = "checked: no report names the tests, so only the exit code is known";
    check(ProofCell::Red, TestOutcome::Failed, checked);
    check(
        ProofCell::Kept,
        TestOutcome::Failed,
        "unproven: the tests as they were before fail with the new code",
    );
    check(
        ProofCell::Kept,
        TestOutcome::TimedOut,
        "unproven: the tests as they were before, with the new code: stopped at the time limit",
    );
    check(ProofCell::Kept, TestOutcome::Passed, checked);
    check(
        ProofCell::Green,
        TestOutcome::Failed,
        "unproven: the tests fail with the change, and no report names one that does",
    );
    check(
        ProofCell::Green,
        TestOutcome::NoTests,
        "unproven: the tests with the change: the runner found none",
    );
}

#[test]
fn a_report_that_cannot_be_relied_on_checks_a_step_at_most() {
    check(
        &StepCase {
            green: Some("t.py:a+ t.py:new+ u.py:b+ ?"),
            ..CASE
        },
        "checked: the report is cut",
        "red → green · kept 2",
    );
    // The exit code contradicts the report.
    let (mut proof, plan) = prove(&CASE);
    proof.cells[2].outcome = TestOutcome::Failed;
    let status = proof.assess(&plan, &["a".to_owned()]).describe();
    assert_eq!(
        status,
        "unproven: the tests fail with the change, and no report names one that does"
    );
    proof.cells.remove(2);
    assert_eq!(
        proof.assess(&plan, &["a".to_owned()]).describe(),
        "unproven: no tests ran with the change"
    );
    assert_eq!(
        prove(&CASE).0.assess(&plan, &[]).describe(),
        "unproven: the step changes nothing"
    );
}

#[test]
fn a_step_that_keeps_behaviour_keeps_its_tests() {
    let keeps = StepCase {
        plan: "Keeps behaviour",
        changed_tests: "",
        red: None,
        green: CASE.baseline,
        kept: None,
        ..CASE
    };
    check(&keeps, "kept", "green · kept 2");
    let (mut proof, plan) = prove(&keeps);
    for (killed, status, summary) in [
        (None, "kept", "green · kept 2"),
        (Some("a line"), "proven", "green · mutant noticed · kept 2"),
    ] {
        assert!(proof.needs_mutants(&plan.claim));
        proof.mutants = Some(MutantTrial {
            n_tried: 2,
            killed: killed.map(str::to_owned),
            survived: vec!["another line".to_owned()],
        });
        let found = proof.assess(&plan, &["a".to_owned()]).describe();
        assert_eq!((&*found, &*proof.summary()), (status, summary));
    }
    proof.scope = ProofScope::StepTests;
    assert!(!proof.needs_mutants(&plan.claim), "a slow suite");
    let changed = StepCase {
        changed_tests: "t.py",
        kept: CASE.baseline,
        ..keeps.clone()
    };
    check(
        &changed,
        "unproven: t.py changed, and `Changes tests:` does not name it",
        "green · kept 2",
    );
    let planned = StepCase {
        plan: "Keeps behaviour\nChanges tests: t.py: formatted",
        ..changed.clone()
    };
    check(&planned, "kept", "green · kept 2");
    let added = StepCase {
        changed_tests: "v.py",
        green: Some("t.py:a+ u.py:b+ v.py:c+"),
        ..changed
    };
    check(&added, "kept", "green · kept 2");
    check(
        &StepCase {
            green: Some("t.py:a+"),
            ..keeps
        },
        "unproven: u.py: b passed before and is gone or skipped",
        "green · kept 1 · 1 lost",
    );
}

#[test]
fn a_waiver_needs_passing_tests_and_unchanged_ones() {
    let waived = StepCase {
        plan: "No test: documentation only",
        changed_tests: "",
        red: None,
        green: CASE.baseline,
        kept: None,
        ..CASE
    };
    check(&waived, "waived: documentation only", "green · kept 2");
    check(
        &StepCase {
            green: Some("t.py:a- u.py:b+"),
            ..waived.clone()
        },
        "unproven: t.py: a fails with the change",
        "not green · kept 1 · 1 failing · 1 broken",
    );
    let changed = StepCase {
        changed_tests: "t.py",
        kept: CASE.baseline,
        ..waived
    };
    check(
        &changed,
        "unproven: t.py changed, and `Changes tests:` does not name it",
        "green · kept 2",
    );
}

#[test]
fn a_command_fails_before_and_passes_after() {
    let command = StepCase {
        plan: "Proof: sh run.sh",
        changed_tests: "",
        red: None,
        green: CASE.baseline,
        kept: None,
        ..CASE
    };
    check(
        &command,
        "unproven: the proof command was not run",
        "green · kept 2",
    );
    let (mut proof, plan) = prove(&command);
    for (failed_before, passed_after, status, summary) in [
        (true, true, "proven", "proof fails → passes"),
        (
            false,
            true,
            "unproven: the proof command passes without the change, too",
            "proof passes → passes",
        ),
        (
            true,
            false,
            "unproven: the proof command fails with the change",
            "proof fails → fails",
        ),
    ] {
        proof.command = Some(CommandProof {
            failed_before,
            passed_after,
        });
        assert_eq!(proof.assess(&plan, &["a".to_owned()]).describe(), status);
        assert_eq!(proof.summary(), format!("{summary} · kept 2"));
    }
}

#[test]
fn without_identities_a_command_proves_a_step_if_all_old_tests_pass() {
    let by_exit = StepCase {
        plan: "Proof: sh run.sh t.py",
        baseline: None,
        red: None,
        green: None,
        kept: None,
        ..CASE
    };
    let (mut proof, plan) = prove(&by_exit);
    proof.command = Some(CommandProof {
        failed_before: true,
        passed_after: true,
    });
    let checked = "checked: no report names the tests, so only the exit code is known";
    let unplanned = "unproven: t.py changed, and `Changes tests:` does not name it";
    let broken = "unproven: the tests as they were before fail with the new code";
    let planned = StepProofPlan::parse("Title\nProof: sh run.sh\nChanges tests: t.py: stricter");
    // The script is new, or the plan names its change, or neither.
    for (is_added, plan, baseline, kept, expected) in [
        (
            true,
            &plan,
            TestOutcome::Passed,
            TestOutcome::Passed,
            "proven",
        ),
        (
            true,
            &plan,
            TestOutcome::Failed,
            TestOutcome::Passed,
            "proven",
        ),
        (
            true,
            &plan,
            TestOutcome::Passed,
            TestOutcome::Failed,
            broken,
        ),
        (
            true,
            &plan,
            TestOutcome::Failed,
            TestOutcome::Failed,
            checked,
        ),
        (
            false,
            &planned,
            TestOutcome::Passed,
            TestOutcome::Passed,
            "proven",
        ),
        (
            false,
            &planned,
            TestOutcome::Passed,
            TestOutcome::Failed,
            checked,
        ),
        (
            false,
            &plan,
            TestOutcome::Passed,
            TestOutcome::Passed,
            unplanned,
        ),
    ] {
        proof.added_tests = if is_added { words("t.py") } else { Vec::new() };
        proof.cells[0].outcome = baseline.clone();
        proof.cells[3].outcome = kept.clone();
        let status = proof.assess(plan, &["a".to_owned()]).describe();
        assert_eq!(status, expected, "{is_added} {baseline:?} {kept:?}");
    }
}

#[test]
fn a_stored_proof_of_earlier_fields_is_read() {
    let proof: StepProof =
        serde_json::from_str(r#"{"cells":[],"is_by_identity":true,"n_kept":3}"#).unwrap();
    assert_eq!(proof.summary(), "not tested · kept 3");
    let text = serde_json::to_string(&proof).unwrap();
    assert_eq!(text, r#"{"cells":[],"is_by_identity":true,"n_kept":3}"#);
}

fn rank(status: &ProofStatus) -> u8 {
    match status {
        ProofStatus::Unproven(_) => 0,
        ProofStatus::Waived(_) => 1,
        ProofStatus::Checked(_) => 2,
        ProofStatus::Kept => 3,
        ProofStatus::Proven => 4,
    }
}

fn names(count: usize) -> TestNames {
    let mut names = TestNames::default();
    (0..count).for_each(|n| names.add(&format!("t{n}")));
    names
}

prop_compose! {
    fn any_proof()(
        outcomes in proptest::collection::vec(proptest::option::of(0_usize..4), 4),
        flags in proptest::collection::vec(any::<bool>(), 7),
        counts in proptest::collection::vec(0_usize..3, 6),
    ) -> StepProof {
        let cells = [ProofCell::Baseline, ProofCell::Red, ProofCell::Green, ProofCell::Kept];
        let outcome = |n: usize| [TestOutcome::Passed, TestOutcome::Failed, TestOutcome::NoTests, TestOutcome::TimedOut][n].clone();
        let runs = cells.into_iter().zip(outcomes).filter_map(|(cell, n)| {
            Some(CellRun { outcome: outcome(n?), ..run(cell, None) })
        });
        StepProof {
            cells: runs.collect(),
            is_by_identity: flags[0],
            is_red_by_load: flags[1],
            changed_tests: flags[2].then(|| "t.py".to_owned()).into_iter().collect(),
            command: flags[3].then_some(CommandProof { failed_before: flags[4], passed_after: flags[5] }),
            mutants: flags[6].then(|| MutantTrial { n_tried: 1, killed: Some("a line".to_owned()), ..MutantTrial::default() }),
            red: names(counts[0]),
            failing: names(counts[1] / 2),
            broken: names(counts[2] / 2),
            lost: names(counts[3] / 2),
            known_failures: names(counts[4]),
            planned_changes: names(counts[5]),
            ..StepProof::default()
        }
    }
}

fn any_plan() -> impl Strategy<Value = StepProofPlan> {
    let claims = [
        "",
        "Test first: a",
        "Proof: a",
        "Keeps behaviour",
        "No test: a",
    ];
    let changes = ["", "\nChanges tests: t.py: a"];
    (
        prop::sample::select(claims.to_vec()),
        prop::sample::select(changes.to_vec()),
    )
        .prop_map(|(claim, changes)| StepProofPlan::parse(&format!("Title\n{claim}{changes}")))
}

proptest! {
    #[test]
    fn nothing_is_proven_without_red_and_a_clean_green(proof in any_proof(), plan in any_plan()) {
        let status = proof.assess(&plan, &["a".to_owned()]);
        let is_clean = proof.failing.is_empty() && proof.broken.is_empty() && proof.lost.is_empty();
        let green = proof.run_of(ProofCell::Green).map(|run| run.outcome.clone());
        if status == ProofStatus::Proven {
            let is_command = proof.command.is_some_and(|command| command.failed_before && command.passed_after);
            let is_noticed = proof.has_killed_mutant() && (proof.is_red_by_load || plan.claim.label() == "Keeps behaviour");
            prop_assert!(!proof.red.is_empty() || is_command && plan.claim.label() == "Proof" || is_noticed);
            prop_assert!(proof.is_by_identity || is_command && proof.keeps_all_old_tests());
            prop_assert!(green.is_some());
        }
        if status != ProofStatus::Unproven(String::new()) && rank(&status) > 0 {
            prop_assert!(is_clean);
            prop_assert!(green != Some(TestOutcome::TimedOut));
        }
    }

    #[test]
    fn a_further_bad_test_makes_nothing_better(proof in any_proof(), plan in any_plan(), which in 0_usize..3) {
        let changed = ["a".to_owned()];
        let before = rank(&proof.assess(&plan, &changed));
        let mut worse = proof;
        [&mut worse.failing, &mut worse.broken, &mut worse.lost][which].add("x");
        prop_assert!(rank(&worse.assess(&plan, &changed)) <= before);
    }

    /// In the reports, too: another test that fails or goes.
    #[test]
    fn a_worse_report_makes_nothing_better(
        statuses in proptest::collection::vec((0_usize..4, 0_usize..4, 0_usize..4, 0_usize..4), 1..5),
        which in 0_usize..6,
        plan in any_plan(),
    ) {
        let kinds = [None, Some(TestStatus::Passed), Some(TestStatus::Failed), Some(TestStatus::Skipped)];
        let mut reports = [TestReport::default(), TestReport::default(), TestReport::default(), TestReport::default()];
        for (n, (baseline, red, green, kept)) in statuses.iter().enumerate() {
            let file = if n % 2 == 0 { "t.py" } else { "u.py" };
            let test = TestIdentity { file: file.to_owned(), name: format!("n{n}") };
            for (report, kind) in reports.iter_mut().zip([baseline, red, green, kept]) {
                // A changed file of tests stays one, whatever goes.
                let first = TestIdentity { file: "t.py".to_owned(), name: "first".to_owned() };
                report.tests.insert(first, TestStatus::Passed);
                if let Some(status) = kinds[*kind] {
                    report.tests.insert(test.clone(), status);
                }
            }
        }
        let assess = |reports: &[TestReport; 4], is_reversed: bool| {
            let [baseline, red, green, kept] = reports.each_ref().map(Some);
            let mut cells = [(ProofCell::Baseline, baseline), (ProofCell::Red, red), (ProofCell::Green, green), (ProofCell::Kept, kept)];
            if is_reversed {
                cells.reverse();
            }
            let mut proof = StepProof {
                cells: cells.map(|(cell, report)| run(cell, report)).to_vec(),
                changed_tests: words("t.py"),
                ..StepProof::default()
            };
            proof.compare_cells(CellReports { baseline, red, green, kept }, &plan, &BTreeMap::new());
            proof.assess(&plan, &["a".to_owned(), "t.py".to_owned()])
        };
        let before = assess(&reports, false);
        prop_assert_eq!(&before, &assess(&reports, true));
        let victim = reports[2].tests.keys().nth(which).cloned();
        if let Some(victim) = victim {
            let mut failing = reports.clone();
            failing[2].tests.insert(victim.clone(), TestStatus::Failed);
            let was_known = reports[0].tests.get(&victim) == Some(&TestStatus::Failed);
            if !was_known {
                prop_assert!(rank(&assess(&failing, false)) <= rank(&before));
            }
            let mut lost = reports.clone();
            lost[2].tests.remove(&victim);
            if reports[2].tests[&victim] != TestStatus::Failed {
                prop_assert!(rank(&assess(&lost, false)) <= rank(&before));
            }
        }
    }
}
