//! What an agent's document lacks, for which it is asked once more before the document costs anybody else a turn.
//!
//! Refuses to know how an agent is asked.

use serde::{Deserialize, Serialize};

use super::findings::{Finding, Findings, Severity};
use super::review::{Review, Verdict};

/// One thing that a document lacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "lack", rename_all = "snake_case")]
pub enum Lack {
    /// A review has no proper marker line, and no finding either.
    Verdict,
    /// A review says nothing of open blocking or major findings.
    Findings {
        /// Their numbers.
        numbers: Vec<u32>,
    },
    /// The planner has not answered all findings.
    Answers {
        /// The numbers of the others.
        numbers: Vec<u32>,
    },
}

impl Lack {
    /// Tells whether both are of the same kind: each kind is asked for once.
    fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// What the agent is told.
    fn in_words(&self) -> String {
        match self {
            Self::Verdict => "the review names no finding, and its first line is neither exactly `[APPROVED]` nor \
                              exactly `[CHANGES_REQUIRED]`, so that it does not count"
                .to_owned(),
            Self::Findings { numbers } => {
                let list = listed(numbers);
                format!(
                    "the review says nothing of {}, still open and blocking or major: repeat each under its number \
                     if it stays open, or name those that are settled in a line `Settled: {list}`",
                    findings_of(numbers)
                )
            }
            Self::Answers { numbers } => {
                format!("{} still without an answer; what you have answered is kept", have(numbers))
            }
        }
    }
}

/// What is lacking, in one text for the agent.
pub fn in_words(lacks: &[Lack]) -> String {
    let all: Vec<String> = lacks.iter().map(Lack::in_words).collect();
    all.join("; ")
}

/// Those of them that were not asked for yet.
pub(super) fn not_asked_yet(lacks: &[Lack], asked: &[Lack]) -> Vec<Lack> {
    let is_new = |lack: &&Lack| !asked.iter().any(|asked| asked.is_like(lack));
    lacks.iter().filter(is_new).cloned().collect()
}

/// What a review lacks under the ledger as it stands before it.
pub(super) fn of_review(review: &Review, ledger: &Findings) -> Vec<Lack> {
    let mut lacks = Vec::new();
    let is_plain = review.marker == Some(Verdict::ChangesRequired) && review.consistent;
    let says_what = !review.remarks.is_empty() || is_plain;
    if review.verdict == Verdict::ChangesRequired && !says_what {
        lacks.push(Lack::Verdict);
    }
    let numbers = left_out(review, ledger);
    if !numbers.is_empty() {
        lacks.push(Lack::Findings { numbers });
    }
    lacks
}

/// What answers lack under the ledger that has taken them in.
pub(super) fn of_answers(ledger: &Findings) -> Vec<Lack> {
    let numbers: Vec<u32> = ledger.unanswered().map(number).collect();
    match numbers.is_empty() {
        true => Vec::new(),
        false => vec![Lack::Answers { numbers }],
    }
}

/// The open findings that weigh and of which a review says neither that they stay nor that they are settled.
fn left_out(review: &Review, ledger: &Findings) -> Vec<u32> {
    let settled = review.settled.as_deref().unwrap_or_default();
    let is_stated = |n: u32| review.remarks.iter().any(|remark| remark.n == n);
    let weighs = ledger
        .open()
        .filter(|finding| finding.remark.severity >= Severity::Major);
    weighs
        .map(number)
        .filter(|n| !is_stated(*n) && !settled.contains(n))
        .collect()
}

fn number(finding: &Finding) -> u32 {
    finding.remark.n
}

fn listed(numbers: &[u32]) -> String {
    let all: Vec<String> = numbers.iter().map(u32::to_string).collect();
    all.join(", ")
}

fn findings_of(numbers: &[u32]) -> String {
    match numbers {
        [one] => format!("finding {one}"),
        many => format!("findings {}", listed(many)),
    }
}

fn have(numbers: &[u32]) -> String {
    let verb = if numbers.len() == 1 { "is" } else { "are" };
    format!("{} {verb}", findings_of(numbers))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::review;

    fn ledger() -> Findings {
        let mut ledger = Findings::default();
        let first = "[CHANGES_REQUIRED]\n1. [blocking] a\n2. [major] b\n3. [minor] c\n";
        ledger.take_review(&review::read(first, &ledger).remarks);
        ledger
    }

    fn check(text: &str, ledger: &Findings, expected: &[Lack]) {
        assert_eq!(
            of_review(&review::read(text, ledger), ledger),
            expected,
            "{text:?}"
        );
    }

    #[test]
    fn a_review_that_says_neither_verdict_nor_finding_lacks_its_verdict() {
        let none = Findings::default();
        for text in [
            "Looks good to me.\n",
            "[approved]\n",
            "[APPROVED, if it sings]\n",
            "Fine.\n[APPROVED]\n",
            "[APPROVED]\n\n[CHANGES_REQUIRED]\n",
            "---\nstatus: CHANGES_REQUIRED\n---\n[APPROVED]\n",
        ] {
            check(text, &none, &[Lack::Verdict]);
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
        let lacking = |numbers: &[u32]| Lack::Findings {
            numbers: numbers.to_vec(),
        };
        check("[APPROVED]\n", &ledger(), &[lacking(&[1, 2])]);
        check(
            "[CHANGES_REQUIRED]\n\n1. [blocking] a\n4. [minor] d\n",
            &ledger(),
            &[lacking(&[2])],
        );
        check("[APPROVED]\n\nSettled: 1, 2\n", &ledger(), &[]);
        check("Good.\n", &ledger(), &[Lack::Verdict, lacking(&[1, 2])]);
        let mut settled = ledger();
        settled.settle_by_user(1);
        check("[APPROVED]\n\n- **Settled:** 2.\n", &settled, &[]);
    }

    #[test]
    fn what_was_asked_for_once_is_not_asked_for_again() {
        let asked = [Lack::Findings { numbers: vec![1] }];
        let again = [
            Lack::Verdict,
            Lack::Findings {
                numbers: vec![2, 3],
            },
        ];
        assert_eq!(not_asked_yet(&again, &asked), [Lack::Verdict]);
        assert_eq!(
            in_words(&[Lack::Answers {
                numbers: vec![2, 3]
            }]),
            "findings 2, 3 are still without an answer; what you have answered is kept"
        );
    }
}
