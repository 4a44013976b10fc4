//! Finds what an agent's document lacks, so that its agent is asked once more before the document costs another agent a
//! turn.
//!
//! A review and the answers to it are asked back at most once each, with everything that is missing (TRUTH.md T01 to
//! T03, T07, T08, T11).

use serde::{Deserialize, Serialize};

use super::findings::evidence::EvidenceCheck;
use super::findings::review_facts::ReviewFacts;
use super::findings::{
    Finding, FindingDisposition, FindingLedger, FindingResponse, ReviewOutcome,
    UnsupportedFindings, VerdictContradiction,
};
use super::review::ReviewDocument;

/// One part that a document lacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "lack", rename_all = "snake_case")]
pub enum MissingPart {
    /// A review has neither a proper marker line nor a finding.
    Verdict,
    /// A review does not mention open blocking or major findings.
    Findings { numbers: Vec<u32> },
    /// A review calls findings fixed and quotes nothing that changed.
    ChangedText { numbers: Vec<u32> },
    /// A review approves beside findings that hold the plan up.
    Approval { numbers: Vec<u32> },
    /// A review requires changes, and nothing in it holds the plan up.
    Obstacle,
    /// The evidence of new findings does not check out.
    Evidence { items: Vec<RefutedEvidence> },
    /// Findings stand against a rejection whose evidence is true, without new evidence.
    NewEvidence { numbers: Vec<u32> },
    /// The reviewer did not open files that the plan names.
    OpenedFiles { files: Vec<String> },
    /// The planner has not answered all findings.
    Answers {
        /// The numbers of the unanswered findings.
        numbers: Vec<u32>,
    },
    /// The planner accepts findings and changed nothing that settles them.
    PlanChange { numbers: Vec<u32> },
    /// The planner rejects findings without evidence that is true.
    Reasons { items: Vec<RefutedEvidence> },
}

/// Evidence that did not check out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefutedEvidence {
    pub n: u32,
    /// What was found instead; empty where there was nothing to check.
    pub found: String,
}

impl RefutedEvidence {
    fn new(n: u32, check: &EvidenceCheck) -> Self {
        let found = match check {
            EvidenceCheck::Refuted { found } => found.clone(),
            EvidenceCheck::Verified { .. } | EvidenceCheck::Uncheckable => String::new(),
        };
        Self { n, found }
    }
}

fn describe_evidence(items: &[RefutedEvidence]) -> String {
    let item = |item: &RefutedEvidence| match item.found.as_str() {
        "" => format!("{}: none was given that can be checked", item.n),
        found => format!("{}: {found}", item.n),
    };
    let all: Vec<String> = items.iter().map(item).collect();
    all.join("; ")
}

impl MissingPart {
    /// Returns whether it is missing in a review, not in the answers to one.
    fn is_of_review(&self) -> bool {
        match self {
            Self::Verdict
            | Self::Findings { .. }
            | Self::ChangedText { .. }
            | Self::Approval { .. }
            | Self::Obstacle
            | Self::Evidence { .. }
            | Self::NewEvidence { .. }
            | Self::OpenedFiles { .. } => true,
            Self::Answers { .. } | Self::PlanChange { .. } | Self::Reasons { .. } => false,
        }
    }

    /// Describes the missing part for the agent.
    fn describe(&self) -> String {
        match self {
            Self::Verdict => "The review names no finding, and its first line is neither exactly `[APPROVED]` nor \
                              exactly `[CHANGES_REQUIRED]`, so it does not count."
                .to_owned(),
            Self::Findings { numbers } => format!(
                "The review says nothing of {}. State for each whether it is fixed, stands or is withdrawn.",
                findings_label(numbers)
            ),
            Self::ChangedText { numbers } => format!(
                "The review calls {} fixed without quoting text of the plan that changed since it was raised. Quote \
                 the changed text, or state that it stands.",
                findings_label(numbers)
            ),
            Self::Approval { numbers } => format!(
                "The review says `[APPROVED]` while {} still {} the plan up. Settle what is settled, or require \
                 changes.",
                findings_label(numbers),
                if numbers.len() == 1 { "holds" } else { "hold" }
            ),
            Self::Obstacle => "The review requires changes, but no open blocking or major finding holds the plan up \
                               under the rules of this review. Name what holds it, or approve."
                .to_owned(),
            Self::Evidence { items } => format!(
                "The evidence of new findings does not check out ({}). Correct it, or add a scenario and the step or \
                 heading of the plan where something is missing. Without that they count as minor.",
                describe_evidence(items)
            ),
            Self::NewEvidence { numbers } => format!(
                "The planner rejected {} with evidence that is true. Give new evidence, or withdraw.",
                findings_label(numbers)
            ),
            Self::OpenedFiles { files } => format!(
                "The plan names files that you did not open: {}. Read them before you judge the steps that use them.",
                files.join(", ")
            ),
            Self::Answers { numbers } => format!(
                "{} no answer. The answers that you gave are kept.",
                findings_with_verb(numbers)
            ),
            Self::PlanChange { numbers } => format!(
                "You accepted {}, but the plan did not change at that place or in a step that your answer names. \
                 Change the plan, or name the step that settles it.",
                findings_label(numbers)
            ),
            Self::Reasons { items } => format!(
                "You rejected findings without evidence that checks out ({}). Quote the file and line, the plan, or a \
                 command and what it printed.",
                describe_evidence(items)
            ),
        }
    }
}

/// Describes all missing parts for the agent, in one text.
pub fn describe_missing_parts(lacks: &[MissingPart]) -> String {
    let all: Vec<String> = lacks.iter().map(MissingPart::describe).collect();
    all.join("\n")
}

/// The parts that the agents of a review and of its answers were asked to add.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MissingPartRequests {
    pub(super) parts: Vec<MissingPart>,
}

impl MissingPartRequests {
    /// Returns whether nothing was asked for.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Returns what the reviewer is asked for before a review of this iteration counts; empty where it was asked before.
    pub fn missing_in_review(
        &self,
        review: &ReviewDocument,
        facts: &ReviewFacts,
        ledger: &FindingLedger,
        iteration: u32,
    ) -> Vec<MissingPart> {
        self.unrequested_parts(&missing_parts_of_review(review, facts, ledger, iteration))
    }

    /// Returns the same for answers; `answered` is the ledger that already contains them.
    pub fn missing_in_answers(
        &self,
        answered: &FindingLedger,
        responses: &[FindingResponse],
    ) -> Vec<MissingPart> {
        self.unrequested_parts(&missing_parts_of_answers(answered, responses))
    }

    /// Returns the missing parts to ask for: all of them, or none where the review or its answers were asked back before.
    pub(super) fn unrequested_parts(&self, lacks: &[MissingPart]) -> Vec<MissingPart> {
        let was_asked = |lack: &MissingPart| {
            let mut asked = self.parts.iter();
            asked.any(|asked| asked.is_of_review() == lack.is_of_review())
        };
        let lacks = lacks.iter().filter(|lack| !was_asked(lack));
        lacks.cloned().collect()
    }

    pub(super) fn add(&mut self, lacks: Vec<MissingPart>) {
        self.parts.extend(lacks);
    }

    /// Forgets what was asked for, because another review begins.
    pub(super) fn clear(&mut self) {
        self.parts.clear();
    }

    /// Returns whether some of the planner's answers are stored, and it was asked for the others.
    pub(super) fn has_partial_answers(&self) -> bool {
        self.parts.iter().any(|lack| {
            matches!(
                lack,
                MissingPart::Answers { .. }
                    | MissingPart::PlanChange { .. }
                    | MissingPart::Reasons { .. }
            )
        })
    }
}

/// Returns what a review lacks. `ledger` is the state before the review, `iteration` its number within the goal.
fn missing_parts_of_review(
    review: &ReviewDocument,
    facts: &ReviewFacts,
    ledger: &FindingLedger,
    iteration: u32,
) -> Vec<MissingPart> {
    let mut after = ledger.clone();
    let outcome = after.apply_review(review, facts, iteration, UnsupportedFindings::CountAsStated);
    let mut lacks = Vec::new();
    let says_something = !review.remarks.is_empty() || !review.verdicts.is_empty();
    if review.is_ambiguous || (review.marker.is_none() && !says_something) {
        lacks.push(MissingPart::Verdict);
    }
    if !outcome.unmentioned.is_empty() {
        lacks.push(MissingPart::Findings {
            numbers: outcome.unmentioned.clone(),
        });
    }
    if !outcome.unproven_fixes.is_empty() {
        lacks.push(MissingPart::ChangedText {
            numbers: outcome.unproven_fixes.clone(),
        });
    }
    lacks.extend(evidence_lack(review, facts, &outcome));
    if !outcome.rebutted.is_empty() {
        lacks.push(MissingPart::NewEvidence {
            numbers: outcome.rebutted.clone(),
        });
    }
    // What is asked for already may turn the verdict.
    if lacks.is_empty() {
        lacks.extend(contradiction_lack(&outcome, &after));
    }
    if let Some(files) = facts.unopened.as_ref().filter(|files| !files.is_empty()) {
        lacks.push(MissingPart::OpenedFiles {
            files: files.clone(),
        });
    }
    lacks
}

fn evidence_lack(
    review: &ReviewDocument,
    facts: &ReviewFacts,
    outcome: &ReviewOutcome,
) -> Option<MissingPart> {
    let items = outcome.unsupported.iter().filter_map(|at| {
        let (remark, facts) = (review.remarks.get(*at)?, facts.remarks.get(*at)?);
        Some(RefutedEvidence::new(remark.n, &facts.evidence))
    });
    let items: Vec<RefutedEvidence> = items.collect();
    (!items.is_empty()).then_some(MissingPart::Evidence { items })
}

fn contradiction_lack(outcome: &ReviewOutcome, after: &FindingLedger) -> Option<MissingPart> {
    Some(match outcome.contradiction? {
        VerdictContradiction::ApprovedBesideHolding => MissingPart::Approval {
            numbers: after.holding().map(finding_number).collect(),
        },
        VerdictContradiction::NothingHolds => MissingPart::Obstacle,
    })
}

/// Returns what the answers lack; `ledger` already contains them.
fn missing_parts_of_answers(
    ledger: &FindingLedger,
    responses: &[FindingResponse],
) -> Vec<MissingPart> {
    let mut lacks = Vec::new();
    let numbers: Vec<u32> = ledger.unanswered().map(finding_number).collect();
    if !numbers.is_empty() {
        lacks.push(MissingPart::Answers { numbers });
    }
    let weighs = |response: &FindingResponse| {
        let finding = ledger.get(response.n);
        finding.is_some_and(Finding::holds)
    };
    let unproven = responses.iter().filter_map(|response| {
        let check = response.check.as_ref()?;
        (!check.is_verified()).then_some((response, check))
    });
    let unproven: Vec<_> = unproven.collect();
    // Minor findings alone cost nobody another turn.
    if lacks.is_empty() && !unproven.iter().any(|(response, _)| weighs(response)) {
        return lacks;
    }
    let (accepted, rejected): (Vec<_>, Vec<_>) = unproven
        .into_iter()
        .partition(|(response, _)| response.stand == FindingDisposition::Accepted);
    if !accepted.is_empty() {
        lacks.push(MissingPart::PlanChange {
            numbers: accepted.iter().map(|(response, _)| response.n).collect(),
        });
    }
    if !rejected.is_empty() {
        let items = rejected.iter();
        lacks.push(MissingPart::Reasons {
            items: items
                .map(|(response, check)| RefutedEvidence::new(response.n, check))
                .collect(),
        });
    }
    lacks
}

fn finding_number(finding: &Finding) -> u32 {
    finding.remark.n
}

fn join_numbers(numbers: &[u32]) -> String {
    let all: Vec<String> = numbers.iter().map(u32::to_string).collect();
    all.join(", ")
}

fn findings_label(numbers: &[u32]) -> String {
    match numbers {
        [one] => format!("finding {one}"),
        many => format!("findings {}", join_numbers(many)),
    }
}

fn findings_with_verb(numbers: &[u32]) -> String {
    let verb = if numbers.len() == 1 { "has" } else { "have" };
    let label = findings_label(numbers).replacen('f', "F", 1);
    format!("{label} {verb}")
}
