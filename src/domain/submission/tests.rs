//! Tests that accepted documents parse back to the submitted data, and that contradictions are rejected.

use proptest::prelude::*;

use super::*;
use crate::domain::findings::{FindingResponse, ReviewRemark};

fn finding(n: Option<u32>, severity: FindingSeverity, text: &str) -> FindingSubmission {
    FindingSubmission {
        n,
        severity,
        anchor: "step 2".to_owned(),
        text: text.to_owned(),
        evidence: None,
        suggestion: None,
    }
}

fn given(verdict: Verdict, findings: Vec<FindingSubmission>, settled: &[u32]) -> ReviewSubmission {
    ReviewSubmission {
        verdict,
        findings,
        settled: settled.to_vec(),
        document: None,
    }
}

/// A ledger in which these findings are open.
fn ledger(open: &[u32]) -> FindingLedger {
    let mut ledger = FindingLedger::default();
    let remark = |n: &u32| ReviewRemark {
        n: *n,
        severity: FindingSeverity::Major,
        text: "wrong".to_owned(),
    };
    ledger.apply_legacy_review(&open.iter().map(remark).collect::<Vec<_>>());
    ledger
}

fn check(given: &ReviewSubmission, open: &[u32], expected: &str) {
    let found = match build_review_document(given, &ledger(open)) {
        Ok(document) => document,
        Err(refused) => refused.to_string(),
    };
    assert_eq!(found, expected);
}

#[test]
fn a_review_is_written_in_its_form_and_new_findings_get_numbers() {
    let mut second = finding(None, FindingSeverity::Minor, "a name\nover two lines");
    second.anchor = String::new();
    second.evidence = Some("code.js:1".to_owned());
    second.suggestion = Some(" ".to_owned());
    check(
        &given(
            Verdict::ChangesRequired,
            vec![
                finding(Some(2), FindingSeverity::Blocking, "still wrong"),
                second,
            ],
            &[1],
        ),
        &[1, 2],
        "[CHANGES_REQUIRED]\n\n2. [blocking] step 2: still wrong\n\n3. [minor] a name over two lines\n   Evidence: code.js:1\n\nSettled: 1\n",
    );
    check(
        &given(Verdict::Approved, Vec::new(), &[]),
        &[],
        "[APPROVED]\n",
    );
}

#[test]
fn a_review_deals_with_every_open_finding_and_with_no_other() {
    check(
        &given(
            Verdict::Approved,
            vec![finding(Some(2), FindingSeverity::Minor, "x")],
            &[2, 7],
        ),
        &[1, 2],
        "nothing was accepted: finding 7 is not open, so that it cannot be settled; finding 2 is both stated and settled; \
         finding 1 is open and neither stated nor settled",
    );
    check(
        &given(
            Verdict::ChangesRequired,
            vec![
                finding(Some(1), FindingSeverity::Minor, "x"),
                finding(Some(3), FindingSeverity::Minor, " "),
                finding(Some(3), FindingSeverity::Minor, "x"),
            ],
            &[],
        ),
        &[4],
        "nothing was accepted: there was never a finding 1; leave the number of a new one out; \
         there was never a finding 3; leave the number of a new one out; finding 3 is stated twice; \
         there was never a finding 3; leave the number of a new one out; \
         finding 4 is open and neither stated nor settled; finding 3 says nothing",
    );
}

#[test]
fn an_approval_stands_beside_no_blocking_finding() {
    check(
        &given(
            Verdict::Approved,
            vec![finding(None, FindingSeverity::Blocking, "x")],
            &[],
        ),
        &[],
        "nothing was accepted: an approval cannot stand beside blocking findings (1)",
    );
}

#[test]
fn a_document_and_its_data_say_the_same() {
    let mut review = given(
        Verdict::Approved,
        vec![finding(Some(1), FindingSeverity::Minor, "x")],
        &[],
    );
    for (document, wrong) in [
        ("[APPROVED]\n\n1. [minor] in other words\n", None),
        (
            "[CHANGES_REQUIRED]\n\n1. [minor] x\n",
            Some("the document says CHANGES_REQUIRED, the data says APPROVED"),
        ),
        (
            "[APPROVED]\n\n1. [major] x\n",
            Some("the document has the findings 1 [major], the data has 1 [minor]"),
        ),
        (
            "[APPROVED]\n",
            Some("the document has the findings none, the data has 1 [minor]"),
        ),
        (
            "[APPROVED]\n\n1. [minor] x\n2. [minor] y\n",
            Some("the document has the findings 1 [minor], 2 [minor], the data has 1 [minor]"),
        ),
        (
            "---\nstatus: CHANGES_REQUIRED\n---\n[APPROVED]\n\n1. [minor] x\n",
            Some(
                "the document contradicts itself: marker, status and findings; the document says CHANGES_REQUIRED, the data says APPROVED",
            ),
        ),
    ] {
        review.document = Some(document.to_owned());
        let expected = wrong.map_or(document.to_owned(), |wrong| {
            format!("nothing was accepted: {wrong}")
        });
        check(&review, &[], &expected);
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

fn any_finding() -> impl Strategy<Value = FindingSubmission> {
    let text = "([0-9]\\. \\[blocking\\] )?[ -~\\n#\\[\\]]{0,12}";
    let more = proptest::option::of(text);
    (
        proptest::option::of(1_u32..8),
        severity(),
        text,
        text,
        more.clone(),
        more,
    )
        .prop_map(
            |(n, severity, anchor, text, evidence, instead)| FindingSubmission {
                n,
                severity,
                anchor,
                text,
                evidence,
                suggestion: instead,
            },
        )
}

proptest! {
    #[test]
    fn what_is_taken_reads_back_as_it_was_given(
        findings in proptest::collection::vec(any_finding(), 0..4),
        settled in proptest::collection::vec(1_u32..6, 0..3),
        open in proptest::collection::btree_set(1_u32..6, 0..3),
        approves: bool,
    ) {
        let open: Vec<u32> = open.into_iter().collect();
        let before = ledger(&open);
        let verdict = if approves { Verdict::Approved } else { Verdict::ChangesRequired };
        let given = ReviewSubmission { verdict, findings, settled, document: None };
        let Ok(document) = build_review_document(&given, &before) else {
            return Ok(());
        };
        let read = crate::domain::review::parse(&document, &before);
        prop_assert_eq!(read.verdict, verdict);
        prop_assert!(read.consistent);
        prop_assert_eq!(read.remarks.len(), given.findings.len());
        let mut after = before.clone();
        after.apply_review(&read.remarks, read.settled.as_deref());
        for n in &given.settled {
            prop_assert_eq!(after.get(*n).map(|finding| finding.status), Some(FindingStatus::SettledByReview));
        }
        prop_assert_eq!(after.open().count(), given.findings.len());
    }
}
