//! Finds what an agent's document lacks, so that its agent is asked once more before the document costs another agent a
//! turn.

use serde::{Deserialize, Serialize};

use super::findings::{Finding, FindingLedger, FindingSeverity};
use super::review::{ReviewDocument, Verdict};

/// One part that a document lacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "lack", rename_all = "snake_case")]
pub enum MissingPart {
    /// A review has neither a proper marker line nor a finding.
    Verdict,
    /// A review does not mention open blocking or major findings.
    Findings { numbers: Vec<u32> },
    /// The planner has not answered all findings.
    Answers {
        /// The numbers of the unanswered findings.
        numbers: Vec<u32>,
    },
}

impl MissingPart {
    /// Returns whether both are of the same kind, because each kind is requested only once.
    fn is_same_kind(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// Describes the missing part for the agent.
    fn describe(&self) -> String {
        match self {
            Self::Verdict => "the review names no finding, and its first line is neither exactly `[APPROVED]` nor \
                              exactly `[CHANGES_REQUIRED]`, so that it does not count"
                .to_owned(),
            Self::Findings { numbers } => {
                let list = join_numbers(numbers);
                format!(
                    "the review says nothing of {}, still open and blocking or major: repeat each under its number \
                     if it stays open, or name those that are settled in a line `Settled: {list}`",
                    findings_label(numbers)
                )
            }
            Self::Answers { numbers } => {
                format!("{} still without an answer; what you have answered is kept", findings_with_verb(numbers))
            }
        }
    }
}

/// Describes all missing parts for the agent, in one text.
pub fn describe_missing_parts(lacks: &[MissingPart]) -> String {
    let all: Vec<String> = lacks.iter().map(MissingPart::describe).collect();
    all.join("; ")
}

/// Returns the parts that were not requested yet.
pub(super) fn unrequested_parts(lacks: &[MissingPart], asked: &[MissingPart]) -> Vec<MissingPart> {
    let is_new = |lack: &&MissingPart| !asked.iter().any(|asked| asked.is_same_kind(lack));
    lacks.iter().filter(is_new).cloned().collect()
}

/// Returns what a review lacks; `ledger` is the state before the review.
pub(super) fn missing_parts_of_review(
    review: &ReviewDocument,
    ledger: &FindingLedger,
) -> Vec<MissingPart> {
    let mut lacks = Vec::new();
    let is_plain = review.marker == Some(Verdict::ChangesRequired) && review.consistent;
    let says_what = !review.remarks.is_empty() || is_plain;
    if review.verdict == Verdict::ChangesRequired && !says_what {
        lacks.push(MissingPart::Verdict);
    }
    let numbers = unmentioned_findings(review, ledger);
    if !numbers.is_empty() {
        lacks.push(MissingPart::Findings { numbers });
    }
    lacks
}

/// Returns what the answers lack; `ledger` already contains the answers.
pub(super) fn missing_parts_of_answers(ledger: &FindingLedger) -> Vec<MissingPart> {
    let numbers: Vec<u32> = ledger.unanswered().map(finding_number).collect();
    if numbers.is_empty() {
        Vec::new()
    } else {
        vec![MissingPart::Answers { numbers }]
    }
}

/// Returns the open major and blocking findings that a review neither states nor settles.
fn unmentioned_findings(review: &ReviewDocument, ledger: &FindingLedger) -> Vec<u32> {
    let settled = review.settled.as_deref().unwrap_or_default();
    let is_stated = |n: u32| review.remarks.iter().any(|remark| remark.n == n);
    let weighs = ledger
        .open()
        .filter(|finding| finding.remark.severity >= FindingSeverity::Major);
    weighs
        .map(finding_number)
        .filter(|n| !is_stated(*n) && !settled.contains(n))
        .collect()
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
    let verb = if numbers.len() == 1 { "is" } else { "are" };
    format!("{} {verb}", findings_label(numbers))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::review;

    fn ledger() -> FindingLedger {
        let mut ledger = FindingLedger::default();
        let first = "[CHANGES_REQUIRED]\n1. [blocking] a\n2. [major] b\n3. [minor] c\n";
        ledger.apply_legacy_review(&review::parse(first, &ledger).remarks);
        ledger
    }

    fn check(text: &str, ledger: &FindingLedger, expected: &[MissingPart]) {
        assert_eq!(
            missing_parts_of_review(&review::parse(text, ledger), ledger),
            expected,
            "{text:?}"
        );
    }

    #[test]
    fn a_review_that_says_neither_verdict_nor_finding_lacks_its_verdict() {
        let none = FindingLedger::default();
        for text in [
            "Looks good to me.\n",
            "[approved]\n",
            "[APPROVED, if it sings]\n",
            "Fine.\n[APPROVED]\n",
            "[APPROVED]\n\n[CHANGES_REQUIRED]\n",
            "---\nstatus: CHANGES_REQUIRED\n---\n[APPROVED]\n",
        ] {
            check(text, &none, &[MissingPart::Verdict]);
        }
        for text in [
            "[APPROVED]\n",
            " [APPROVED]\t\n",
            "[CHANGES_REQUIRED]\n\nNo.\n",
            "Looks good to me.\n\n1. [minor] Sing.\n",
            "[APPROVED]\n\n1. [blocking] Sing.\n",
        ] {
            check(text, &none, &[]);
        }
    }

    #[test]
    fn an_open_finding_that_weighs_is_named_in_each_review() {
        let lacking = |numbers: &[u32]| MissingPart::Findings {
            numbers: numbers.to_vec(),
        };
        check("[APPROVED]\n", &ledger(), &[lacking(&[1, 2])]);
        check(
            "[CHANGES_REQUIRED]\n\n1. [blocking] a\n4. [minor] d\n",
            &ledger(),
            &[lacking(&[2])],
        );
        check("[APPROVED]\n\nSettled: 1, 2\n", &ledger(), &[]);
        check(
            "Good.\n",
            &ledger(),
            &[MissingPart::Verdict, lacking(&[1, 2])],
        );
        let mut settled = ledger();
        settled.settle_by_user(1);
        check("[APPROVED]\n\n- **Settled:** 2.\n", &settled, &[]);
    }

    #[test]
    fn what_was_asked_for_once_is_not_asked_for_again() {
        let asked = [MissingPart::Findings { numbers: vec![1] }];
        let again = [
            MissingPart::Verdict,
            MissingPart::Findings {
                numbers: vec![2, 3],
            },
        ];
        assert_eq!(unrequested_parts(&again, &asked), [MissingPart::Verdict]);
        assert_eq!(
            describe_missing_parts(&[MissingPart::Answers {
                numbers: vec![2, 3]
            }]),
            "findings 2, 3 are still without an answer; what you have answered is kept"
        );
    }
}
