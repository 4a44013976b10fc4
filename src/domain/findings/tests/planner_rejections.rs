//! Tests what the planner's rejections lead to: a finding that is rebutted, disputed, residual or open (TRUTH.md T07
//! and T08).

use super::review_simulation::{PlannerDocuments, ReviewScript, ReviewSimulation, ScriptContext};
use super::scripted_agents::{change_step, finding_text, first_plan};
use super::{MAX_ITERATIONS, TRUE_EVIDENCE};
use crate::domain::findings::FindingSeverity::{self, Blocking, Major, Minor};

const PROVEN: &str = "rejected: the plan says \u{201c}Write part1 of module1\u{201d}";
const BARE: &str = "rejected: it is fine";
const ACCEPTED: &str = "accepted: done";

/// Documents about finding 1, beside finding 2, which is major and fixed at once. The last of each kind is repeated.
struct WrittenDocuments<'a> {
    first: String,
    /// What each later review says of finding 1.
    later: &'a [&'a str],
    /// The answers to finding 1, a turn each.
    answers: &'a [&'a str],
    n_reviews: usize,
    n_answers: usize,
}

impl ReviewScript for WrittenDocuments<'_> {
    fn review(&mut self, context: &ScriptContext<'_>) -> String {
        self.n_reviews += 1;
        let Some(at) = context.state.iteration.checked_sub(2) else {
            return self.first.clone();
        };
        let said = self.later.get(at as usize).or(self.later.last()).unwrap();
        let fixed = match at {
            0 => "2. fixed: \u{201c}fixed2\u{201d}\n",
            _ => "",
        };
        let (marker, said) = said.split_once('|').unwrap();
        format!("[{marker}]\n{fixed}{said}")
    }

    fn respond(&mut self, context: &ScriptContext<'_>) -> PlannerDocuments {
        let answer = self.answers.get(self.n_answers).or(self.answers.last());
        self.n_answers += 1;
        let is_first = !context.plan.contains("fixed2");
        let second = if is_first {
            "2. accepted: step 2\n"
        } else {
            ""
        };
        PlannerDocuments {
            answers: format!("1. {}\n{second}", answer.unwrap()),
            plan: is_first.then(|| change_step(context.plan, 2, "fixed2")),
        }
    }
}

/// Plays the documents to an approval or a question. Returns what finding 1 is then, and how many reviews, turns of the
/// reviewer and turns of the planner it took.
fn play(severity: FindingSeverity, evidence: &str, answers: &[&str], later: &[&str]) -> String {
    let finding = finding_text(1, severity, "one", 1);
    let other = finding_text(2, Major, "two", 2);
    let mut documents = WrittenDocuments {
        first: format!("[CHANGES_REQUIRED]\n{finding}{evidence}{other}"),
        later,
        answers,
        n_reviews: 0,
        n_answers: 0,
    };
    let mut world = ReviewSimulation::new(MAX_ITERATIONS, &first_plan());
    world.play(&mut documents);
    let finding = world.state().findings.get(1).unwrap();
    let status: &str = match finding.record.dispute {
        Some(_) => "disputed",
        None => finding.status.into(),
    };
    let (n, turns) = (world.n_reviews(), documents.n_reviews);
    let answers = documents.n_answers;
    format!("{status} {n}/{turns}/{answers}")
}

#[test]
fn settled_a_rejection_with_evidence_that_is_true_closes_a_minor_or_major_finding() {
    let new_evidence = format!("APPROVED|1. stands: no\n{TRUE_EVIDENCE}");
    let two = "2/2/1";
    for (answer, said, expected) in [
        (PROVEN, "APPROVED|1. stands: as before\n", "rebutted"),
        (PROVEN, "APPROVED|", "rebutted"),
        (PROVEN, "APPROVED|1. fixed: it is\n", "rebutted"),
        (PROVEN, "APPROVED|1. withdrawn: right\n", "rebutted"),
        (PROVEN, new_evidence.as_str(), "residual"),
        (BARE, "APPROVED|1. stands: as before\n", "residual"),
        (BARE, "APPROVED|", "residual"),
        (BARE, "APPROVED|1. withdrawn: right\n", "withdrawn"),
        (ACCEPTED, "APPROVED|1. stands: as before\n", "residual"),
        (ACCEPTED, "APPROVED|", "residual"),
    ] {
        let result = play(Minor, "", &[answer], &[said]);
        assert_eq!(result, format!("{expected} {two}"), "{answer}, {said}");
    }
    // The reviewer of a major finding is asked once for new evidence.
    let withdrawn = "APPROVED|1. withdrawn: right\n";
    assert_eq!(
        play(Major, "", &[PROVEN], &[withdrawn]),
        format!("rebutted {two}")
    );
    assert_eq!(
        play(
            Major,
            "",
            &[PROVEN],
            &["CHANGES_REQUIRED|1. stands: as before\n"]
        ),
        "rebutted 2/3/1"
    );
}

#[test]
fn settled_a_blocking_finding_that_counts_as_minor_is_shown_so_until_its_evidence_is_true() {
    let forged = "   Evidence: src/none.rs:3 \u{201c}no such line\u{201d}\n";
    let play = |second: &str| {
        let first = finding_text(1, Blocking, "one", 1);
        let other = finding_text(2, Major, "two", 2);
        let mut documents = WrittenDocuments {
            first: format!("[CHANGES_REQUIRED]\n{first}{forged}{other}"),
            later: &[second],
            answers: &[PROVEN],
            n_reviews: 0,
            n_answers: 0,
        };
        let mut world = ReviewSimulation::new(MAX_ITERATIONS, &first_plan());
        world.play(&mut documents);
        world.state().findings.get(1).unwrap().describe_in_line()
    };
    assert_eq!(
        play("APPROVED|"),
        "#1 blocking, counts as minor (evidence not found): alphaone betaone gammaone deltaone fails"
    );
    let again = finding_text(1, Blocking, "one", 1);
    assert_eq!(
        play(&format!("CHANGES_REQUIRED|{again}{TRUE_EVIDENCE}")),
        "#1 blocking: alphaone betaone gammaone deltaone fails"
    );
}

#[test]
fn settled_a_finding_is_disputed_after_two_reviews_whose_last_answers_reject_it() {
    let stands = "CHANGES_REQUIRED|1. stands: as before\n";
    let with_evidence = format!("CHANGES_REQUIRED|1. stands: no\n{TRUE_EVIDENCE}");
    let graver = finding_text(1, Blocking, "one", 1);
    let graver = format!("CHANGES_REQUIRED|1. stands: graver\n{graver}{TRUE_EVIDENCE}");
    for (severity, evidence, answers, later, expected) in [
        // What was asked back does not count beside the answer that replaced it.
        (Major, "", &[BARE][..], stands, "disputed 3/3/4"),
        (Major, "", &[BARE, PROVEN], stands, "rebutted 2/3/2"),
        (Major, "", &[ACCEPTED, PROVEN], stands, "rebutted 2/3/2"),
        (Major, "", &[BARE, ACCEPTED, BARE], stands, "disputed 4/4/6"),
        (
            Major,
            "",
            &[PROVEN],
            with_evidence.as_str(),
            "disputed 3/3/2",
        ),
        (Blocking, "", &[PROVEN], stands, "disputed 3/3/2"),
        (Blocking, "", &[BARE], stands, "disputed 3/3/4"),
        // The planner never closes a blocking finding whose own evidence is true.
        (Blocking, TRUE_EVIDENCE, &[PROVEN], stands, "disputed 2/2/1"),
        (Blocking, TRUE_EVIDENCE, &[BARE], stands, "disputed 2/2/2"),
        (Minor, "", &[PROVEN], graver.as_str(), "disputed 2/2/1"),
    ] {
        let result = play(severity, evidence, answers, &[later]);
        assert_eq!(result, expected, "{severity:?}, {answers:?}, {later}");
    }
}
