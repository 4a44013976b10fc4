//! Tests that accepted documents parse back to the submitted data, and that contradictions are rejected.

use proptest::prelude::*;

use super::*;
use crate::domain::findings::review_facts::{ReviewSources, assess_review};
use crate::domain::findings::tests::document_events::NoFiles;
use crate::domain::findings::{FindingResponse, FindingStatus, ReviewRemark, UnsupportedFindings};

const PLAN: &str = "# Task: sums\n1. [ ] Write add\n2. [ ] Test add\n3. [ ] Document add\n";

fn finding(severity: FindingSeverity, text: &str) -> FindingSubmission {
    FindingSubmission {
        severity,
        text: text.to_owned(),
        details: RemarkDetails {
            place: "step 2".to_owned(),
            ..RemarkDetails::default()
        },
    }
}

fn verdict(n: u32, kind: VerdictKind, detail: &str) -> FindingVerdict {
    FindingVerdict {
        n,
        kind,
        detail: detail.to_owned(),
        evidence: String::new(),
    }
}

fn given(
    verdict: Verdict,
    verdicts: Vec<FindingVerdict>,
    findings: Vec<FindingSubmission>,
) -> ReviewSubmission {
    ReviewSubmission {
        verdict,
        verdicts,
        findings,
        notes: None,
    }
}

/// A ledger in which these findings are open and major.
fn ledger(open: &[u32]) -> FindingLedger {
    let mut ledger = FindingLedger::default();
    let remark = |n: &u32| ReviewRemark::new(*n, FindingSeverity::Major, "wrong");
    ledger.apply_legacy_review(&open.iter().map(remark).collect::<Vec<_>>(), None);
    ledger
}

fn check(given: &ReviewSubmission, open: &[u32], expected: &str) {
    let found = match build_review_document(given, &ledger(open), ReviewBar::Anything) {
        Ok(document) => document,
        Err(refused) => refused.to_string(),
    };
    assert_eq!(found, expected);
}

#[test]
fn a_review_is_written_in_its_form_and_new_findings_get_numbers() {
    let second = FindingSubmission {
        severity: FindingSeverity::Minor,
        text: "a name\nover two lines".to_owned(),
        details: RemarkDetails {
            place: String::new(),
            scenario: "an empty list: it panics".to_owned(),
            evidence: "code.js:1".to_owned(),
            resolution: " ".to_owned(),
        },
    };
    let mut stands = verdict(2, VerdictKind::Stands, "the case\nis missing");
    stands.evidence = "code.js:2".to_owned();
    let mut review = given(
        Verdict::ChangesRequired,
        vec![
            verdict(1, VerdictKind::Fixed, "\u{201c}Write add\u{201d}"),
            stands,
        ],
        vec![finding(FindingSeverity::Blocking, "no order"), second],
    );
    review.notes = Some("The rest is good.\n".to_owned());
    check(
        &review,
        &[1, 2],
        "[CHANGES_REQUIRED]\n\n1. fixed: \u{201c}Write add\u{201d}\n\n2. stands: the case is missing\n   Evidence: code.js:2\n\n\
         3. [blocking] no order\n   Place: step 2\n\n4. [minor] a name over two lines\n   Scenario: an empty list: it panics\n   \
         Evidence: code.js:1\n\n## Notes\n\nThe rest is good.\n",
    );
    check(
        &given(Verdict::Approved, Vec::new(), Vec::new()),
        &[],
        "[APPROVED]\n",
    );
}

#[test]
fn a_review_deals_with_every_open_finding_and_with_no_other() {
    check(
        &given(
            Verdict::Approved,
            vec![
                verdict(2, VerdictKind::Fixed, "x"),
                verdict(2, VerdictKind::Withdrawn, "x"),
                verdict(7, VerdictKind::Fixed, " "),
            ],
            vec![finding(FindingSeverity::Minor, " ")],
        ),
        &[1, 2],
        "nothing was accepted: finding 7 is not open; a finding has two verdicts; \
         finding 7: `fixed` says nothing; \
         finding 1 is open: say whether it is fixed, stands or is withdrawn; new finding 1 says nothing",
    );
}

#[test]
fn an_approval_is_refused_beside_a_finding_that_holds() {
    check(
        &given(
            Verdict::Approved,
            vec![verdict(1, VerdictKind::Stands, "it is as it was")],
            vec![
                finding(FindingSeverity::Blocking, "x"),
                finding(FindingSeverity::Major, "y"),
                finding(FindingSeverity::Minor, "z"),
            ],
        ),
        &[1],
        "nothing was accepted: an approval cannot stand beside blocking or major findings (1, new: x, new: y)",
    );
    check(
        &given(
            Verdict::Approved,
            vec![verdict(1, VerdictKind::Withdrawn, "I was wrong")],
            vec![finding(FindingSeverity::Minor, "z")],
        ),
        &[1],
        "[APPROVED]\n\n1. withdrawn: I was wrong\n\n2. [minor] z\n   Place: step 2\n",
    );
}

#[test]
fn a_later_approval_may_name_new_findings_which_may_be_residual() {
    let stands = verdict(1, VerdictKind::Stands, "it is as it was");
    let fixed = verdict(1, VerdictKind::Fixed, "x");
    for (verdict, is_accepted) in [(stands, false), (fixed, true)] {
        let late = finding(FindingSeverity::Blocking, "late");
        let review = given(Verdict::Approved, vec![verdict], vec![late]);
        for bar in [ReviewBar::ChangedOrProven, ReviewBar::BlockingInChanged] {
            let built = build_review_document(&review, &ledger(&[1]), bar);
            assert_eq!(built.is_ok(), is_accepted, "{bar:?}: {built:?}");
        }
    }
}

#[test]
fn notes_that_read_as_a_verdict_or_a_finding_are_refused() {
    for (notes, is_taken) in [
        ("All good.", true),
        ("Evidence: of what I read, nothing is wrong", true),
        ("1. first this\n2. then that", true),
        ("[CHANGES_REQUIRED]", false),
        ("9. [blocking] one more", false),
        ("Settled: 1", false),
        ("1. fixed: too", false),
    ] {
        let mut review = given(
            Verdict::Approved,
            vec![verdict(1, VerdictKind::Fixed, "x")],
            vec![finding(FindingSeverity::Minor, "z")],
        );
        review.notes = Some(notes.to_owned());
        let built = build_review_document(&review, &ledger(&[1]), ReviewBar::Anything);
        assert_eq!(built.is_ok(), is_taken, "{notes}: {built:?}");
        let Ok(document) = built else { continue };
        let read = review::parse(&document, &ledger(&[1]));
        assert_eq!(read.verdicts, review.verdicts, "{notes}");
        assert_eq!(
            read.remarks[0].details, review.findings[0].details,
            "{notes}"
        );
    }
}

#[test]
fn answers_meet_the_findings_that_wait_for_them() {
    let answer = |n, reason: &str| AnswerSubmission {
        n,
        disposition: FindingDisposition::Rejected,
        reason: reason.to_owned(),
    };
    let mut ledger = ledger(&[1, 2]);
    let told = |given: &[AnswerSubmission], ledger: &FindingLedger| match build_answers_document(
        given, ledger,
    ) {
        Ok(text) => text,
        Err(refused) => refused.to_string(),
    };
    assert_eq!(
        told(&[answer(2, "see\nx.rs"), answer(1, "no")], &ledger),
        "2. rejected: see x.rs\n1. rejected: no\n"
    );
    assert_eq!(
        told(&[answer(3, "x"), answer(2, " "), answer(2, "y")], &ledger),
        "nothing was accepted: there is no open finding 3; a finding is answered twice; \
         the answer to finding 2 gives no reason; no answer to finding 1"
    );
    ledger.apply_responses(&[FindingResponse {
        n: 1,
        stand: FindingDisposition::Accepted,
        reason: "done".to_owned(),
        check: None,
    }]);
    assert_eq!(told(&[answer(2, "no")], &ledger), "2. rejected: no\n");
}

fn severity() -> impl Strategy<Value = FindingSeverity> {
    prop_oneof![
        Just(FindingSeverity::Minor),
        Just(FindingSeverity::Major),
        Just(FindingSeverity::Blocking)
    ]
}

fn verdict_kind() -> impl Strategy<Value = VerdictKind> {
    prop_oneof![
        Just(VerdictKind::Stands),
        Just(VerdictKind::Withdrawn),
        Just(VerdictKind::Fixed)
    ]
}

const ANY_TEXT: &str =
    "(Evidence: |step 2: |[0-9]\\. (fixed: |\\[blocking\\] ))?[ -~\\n#\\[\\]]{0,12}";

fn any_finding() -> impl Strategy<Value = FindingSubmission> {
    (severity(), ANY_TEXT, ANY_TEXT, ANY_TEXT, ANY_TEXT, ANY_TEXT).prop_map(
        |(severity, text, place, scenario, evidence, resolution)| FindingSubmission {
            severity,
            text,
            details: RemarkDetails {
                place,
                scenario,
                evidence,
                resolution,
            },
        },
    )
}

fn any_verdict() -> impl Strategy<Value = FindingVerdict> {
    (1_u32..6, verdict_kind(), ANY_TEXT, ANY_TEXT).prop_map(|(n, kind, detail, evidence)| {
        FindingVerdict {
            n,
            kind,
            detail,
            evidence,
        }
    })
}

proptest! {
    #[test]
    fn what_is_taken_reads_back_as_it_was_given(
        findings in proptest::collection::vec(any_finding(), 0..4),
        verdicts in proptest::collection::vec(any_verdict(), 0..3),
        notes in proptest::option::of(ANY_TEXT),
        open in proptest::collection::btree_set(1_u32..6, 0..3),
        approves: bool,
    ) {
        let open: Vec<u32> = open.into_iter().collect();
        let before = ledger(&open);
        let verdict = if approves { Verdict::Approved } else { Verdict::ChangesRequired };
        let given = ReviewSubmission { verdict, verdicts, findings, notes };
        let Ok(document) = build_review_document(&given, &before, ReviewBar::Anything) else {
            return Ok(());
        };
        let read = review::parse(&document, &before);
        prop_assert_eq!(read.marker, Some(verdict));
        prop_assert!(!read.is_ambiguous);
        let kinds = |verdicts: &[FindingVerdict]| -> Vec<(u32, VerdictKind)> {
            verdicts.iter().map(|verdict| (verdict.n, verdict.kind)).collect()
        };
        prop_assert_eq!(kinds(&read.verdicts), kinds(&given.verdicts));
        let stated: Vec<FindingSeverity> = given.findings.iter().map(|finding| finding.severity).collect();
        let parsed: Vec<FindingSeverity> = read.remarks.iter().map(|remark| remark.severity).collect();
        prop_assert_eq!(parsed, stated);
        let sources = ReviewSources { plan: PLAN, earlier_plans: &[], evidence: &NoFiles, unopened: None };
        let facts = assess_review(&read, &before, &sources);
        let mut after = before.clone();
        let outcome = after.apply_review(&read, &facts, 1, UnsupportedFindings::CountAsStated);
        prop_assert!(outcome.unmentioned.is_empty());
        for verdict in &given.verdicts {
            let is_withdrawn = after.get(verdict.n).map(|finding| finding.status) == Some(FindingStatus::Withdrawn);
            prop_assert_eq!(is_withdrawn, verdict.kind == VerdictKind::Withdrawn);
        }
        // A fix counts once its quote is found in the plan.
        let holds = |finding: &FindingSubmission| finding.severity.can_hold();
        let is_settled = given.verdicts.iter().all(|verdict| verdict.kind == VerdictKind::Withdrawn);
        if is_settled && !given.findings.iter().any(holds) {
            prop_assert_eq!(outcome.verdict == Verdict::Approved, approves);
        }
    }
}
