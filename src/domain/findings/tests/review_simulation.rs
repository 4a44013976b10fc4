//! Plays a whole review between a scripted reviewer and a scripted planner, who write documents.

use std::collections::BTreeMap;

use super::document_events::{DocumentSources, NoFiles};
use crate::domain::event::{Event, RunParameters, WorkflowSettings};
use crate::domain::findings::evidence::EvidenceCheck;
use crate::domain::findings::review_facts::RemarkFacts;
use crate::domain::findings::{
    DisputeJudgement, DisputeSide, Finding, FindingDisposition, FindingLedger, FindingResponse,
    FindingSeverity, FindingStatus,
};
use crate::domain::ids::{Sha256, TurnId, UnixMillis};
use crate::domain::phase::{Gate, Phase};
use crate::domain::plan;
use crate::domain::question::{QuestionAnswer, QuestionKind};
use crate::domain::review::{ReviewDocument, VerdictKind};
use crate::domain::run::{Run, RunState};
use crate::domain::turn::{TurnOutcome, TurnPurpose};

const AT: UnixMillis = UnixMillis(1_000);
/// No play has so many turns: more of them would go on without end.
const MAX_TURNS: u32 = 200;

/// What a scripted agent knows as it writes.
pub(super) struct ScriptContext<'a> {
    pub state: &'a RunState,
    pub plan: &'a str,
    /// Whether the document before was asked back.
    pub is_asked_back: bool,
}

impl ScriptContext<'_> {
    pub fn ledger(&self) -> &FindingLedger {
        &self.state.findings
    }
}

/// What a planner returns: its answers, and the plan where it changed it.
pub(super) struct PlannerDocuments {
    pub answers: String,
    pub plan: Option<String>,
}

/// Writes the documents of both sides.
pub(super) trait ReviewScript {
    fn review(&mut self, context: &ScriptContext<'_>) -> String;

    fn respond(&mut self, context: &ScriptContext<'_>) -> PlannerDocuments;
}

/// How a play ended: with an approval, or with a question to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "a test makes few of them")]
pub(super) enum PlayEnding {
    Approved,
    Asked(QuestionKind),
}

/// A run whose documents are written by a script.
pub(super) struct ReviewSimulation {
    pub run: Run,
    pub plan: String,
    reviewed_plans: Vec<String>,
    n_asked_back: u32,
    n_judged: u32,
}

impl ReviewSimulation {
    /// Creates a run whose first plan is being written.
    pub fn new(max_iterations: u32, plan: &str) -> Self {
        let parameters = RunParameters {
            gate: Gate::Auto,
            settings: WorkflowSettings {
                max_iterations,
                ..RunParameters::example().settings
            },
            ..RunParameters::example()
        };
        let mut run = Run::new(AT, &parameters);
        let text = "Add sums".to_owned();
        run.step(AT, &Event::GoalGiven { text: text.clone() });
        let title = text.clone();
        run.step(AT, &Event::GoalConfirmed { title, text });
        Self {
            run,
            plan: plan.to_owned(),
            reviewed_plans: Vec::new(),
            n_asked_back: 0,
            n_judged: 0,
        }
    }

    pub fn state(&self) -> &RunState {
        self.run.state()
    }

    pub fn n_reviews(&self) -> u32 {
        self.state().findings.review_count()
    }

    /// Plays until the plan is approved or the user is asked.
    pub fn play(&mut self, script: &mut dyn ReviewScript) -> PlayEnding {
        for _ in 0..MAX_TURNS {
            if let Some(question) = &self.state().awaiting {
                return PlayEnding::Asked(question.kind.clone());
            }
            if self.state().phase == Phase::Approved {
                self.check_approval();
                return PlayEnding::Approved;
            }
            self.play_turn(script);
        }
        panic!("the play goes on without end: {:?}", self.state().phase);
    }

    /// Answers the question that waits.
    pub fn answer(&mut self, answer: QuestionAnswer) {
        let id = self.state().awaiting.as_ref().unwrap().id;
        self.run.step(AT, &Event::QuestionAnswered { id, answer });
        if self.state().phase != Phase::Review {
            self.n_asked_back = 0;
        }
    }

    fn play_turn(&mut self, script: &mut dyn ReviewScript) {
        let order = self.state().running.as_ref().unwrap().order.clone();
        let turn = order.turn.clone();
        let result = TurnOutcome::completed("");
        let ended = Event::TurnEnded {
            turn: turn.clone(),
            result,
        };
        self.run.step(AT, &ended);
        let event = match order.purpose {
            TurnPurpose::WritePlan => Event::PlanCommitted {
                turn,
                plan: plan::parse(&self.plan).unwrap(),
                file_sha256: Sha256::new("p"),
            },
            TurnPurpose::Review => {
                let text = script.review(&self.context(order.again.is_some()));
                self.review_event(turn, &text)
            }
            TurnPurpose::Respond => {
                let given = script.respond(&self.context(order.again.is_some()));
                let event =
                    self.sources()
                        .response_event(turn, &given.answers, given.plan.as_deref());
                if let (Event::ResponseCommitted { plan: Some(_), .. }, Some(plan)) =
                    (&event, given.plan)
                {
                    self.plan = plan;
                }
                event
            }
            TurnPurpose::Judge => {
                self.n_judged += 1;
                self.judgement_event(turn)
            }
            TurnPurpose::RefineGoal { .. }
            | TurnPurpose::Step { .. }
            | TurnPurpose::Fix { .. }
            | TurnPurpose::Summary => panic!("no turn of a review: {order:?}"),
        };
        self.feed(&event);
    }

    fn context(&self, is_asked_back: bool) -> ScriptContext<'_> {
        ScriptContext {
            state: self.run.state(),
            plan: &self.plan,
            is_asked_back,
        }
    }

    /// Returns the event for the text of the planner's answers.
    pub fn response_event(&self, turn: TurnId, text: &str) -> Event {
        self.sources().response_event(turn, text, None)
    }

    /// Returns the event for the text of a review.
    pub fn review_event(&self, turn: TurnId, text: &str) -> Event {
        self.sources().review_event(turn, text)
    }

    fn sources(&self) -> DocumentSources<'_> {
        DocumentSources {
            state: self.run.state(),
            plan: &self.plan,
            reviewed_plans: &self.reviewed_plans,
            evidence: &NoFiles,
            unopened: None,
        }
    }

    fn judgement_event(&self, turn: TurnId) -> Event {
        let disputed = self.state().findings.disputed();
        let judgements = disputed.map(|finding| DisputeJudgement {
            n: finding.remark.n,
            side: DisputeSide::Reviewer,
            reason: "the plan says so".to_owned(),
        });
        Event::DisputesJudged {
            turn,
            judgements: judgements.collect(),
        }
    }

    /// Applies an event and checks what must hold after each.
    fn feed(&mut self, event: &Event) {
        let before = self.run.state().findings.clone();
        self.run.step(AT, event);
        match event {
            Event::DocumentIncomplete { .. } => {
                self.n_asked_back += 1;
                assert!(self.n_asked_back <= 1, "a review is asked back twice");
                assert_eq!(before, self.run.state().findings);
            }
            Event::ReviewCommitted { review, .. } => {
                (self.n_asked_back, self.n_judged) = (0, self.n_judged.saturating_sub(1));
                self.reviewed_plans.push(self.plan.clone());
                let facts = review.facts.as_ref().unwrap();
                for (remark, facts) in review.remarks.iter().zip(&facts.remarks) {
                    let ledger = &self.run.state().findings;
                    let is_kept = match facts.repeats {
                        Some(n) => ledger.get(n).is_some(),
                        None => ledger.all().iter().any(|f| f.remark.text == remark.text),
                    };
                    assert!(is_kept, "{} vanished", remark.text);
                }
                self.check_fixes(&before, review);
                self.check_rejections(&before, review);
            }
            Event::DisputesJudged { .. } => assert!(self.n_judged <= 1, "two judgements a review"),
            _ => {}
        }
        self.check_states(&before);
    }

    /// Checks that every finding is still there, under its number, and that only allowed changes of its state happened.
    fn check_states(&self, before: &FindingLedger) {
        let after = &self.run.state().findings;
        let mut numbers: Vec<u32> = after.all().iter().map(|f| f.remark.n).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), after.all().len(), "a number is used twice");
        for old in before.all() {
            let new = after.get(old.remark.n).expect("a number is gone");
            let is_reopened = old.status == FindingStatus::Fixed && new.is_open();
            let is_allowed = old.status == new.status
                || old.is_open()
                || (is_reopened
                    && old.record.reopened_in.is_none()
                    && new.record.reopened_in.is_some())
                || (old.status == FindingStatus::Residual
                    && matches!(
                        new.status,
                        FindingStatus::Open | FindingStatus::DecidedByUser
                    ));
            assert!(is_allowed, "{:?} became {:?}", old.status, new.status);
        }
    }

    /// Checks that what counts as fixed was quoted, in words that the plan did not have when the finding was raised or
    /// no longer has.
    fn check_fixes(&self, before: &FindingLedger, review: &ReviewDocument) {
        let is_fixed = |finding: &&Finding| {
            let old = before.get(finding.remark.n);
            finding.status == FindingStatus::Fixed && old.is_some_and(Finding::is_open)
        };
        let plain = |plan: &str| plan.replace("[x]", "[ ]").to_lowercase();
        for finding in self.state().findings.all().iter().filter(is_fixed) {
            let n = finding.remark.n;
            let mut verdicts = review.verdicts.iter();
            let verdict = verdicts.find(|verdict| verdict.n == n).unwrap();
            let quotes = verdict.detail.split(['\u{201c}', '\u{201d}']).skip(1);
            let quoted = quotes.step_by(2).map(plain).collect::<Vec<_>>();
            let raised_in = finding.record.reopened_in.unwrap_or(finding.raised_in);
            let raised = plain(&self.reviewed_plans[raised_in as usize - 1]);
            let now = plain(&self.plan);
            assert!(
                quoted
                    .iter()
                    .any(|quote| now.contains(quote) != raised.contains(quote)),
                "finding {n} is fixed by {:?}",
                verdict.detail
            );
        }
    }

    /// Checks what the planner's rejections led to (T08).
    fn check_rejections(&self, before: &FindingLedger, review: &ReviewDocument) {
        for old in before.active() {
            let (n, new) = (
                old.remark.n,
                self.state().findings.get(old.remark.n).unwrap(),
            );
            let mut verdicts = review.verdicts.iter();
            let is_withdrawn = verdicts.any(|v| v.n == n && v.kind == VerdictKind::Withdrawn);
            let is_blocking = new.remark.severity == FindingSeverity::Blocking;
            let answer = old.responses.last().filter(|(to, _)| *to >= old.last_in);
            let is_rejected =
                |answer: &FindingResponse| answer.stand == FindingDisposition::Rejected;
            let is_true = |answer: &FindingResponse| {
                answer
                    .check
                    .as_ref()
                    .is_some_and(EvidenceCheck::is_verified)
            };
            let is_refuted =
                answer.is_some_and(|(_, answer)| is_rejected(answer) && is_true(answer));
            if new.status == FindingStatus::Rebutted {
                assert!(
                    is_withdrawn || (is_refuted && !is_blocking),
                    "{n} is rebutted"
                );
            }
            // Of all answers to one review the last counts.
            let mut rejected = BTreeMap::new();
            for (to, answer) in &old.responses {
                rejected.insert(*to, is_rejected(answer));
            }
            let n_rejected = rejected
                .values()
                .filter(|is_rejected| **is_rejected)
                .count();
            if new.record.dispute.is_some() {
                let is_proven = is_blocking && new.is_proven();
                assert!(new.holds(), "{n} is disputed and does not hold the plan up");
                assert!(
                    is_proven || new.record.is_upheld || n_rejected >= 2,
                    "{n} is disputed early"
                );
            }
            let is_minor = new.remark.severity == FindingSeverity::Minor;
            if is_minor && is_refuted && !brings_new_evidence(review, n) {
                let is_settled =
                    matches!(new.status, FindingStatus::Rebutted | FindingStatus::Fixed);
                assert!(is_settled, "{n} is {:?}", new.status);
            }
        }
    }

    fn check_approval(&self) {
        let mut holding = self.state().findings.holding();
        assert_eq!(holding.next(), None, "approved beside an open finding");
    }
}

/// Returns whether a review has new evidence that is true for a finding.
fn brings_new_evidence(review: &ReviewDocument, n: u32) -> bool {
    let facts = review.facts.as_ref().unwrap();
    let mut verdicts = review.verdicts.iter().zip(&facts.verdicts);
    let by_verdict = verdicts.any(|(verdict, facts)| {
        let stands = verdict.n == n && verdict.kind == VerdictKind::Stands;
        stands && facts.evidence.is_verified()
    });
    let is_new = |facts: &RemarkFacts| facts.evidence.is_verified() && facts.is_new_scenario;
    let mut repeats = facts
        .remarks
        .iter()
        .filter(|facts| facts.repeats == Some(n));
    by_verdict || repeats.any(is_new)
}
