//! Checks documents that agents submit as data, and writes them as the texts that they stand for.
//!
//! It fails closed: data and text must say the same, every open finding must be dealt with, and the written text must
//! parse back to the submitted data.

use std::collections::BTreeSet;

use thiserror::Error;

use super::findings::{FindingDisposition, FindingLedger, FindingSeverity, FindingStatus};
use super::plan;
use super::review::{self, Verdict};
use crate::text::clean_to_one_line;

/// Why a submission does not count; it lists every problem.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("nothing was taken: {}", .0.join("; "))]
pub struct SubmissionError(Vec<String>);

/// A submitted review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewSubmission {
    pub verdict: Verdict,
    /// New findings, and earlier ones that stay open.
    pub findings: Vec<FindingSubmission>,
    /// The open findings that it settles.
    pub settled: Vec<u32>,
    /// The same in the reviewer's own words; without it, the document is written from the data.
    pub document: Option<String>,
}

/// A submitted finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingSubmission {
    /// Its number; for a new finding the program can choose it.
    pub n: Option<u32>,
    pub severity: FindingSeverity,
    /// The part of the plan it is about, such as `step 2`; empty for the whole plan.
    pub anchor: String,
    /// What is wrong, in one sentence.
    pub text: String,
    pub evidence: Option<String>,
    /// What would settle it.
    pub suggestion: Option<String>,
}

/// A submitted answer of the planner to a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerSubmission {
    pub n: u32,
    /// Whether the planner accepts it.
    pub disposition: FindingDisposition,
    /// Why, or what was done.
    pub reason: String,
}

/// Checks a plan: it must have numbered boxes, each with a unique number.
///
/// # Errors
///
/// Returns why it is not a plan.
pub fn check_plan(text: &str) -> Result<(), SubmissionError> {
    let read = plan::parse(&plan::untick_all_steps(text));
    read.map(drop)
        .map_err(|problem| SubmissionError(vec![problem.to_string()]))
}

/// Checks a review against the findings so far and returns its document.
///
/// # Errors
///
/// Returns an error when the review contradicts itself or the ledger, or leaves out an open finding.
pub fn build_review_document(
    given: &ReviewSubmission,
    ledger: &FindingLedger,
) -> Result<String, SubmissionError> {
    let findings = number_findings(&given.findings, ledger);
    let mut problems = number_problems(&findings, ledger);
    problems.extend(settling_problems(&findings, &given.settled, ledger));
    let silent = findings
        .iter()
        .filter(|(_, finding)| clean_to_one_line(&finding.text).is_empty());
    problems.extend(silent.map(|(n, _)| format!("finding {n} says nothing")));
    let blocking = findings
        .iter()
        .filter(|(_, finding)| finding.severity == FindingSeverity::Blocking);
    let blocking: Vec<String> = blocking.map(|(n, _)| n.to_string()).collect();
    if given.verdict == Verdict::Approved && !blocking.is_empty() {
        problems.push(format!(
            "an approval cannot stand beside blocking findings ({})",
            blocking.join(", ")
        ));
    }
    if !problems.is_empty() {
        return Err(SubmissionError(problems));
    }
    let document = match &given.document {
        Some(document) => document.clone(),
        None => render_review(given.verdict, &findings),
    };
    let document = append_settled_line(document, &given.settled);
    let mut problems = document_differences(&document, given.verdict, &findings, ledger);
    problems.extend(extra_settled_problem(&document, &given.settled));
    if problems.is_empty() {
        Ok(document)
    } else {
        Err(SubmissionError(problems))
    }
}

/// Checks answers to findings and returns their document. Every finding that waits for an answer must have one, and no
/// other finding may.
///
/// # Errors
///
/// Returns an error when an answer is missing, superfluous or empty.
pub fn build_answers_document(
    given: &[AnswerSubmission],
    ledger: &FindingLedger,
) -> Result<String, SubmissionError> {
    let waiting: BTreeSet<u32> = ledger
        .unanswered()
        .map(|finding| finding.remark.n)
        .collect();
    let open: BTreeSet<u32> = ledger.open().map(|finding| finding.remark.n).collect();
    let answered: BTreeSet<u32> = given.iter().map(|answer| answer.n).collect();
    let mut problems: Vec<String> = answered
        .difference(&open)
        .map(|n| format!("there is no open finding {n}"))
        .collect();
    if answered.len() != given.len() {
        problems.push("a finding is answered twice".to_owned());
    }
    let silent = given
        .iter()
        .filter(|answer| clean_to_one_line(&answer.reason).is_empty());
    problems
        .extend(silent.map(|answer| format!("the answer to finding {} gives no reason", answer.n)));
    let missing: Vec<String> = waiting.difference(&answered).map(u32::to_string).collect();
    if !missing.is_empty() {
        problems.push(format!("no answer to finding {}", missing.join(", ")));
    }
    if !problems.is_empty() {
        return Err(SubmissionError(problems));
    }
    let line = |answer: &AnswerSubmission| {
        let stand = match answer.disposition {
            FindingDisposition::Accepted => "accepted",
            FindingDisposition::Rejected => "rejected",
        };
        format!(
            "{}. {stand}: {}\n",
            answer.n,
            clean_to_one_line(&answer.reason)
        )
    };
    Ok(given.iter().map(line).collect())
}

type NumberedFindings<'a> = Vec<(u32, &'a FindingSubmission)>;

/// Gives new findings the numbers after the highest one that was used or given.
fn number_findings<'a>(
    findings: &'a [FindingSubmission],
    ledger: &FindingLedger,
) -> NumberedFindings<'a> {
    let given = findings.iter().filter_map(|finding| finding.n).max();
    let mut next = ledger.highest_number().max(given.unwrap_or(0));
    let number = |finding: &'a FindingSubmission| {
        let n = finding.n.unwrap_or_else(|| {
            next = next.saturating_add(1);
            next
        });
        (n, finding)
    };
    findings.iter().map(number).collect()
}

fn number_problems(findings: &NumberedFindings<'_>, ledger: &FindingLedger) -> Vec<String> {
    let mut problems = Vec::new();
    let mut seen = BTreeSet::new();
    for (n, _) in findings {
        if !seen.insert(*n) {
            problems.push(format!("finding {n} is stated twice"));
        }
        match ledger.get(*n).map(|finding| finding.status) {
            Some(FindingStatus::SettledByUser) => {
                problems.push(format!(
                    "the user settled finding {n}, it cannot be stated again"
                ));
            }
            None if *n <= ledger.highest_number() => {
                problems.push(format!(
                    "there was never a finding {n}; leave the number of a new one out"
                ));
            }
            Some(FindingStatus::Open | FindingStatus::SettledByReview) | None => {}
        }
    }
    problems
}

/// Checks that each open finding is either stated again or settled, and that nothing else is settled.
fn settling_problems(
    findings: &NumberedFindings<'_>,
    settled: &[u32],
    ledger: &FindingLedger,
) -> Vec<String> {
    let open: BTreeSet<u32> = ledger.open().map(|finding| finding.remark.n).collect();
    let stated: BTreeSet<u32> = findings.iter().map(|(n, _)| *n).collect();
    let settled: BTreeSet<u32> = settled.iter().copied().collect();
    let mut problems: Vec<String> = settled
        .difference(&open)
        .map(|n| format!("finding {n} is not open, so that it cannot be settled"))
        .collect();
    let both = settled.intersection(&stated);
    problems.extend(both.map(|n| format!("finding {n} is both stated and settled")));
    let dealt_with: BTreeSet<u32> = stated.union(&settled).copied().collect();
    let left_out = open.difference(&dealt_with);
    problems
        .extend(left_out.map(|n| format!("finding {n} is open and neither stated nor settled")));
    problems
}

/// Renders a review in the standard form.
fn render_review(verdict: Verdict, findings: &NumberedFindings<'_>) -> String {
    let mut text = format!("[{}]\n", verdict.as_str());
    for (n, finding) in findings {
        let anchor = clean_to_one_line(&finding.anchor);
        let about = match anchor.as_str() {
            "" => String::new(),
            anchor => format!("{anchor}: "),
        };
        let said = clean_to_one_line(&finding.text);
        text.push_str(&format!(
            "\n{n}. [{}] {about}{said}\n",
            finding.severity.as_str()
        ));
        for (name, more) in [
            ("Evidence", &finding.evidence),
            ("Instead", &finding.suggestion),
        ] {
            let more = more
                .as_deref()
                .map(clean_to_one_line)
                .filter(|more| !more.is_empty());
            if let Some(more) = more {
                text.push_str(&format!("   {name}: {more}\n"));
            }
        }
    }
    text
}

/// Returns the document, with a line that names the settled findings where it is missing.
fn append_settled_line(document: String, settled: &[u32]) -> String {
    let said = review::parse_settled_numbers(&document);
    if settled.iter().all(|n| said.contains(n)) {
        return document;
    }
    let numbers: Vec<String> = settled.iter().map(u32::to_string).collect();
    format!(
        "{}\n\nSettled: {}\n",
        document.trim_end(),
        join_or_none(&numbers)
    )
}

/// Returns what a document settles that the data does not.
fn extra_settled_problem(document: &str, settled: &[u32]) -> Option<String> {
    let mut said = review::parse_settled_numbers(document);
    said.retain(|n| !settled.contains(n));
    let said: Vec<String> = said.iter().map(u32::to_string).collect();
    let problem = || {
        format!(
            "the document settles {}, the data does not",
            join_or_none(&said)
        )
    };
    (!said.is_empty()).then(problem)
}

/// Returns how a document differs from the data submitted with it.
fn document_differences(
    document: &str,
    verdict: Verdict,
    findings: &NumberedFindings<'_>,
    ledger: &FindingLedger,
) -> Vec<String> {
    let read = review::parse(document, ledger);
    let mut problems = Vec::new();
    if !read.consistent {
        problems.push("the document contradicts itself: marker, status and findings".to_owned());
    }
    if read.verdict != verdict {
        problems.push(format!(
            "the document says {}, the data says {}",
            read.verdict.as_str(),
            verdict.as_str()
        ));
    }
    let said = |n: u32, severity: FindingSeverity| format!("{n} [{}]", severity.as_str());
    let of_text: Vec<String> = read
        .remarks
        .iter()
        .map(|remark| said(remark.n, remark.severity))
        .collect();
    let of_data: Vec<String> = findings
        .iter()
        .map(|(n, finding)| said(*n, finding.severity))
        .collect();
    if of_text.iter().collect::<BTreeSet<_>>() != of_data.iter().collect::<BTreeSet<_>>()
        || of_text.len() != of_data.len()
    {
        problems.push(format!(
            "the document has the findings {}, the data has {}",
            join_or_none(&of_text),
            join_or_none(&of_data)
        ));
    }
    problems
}

fn join_or_none(of: &[String]) -> String {
    match of {
        [] => "none".to_owned(),
        some => some.join(", "),
    }
}

#[cfg(test)]
mod tests;
