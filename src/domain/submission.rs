//! Documents that agents hand in as data: checked before they count, and written as the texts that they stand for.
//!
//! Fails closed: data and text must say the same, every open finding must be dealt with, and what is written here must
//! read back as what was given. Refuses to know how a submission came in.

use std::collections::BTreeSet;

use thiserror::Error;

use super::findings::{Findings, Severity, Stand, Status};
use super::plan;
use super::review::{self, Verdict};
use crate::text::clean_to_one_line;

/// Why a submission does not count; it names everything that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("nothing was taken: {}", .0.join("; "))]
pub struct Refused(Vec<String>);

/// A review as it is handed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenReview {
    /// Its verdict.
    pub verdict: Verdict,
    /// What it states: new findings, and earlier ones that stay open.
    pub findings: Vec<GivenFinding>,
    /// The open findings that it settles.
    pub settled: Vec<u32>,
    /// The same in the reviewer's own words; where there is none it is written from the data.
    pub document: Option<String>,
}

/// One finding as it is handed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenFinding {
    /// Its number; a new finding may leave it to the program.
    pub n: Option<u32>,
    /// Its weight.
    pub severity: Severity,
    /// What of the plan it is about, such as `step 2`; empty for the whole.
    pub anchor: String,
    /// What is wrong, in one sentence.
    pub text: String,
    /// What shows it.
    pub evidence: Option<String>,
    /// What would settle it.
    pub instead: Option<String>,
}

/// The planner's answer to a finding as it is handed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenAnswer {
    /// The finding.
    pub n: u32,
    /// Whether the planner follows it.
    pub stand: Stand,
    /// Why, or what was done.
    pub reason: String,
}

/// Checks a plan: it has numbered boxes, each with a number of its own.
///
/// # Errors
/// It is no plan.
pub fn plan(text: &str) -> Result<(), Refused> {
    let read = plan::parse(&plan::untick_all(text));
    read.map(drop)
        .map_err(|problem| Refused(vec![problem.to_string()]))
}

/// Checks a review against the findings so far and gives its document.
///
/// # Errors
/// It contradicts itself or the ledger, or leaves an open finding out.
pub fn review(given: &GivenReview, ledger: &Findings) -> Result<String, Refused> {
    let findings = numbered(&given.findings, ledger);
    let mut problems = number_problems(&findings, ledger);
    problems.extend(settling_problems(&findings, &given.settled, ledger));
    let silent = findings
        .iter()
        .filter(|(_, finding)| clean_to_one_line(&finding.text).is_empty());
    problems.extend(silent.map(|(n, _)| format!("finding {n} says nothing")));
    let blocking = findings
        .iter()
        .filter(|(_, finding)| finding.severity == Severity::Blocking);
    let blocking: Vec<String> = blocking.map(|(n, _)| n.to_string()).collect();
    if given.verdict == Verdict::Approved && !blocking.is_empty() {
        problems.push(format!(
            "an approval cannot stand beside blocking findings ({})",
            blocking.join(", ")
        ));
    }
    if !problems.is_empty() {
        return Err(Refused(problems));
    }
    let document = match &given.document {
        Some(document) => document.clone(),
        None => written(given.verdict, &findings),
    };
    let document = with_settled(document, &given.settled);
    let mut problems = differences(&document, given.verdict, &findings, ledger);
    problems.extend(settled_besides(&document, &given.settled));
    match problems.is_empty() {
        true => Ok(document),
        false => Err(Refused(problems)),
    }
}

/// Checks answers to findings and gives their document: every finding that waits for one has one, and no other.
///
/// # Errors
/// An answer is missing, is one too many, or says nothing.
pub fn answers(given: &[GivenAnswer], ledger: &Findings) -> Result<String, Refused> {
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
        return Err(Refused(problems));
    }
    let line = |answer: &GivenAnswer| {
        let stand = match answer.stand {
            Stand::Accepted => "accepted",
            Stand::Rejected => "rejected",
        };
        format!(
            "{}. {stand}: {}\n",
            answer.n,
            clean_to_one_line(&answer.reason)
        )
    };
    Ok(given.iter().map(line).collect())
}

type Numbered<'a> = Vec<(u32, &'a GivenFinding)>;

/// Gives new findings the numbers after the highest that was used or given.
fn numbered<'a>(findings: &'a [GivenFinding], ledger: &Findings) -> Numbered<'a> {
    let given = findings.iter().filter_map(|finding| finding.n).max();
    let mut next = ledger.highest().max(given.unwrap_or(0));
    let number = |finding: &'a GivenFinding| {
        let n = finding.n.unwrap_or_else(|| {
            next = next.saturating_add(1);
            next
        });
        (n, finding)
    };
    findings.iter().map(number).collect()
}

fn number_problems(findings: &Numbered<'_>, ledger: &Findings) -> Vec<String> {
    let mut problems = Vec::new();
    let mut seen = BTreeSet::new();
    for (n, _) in findings {
        if !seen.insert(*n) {
            problems.push(format!("finding {n} is stated twice"));
        }
        match ledger.get(*n).map(|finding| finding.status) {
            Some(Status::SettledByUser) => {
                problems.push(format!(
                    "the user settled finding {n}, it cannot be stated again"
                ));
            }
            None if *n <= ledger.highest() => {
                problems.push(format!(
                    "there was never a finding {n}; leave the number of a new one out"
                ));
            }
            Some(Status::Open | Status::SettledByReview) | None => {}
        }
    }
    problems
}

/// Each open finding is either stated again or settled, and nothing else is settled.
fn settling_problems(findings: &Numbered<'_>, settled: &[u32], ledger: &Findings) -> Vec<String> {
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

/// The review as its form has it.
fn written(verdict: Verdict, findings: &Numbered<'_>) -> String {
    let mut text = format!("[{}]\n", verdict.word());
    for (n, finding) in findings {
        let anchor = clean_to_one_line(&finding.anchor);
        let about = match anchor.as_str() {
            "" => String::new(),
            anchor => format!("{anchor}: "),
        };
        let said = clean_to_one_line(&finding.text);
        text.push_str(&format!(
            "\n{n}. [{}] {about}{said}\n",
            finding.severity.word()
        ));
        for (name, more) in [
            ("Evidence", &finding.evidence),
            ("Instead", &finding.instead),
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

/// The document with the line that names the settled findings, where it lacks it.
fn with_settled(document: String, settled: &[u32]) -> String {
    let said = review::settled_of(&document);
    if settled.iter().all(|n| said.contains(n)) {
        return document;
    }
    let numbers: Vec<String> = settled.iter().map(u32::to_string).collect();
    format!("{}\n\nSettled: {}\n", document.trim_end(), listed(&numbers))
}

/// What a document settles that the data does not.
fn settled_besides(document: &str, settled: &[u32]) -> Option<String> {
    let mut said = review::settled_of(document);
    said.retain(|n| !settled.contains(n));
    let said: Vec<String> = said.iter().map(u32::to_string).collect();
    let problem = || format!("the document settles {}, the data does not", listed(&said));
    (!said.is_empty()).then(problem)
}

/// What a document says otherwise than the data beside it.
fn differences(
    document: &str,
    verdict: Verdict,
    findings: &Numbered<'_>,
    ledger: &Findings,
) -> Vec<String> {
    let read = review::read(document, ledger);
    let mut problems = Vec::new();
    if !read.consistent {
        problems.push("the document contradicts itself: marker, status and findings".to_owned());
    }
    if read.verdict != verdict {
        problems.push(format!(
            "the document says {}, the data says {}",
            read.verdict.word(),
            verdict.word()
        ));
    }
    let said = |n: u32, severity: Severity| format!("{n} [{}]", severity.word());
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
            listed(&of_text),
            listed(&of_data)
        ));
    }
    problems
}

fn listed(of: &[String]) -> String {
    match of {
        [] => "none".to_owned(),
        some => some.join(", "),
    }
}

#[cfg(test)]
mod tests;
