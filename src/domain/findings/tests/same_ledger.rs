//! Tests that the same review gives the same ledger on every path and in every dress.

use proptest::prelude::*;

use super::review_simulation::{PlayEnding, ReviewSimulation};
use super::scripted_agents::{
    Dice, N_STEPS, PlannerBehavior, ReviewerBehavior, ScriptedAgents, first_plan,
};
use crate::domain::event::Event;
use crate::domain::findings::review_facts::{ReviewSources, assess_review};
use crate::domain::findings::tests::document_events::NoFiles;
use crate::domain::findings::{
    FindingDisposition, FindingLedger, FindingSeverity, RemarkDetails, ReviewBar, ReviewOutcome,
    UnsupportedFindings,
};
use crate::domain::ids::TurnId;
use crate::domain::review::{self, FindingVerdict, Verdict, VerdictKind};
use crate::domain::submission::{
    AnswerSubmission, FindingSubmission, ReviewSubmission, build_answers_document,
    build_review_document,
};
use crate::text::fenced_block;
use crate::text::word_similarity::collapse_white_space;

/// A run whose first review waits to be written, after `n` reviews that raised findings.
fn reviewed_before() -> ReviewSimulation {
    let mut world = ReviewSimulation::new(1, &first_plan());
    let mut agents = ScriptedAgents::new(ReviewerBehavior::Insist, PlannerBehavior::Fix, 0);
    let ending = world.play(&mut agents);
    assert!(matches!(ending, PlayEnding::Asked(_)));
    world
}

fn apply(ledger: &FindingLedger, text: &str) -> (FindingLedger, ReviewOutcome) {
    let review = review::parse(text, ledger);
    let plan = first_plan();
    let sources = ReviewSources {
        plan: &plan,
        earlier_plans: std::slice::from_ref(&plan),
        evidence: &NoFiles,
        unopened: None,
    };
    let facts = assess_review(&review, ledger, &sources);
    let mut after = ledger.clone();
    let outcome = after.apply_review(&review, &facts, 2, UnsupportedFindings::CountAsMinor);
    (after, outcome)
}

fn submission(seed: u64, n_new: u32) -> ReviewSubmission {
    let mut dice = Dice(seed);
    let kinds = [
        VerdictKind::Fixed,
        VerdictKind::Stands,
        VerdictKind::Withdrawn,
    ];
    let verdicts = (1..=2).map(|n| FindingVerdict {
        n,
        kind: kinds[dice.roll(3) as usize],
        detail: format!("word{n} of it"),
        evidence: String::new(),
    });
    let verdicts: Vec<FindingVerdict> = verdicts.collect();
    let severities = [
        FindingSeverity::Minor,
        FindingSeverity::Major,
        FindingSeverity::Blocking,
    ];
    let findings = (0..n_new).map(|at| FindingSubmission {
        severity: severities[dice.roll(3) as usize],
        text: format!("alpha{at} beta{at} gamma{at} delta{at} fails"),
        details: RemarkDetails {
            place: format!("step {}", dice.roll(N_STEPS) + 1),
            scenario: format!("input{at} gives outcome{at}"),
            evidence: match dice.roll(3) {
                0 => "\u{201c}Write part3 of module3\u{201d}".to_owned(),
                1 => "\u{201c}this is nowhere in it\u{201d}".to_owned(),
                _ => String::new(),
            },
            resolution: "say which".to_owned(),
        },
    });
    ReviewSubmission {
        verdict: Verdict::ChangesRequired,
        verdicts,
        findings: findings.collect(),
        notes: None,
    }
}

/// The items of a review as a person would write them.
fn written_items(given: &ReviewSubmission, highest: u32) -> Vec<String> {
    let verdict = |verdict: &FindingVerdict| {
        let kind: &str = verdict.kind.into();
        format!("- **{}. {kind}** \u{2014} {}\n", verdict.n, verdict.detail)
    };
    let mut items: Vec<String> = given.verdicts.iter().map(verdict).collect();
    for (n, finding) in (highest + 1..).zip(&given.findings) {
        let details = &finding.details;
        items.push(format!(
            "{n}) **[{}]** {}\n  - Where: {}\n  - **Scenario**: {}\n  - Evidence: {}\n  - Instead: {}\n",
            finding.severity.as_str(),
            finding.text,
            details.place,
            details.scenario,
            details.evidence,
            details.resolution
        ));
    }
    items
}

/// Answers to all open findings, some of them with evidence.
fn answers(seed: u64, ledger: &FindingLedger) -> Vec<AnswerSubmission> {
    let mut dice = Dice(seed);
    let given = ledger.open().map(|finding| AnswerSubmission {
        n: finding.remark.n,
        disposition: [FindingDisposition::Accepted, FindingDisposition::Rejected]
            [dice.roll(2) as usize],
        reason: match dice.roll(3) {
            0 => "no Evidence: \u{201c}Write part3 of module3\u{201d}".to_owned(),
            1 => "no Evidence: \u{201c}this is nowhere in it\u{201d}".to_owned(),
            _ => "step 2".to_owned(),
        },
    });
    given.collect()
}

/// The answers as a person would write them.
fn written_answers(given: &[AnswerSubmission]) -> String {
    let line = |answer: &AnswerSubmission| {
        let stand: &str = answer.disposition.into();
        let reason = answer.reason.replace(" Evidence:", "\n   - **Evidence**:");
        format!("- **{}. [{stand}]**: {reason}\n\n", answer.n)
    };
    given.iter().map(line).collect()
}

/// What counts of a ledger: everything but the letter case and the order of its texts.
fn states(ledger: &FindingLedger) -> Vec<String> {
    let state = |finding: &crate::domain::findings::Finding| {
        let record = &finding.record;
        format!(
            "{} {:?} {:?} {:?} {:?} waits {} {}",
            finding.remark.n,
            finding.remark.severity,
            finding.status,
            record.block,
            record.residual,
            record.is_waiting,
            collapse_white_space(&finding.remark.text).to_lowercase()
        )
    };
    let mut all: Vec<String> = ledger.all().iter().map(state).collect();
    all.sort();
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn settled_the_tool_the_file_and_the_block_give_the_same_ledger(seed: u64, n_new in 0u32..14) {
        let world = reviewed_before();
        let before = &world.state().findings;
        let given = submission(seed, n_new);
        let by_tool = build_review_document(&given, before, ReviewBar::ChangedOrProven).unwrap();
        let file = format!("[CHANGES_REQUIRED]\n\n{}", written_items(&given, before.highest_number()).join("\n"));
        let message = format!("Here it is.\n\n````comments.md\n{file}````\n");
        let block = fenced_block::find_document(&message, "comments.md").unwrap();
        let (expected, outcome) = apply(before, &by_tool);
        for text in [&file, block.as_str()] {
            let (ledger, same) = apply(before, text);
            prop_assert_eq!(&ledger, &expected);
            prop_assert_eq!(same, outcome.clone());
        }
    }

    #[test]
    fn settled_answers_by_the_tool_the_file_and_the_block_give_the_same_ledger(seed: u64) {
        let world = reviewed_before();
        let before = &world.state().findings;
        let given = answers(seed, before);
        let by_tool = build_answers_document(&given, before).unwrap();
        let file = written_answers(&given);
        let message = format!("Here they are.\n\n````comments.md\n{file}````\n");
        let block = fenced_block::find_document(&message, "comments.md").unwrap();
        let apply = |text: &str| match world.response_event(TurnId::new("t"), text) {
            Event::ResponseCommitted { responses, asked_back, .. } => {
                let mut ledger = before.clone();
                ledger.apply_responses(&responses);
                (ledger, asked_back)
            }
            other => panic!("{other:?}"),
        };
        let expected = apply(&by_tool);
        prop_assert_eq!(&apply(&file), &expected);
        prop_assert_eq!(&apply(&block), &expected);
    }

    #[test]
    fn settled_case_order_and_white_space_change_nothing(seed: u64, n_new in 0u32..14, order: u64) {
        let world = reviewed_before();
        let before = &world.state().findings;
        let given = submission(seed, n_new);
        let mut items = written_items(&given, before.highest_number());
        let (expected, outcome) = apply(before, &format!("[CHANGES_REQUIRED]\n\n{}", items.join("\n")));
        let mut dice = Dice(order);
        for at in (1..items.len()).rev() {
            items.swap(at, dice.roll(u32::try_from(at + 1).unwrap()) as usize);
        }
        let text = items.join("\n\n").replace(' ', "  ").to_uppercase();
        let (ledger, other) = apply(before, &format!("\n[CHANGES_REQUIRED]\n\n\n{text}"));
        prop_assert_eq!(states(&ledger), states(&expected));
        prop_assert_eq!((other.verdict, other.unmentioned, other.is_circle), (outcome.verdict, outcome.unmentioned, outcome.is_circle));
    }
}

#[test]
fn settled_an_approval_in_a_block_counts_as_one_in_the_file() {
    let world = reviewed_before();
    let turn = TurnId::new("t");
    let text = "[APPROVED]\n1. withdrawn: no\n2. withdrawn: no\n";
    let message = format!("```comments.md\n{text}```\n");
    let block = fenced_block::find_document(&message, "comments.md").unwrap();
    let event = |text: &str| match world.review_event(turn.clone(), text) {
        Event::ReviewCommitted { review, .. } => review.verdict,
        other => panic!("{other:?}"),
    };
    assert_eq!(event(text), Verdict::Approved);
    assert_eq!(event(block.as_str()), Verdict::Approved);
}
