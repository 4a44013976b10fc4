//! Tests that only an exact approval approves, and that items and their fields are read as they are written.

use proptest::prelude::*;

use super::*;

fn check(text: &str, verdict: Verdict, consistent: bool) {
    let review = parse(text, &FindingLedger::default());
    assert_eq!(
        (review.verdict, review.consistent),
        (verdict, consistent),
        "{text:?}"
    );
}

#[test]
fn only_the_exact_marker_without_conflict_approves() {
    use Verdict::{Approved, ChangesRequired};
    check("[APPROVED]", Approved, true);
    check(
        "---\nstatus: APPROVED\n---\n\n[APPROVED]\n\n1. [minor] nit\n",
        Approved,
        true,
    );
    check(
        "---\nstatus: CHANGES_REQUIRED\n---\n[APPROVED]\n",
        ChangesRequired,
        false,
    );
    check(
        "---\nstatus: APPROVED\n---\n[CHANGES_REQUIRED]\n",
        ChangesRequired,
        false,
    );
    check("[APPROVED]\n1. [blocking] no\n", ChangesRequired, false);
    check("[APPROVED]\n1. [severe] no\n", ChangesRequired, false);
    check(
        "---\nstatus: APPROVED\nstatus: CHANGES_REQUIRED\n---\n[APPROVED]\n",
        ChangesRequired,
        false,
    );
    check(
        "---\nStatus: CHANGES_REQUIRED\n---\n[APPROVED]\n",
        ChangesRequired,
        false,
    );
    check("[APPROVED] ", Approved, true);
    check("\n\t [APPROVED] \r\n", Approved, true);
    check("[approved]", ChangesRequired, true);
    check("All good!\n[APPROVED]", ChangesRequired, true);
    check("", ChangesRequired, true);
}

#[test]
fn a_second_marker_line_anywhere_requires_changes() {
    for second in [
        "[CHANGES_REQUIRED]",
        "[APPROVED]",
        "[CHANGES_REQUIRED]  ",
        "   [CHANGES_REQUIRED]",
        "[CHANGES_REQUIRED]\r",
        "some text\r[CHANGES_REQUIRED]\rmore",
        "some text\u{2028}[CHANGES_REQUIRED]",
        "- [CHANGES_REQUIRED]",
        "* [CHANGES_REQUIRED]",
        "1. [CHANGES_REQUIRED]",
        "> [CHANGES_REQUIRED]",
        "> - **[CHANGES_REQUIRED]**",
        "**[CHANGES_REQUIRED]**",
        "`[CHANGES_REQUIRED]`",
        "## [CHANGES_REQUIRED]",
        "| [CHANGES_REQUIRED] |",
        "<!-- [CHANGES_REQUIRED] -->",
        "\\[CHANGES_REQUIRED\\]",
        "[changes_required]",
        "[Changes Required]",
        "[CHANGES-REQUIRED].",
        "[**CHANGES_REQUIRED**]",
        "[CHANGES\u{200b}_REQUIRED]",
        "Verdict: [CHANGES_REQUIRED]",
        "**Final verdict:** [CHANGES_REQUIRED]",
        "CHANGES_REQUIRED",
        "```\n[CHANGES_REQUIRED]\n```",
        "## Responses\n\n[CHANGES_REQUIRED]",
    ] {
        let text = format!("[APPROVED]\n\nGood.\n\n{second}\n\n1. [minor] x\n");
        check(&text, Verdict::ChangesRequired, false);
        let crlf = text.replace('\n', "\r\n");
        check(&crlf, Verdict::ChangesRequired, false);
    }
}

#[test]
fn a_review_that_names_a_marker_in_a_sentence_has_one_opinion() {
    for text in [
        "[APPROVED]\n\nThe plan was [CHANGES_REQUIRED] before and is fine now.\n",
        "[APPROVED]\r\n\r\n1. [minor] approved\r\n",
        "[APPROVED]\n\nApproved.\n\n## Changes required\n\nNone.\n",
        "[APPROVED]\n\n[a link](https://example.com) and [a]\n",
    ] {
        check(text, Verdict::Approved, true);
    }
}

#[test]
fn a_blocking_finding_that_the_user_settled_does_not_hold_an_approval_up() {
    let mut ledger = FindingLedger::default();
    ledger.apply_legacy_review(
        &parse("[CHANGES_REQUIRED]\n1. [blocking] x", &ledger).remarks,
        None,
    );
    assert!(ledger.settle_by_user(1));
    assert_eq!(
        parse("[APPROVED]\n1. [blocking] x", &ledger).verdict,
        Verdict::Approved
    );
}

#[test]
fn a_finding_of_an_old_log_that_is_left_out_is_settled_and_one_repeated_stays_open() {
    let mut ledger = FindingLedger::default();
    ledger.apply_legacy_review(
        &parse("[CHANGES_REQUIRED]\n1. [major] a\n2. [minor] b", &ledger).remarks,
        None,
    );
    ledger.apply_responses(&parse_responses(
        "1. accepted: done\n2. maybe: no\n9. rejected: unknown",
    ));
    let left: Vec<u32> = ledger.unanswered().map(|f| f.remark.n).collect();
    assert_eq!(left, [2]);
    let section = render_responses(&ledger);
    assert!(section.contains("1. accepted: done"), "{section}");
    assert!(
        section.contains("finding 2 (minor) has no answer"),
        "{section}"
    );
    let n_settled = ledger.apply_legacy_review(
        &parse("[CHANGES_REQUIRED]\n2. [minor] b\n3. [major] c", &ledger).remarks,
        None,
    );
    assert_eq!(n_settled, 1);
    let open: Vec<u32> = ledger.open().map(|f| f.remark.n).collect();
    assert_eq!(open, [2, 3]);
    assert_eq!(ledger.highest_number(), 3);
    ledger.apply_legacy_review(&[], None);
    assert_eq!(ledger.open().count(), 0);
    assert_eq!(ledger.highest_number(), 3);
}

fn describe(text: &str) -> String {
    let review = parse(text, &FindingLedger::default());
    let remark = |remark: &ReviewRemark| {
        let details = &remark.details;
        let fields = [
            &details.place,
            &details.scenario,
            &details.evidence,
            &details.resolution,
        ];
        let fields = fields.map(String::as_str).join("|");
        let severity = remark.severity.as_str();
        format!("{} {severity} {}|{fields}", remark.n, remark.text)
    };
    let verdict = |verdict: &FindingVerdict| {
        let kind: &str = verdict.kind.into();
        format!(
            "{} {kind} {}|{}",
            verdict.n, verdict.detail, verdict.evidence
        )
    };
    let remarks = review.remarks.iter().map(remark);
    let all: Vec<String> = remarks.chain(review.verdicts.iter().map(verdict)).collect();
    all.join("\n")
}

#[test]
fn fields_belong_to_the_item_above_them_whatever_their_dress() {
    for (text, expected) in [
        (
            "1. [major] no test\n   Place: step 2\n   Scenario: empty\n   input\n   - **Evidence:** `a.rs:3`\n   *Settled by*: a test\n",
            "1 major no test|step 2|empty input|`a.rs:3`|a test",
        ),
        (
            "1. [MAJOR] step 2: no test\n   place: Risks\n   Instead: one\n",
            "1 major step 2: no test|Risks|||one",
        ),
        (
            "3. Fixed: \u{201c}new\u{201d}\n- **4. stands** \u{2014} nothing changed\n  Evidence: b.rs:1\n[ ] 5) WITHDRAWN.\n",
            "3 fixed \u{201c}new\u{201d}|\n4 stands nothing changed|b.rs:1\n5 withdrawn |",
        ),
        ("Settled: 1, 2 and 3\n", "1 fixed |\n2 fixed |\n3 fixed |"),
        ("*   8.  WITHDRAWN:  it\n", "8 withdrawn it|"),
        ("1. fixedly said\n2. stands tall\n", ""),
        (
            "1. [minor] a\n\n## Notes\nEvidence: none of it is above\n",
            "1 minor a||||",
        ),
    ] {
        assert_eq!(describe(text), expected, "{text}");
    }
}

#[test]
fn judgements_are_lines_with_a_number_and_a_side() {
    let text = "```\n1. reviewer: a.rs:3 has none\n- 2) **Planner**: the plan says so\n1. planner: no\n3. both: x\n```";
    let read = parse_judgements(text);
    let read: Vec<String> = read
        .iter()
        .map(|judgement| format!("{} {:?} {}", judgement.n, judgement.side, judgement.reason))
        .collect();
    assert_eq!(
        read,
        ["1 Reviewer a.rs:3 has none", "2 Planner the plan says so"]
    );
}

#[test]
fn remarks_inside_the_responses_do_not_count() {
    let text = "[APPROVED]\n\n## Responses\n\n1. [blocking] quoted\n";
    assert!(parse(text, &FindingLedger::default()).remarks.is_empty());
    assert_eq!(strip_program_sections("a\n## Responses\nb"), "a\n");
}

#[test]
fn a_review_is_taken_apart_without_losing_or_doubling_a_line() {
    let text = "[CHANGES_REQUIRED]\n\nIn short: no.\n\n1. [major] a\n   Evidence: x:1\n\n   Instead: b\n2. [minor] c\n\n## Responses\n\n### To review 1\n1. accepted: d\n\n## Remarks of the user\n\nplease\n";
    let parts = split_parts(text);
    let wanted = [
        (1, "   Evidence: x:1\n\n   Instead: b".to_owned()),
        (2, String::new()),
    ];
    assert_eq!(parts.evidence, wanted);
    assert_eq!(
        parts.rest,
        "In short: no.\n\n## Remarks of the user\n\nplease"
    );
}

proptest! {
    #[test]
    fn any_character_put_into_the_marker_line_requires_changes(at in 0usize..=10, c in any::<char>()) {
        // The line is trimmed.
        prop_assume!(!(c.is_whitespace() && matches!(at, 0 | 10)));
        prop_assume!(c != '\n');
        let mut text = "[APPROVED]".to_owned();
        text.insert(at, c);
        // A byte order mark at the very start of a file is not part of its first line.
        prop_assume!(!(at == 0 && c == '\u{feff}'));
        prop_assert_eq!(parse(&text, &FindingLedger::default()).verdict, Verdict::ChangesRequired);
    }

    #[test]
    fn the_verdict_is_total(text in "(---\n|status: |STATUS: |APPROVED|CHANGES_REQUIRED|\\[|\\]|\n|[0-9]\\. |blocking|x){0,24}") {
        let review = parse(&text, &FindingLedger::default());
        let blocking = review.remarks.iter().any(|r| r.severity == FindingSeverity::Blocking);
        prop_assert!(!(blocking && review.verdict == Verdict::Approved));
    }
}
