//! Checks documents that agents submit as data, and writes them as the texts that they stand for.
//!
//! It fails closed: data and text must say the same, every open finding must be dealt with, and the written text must
//! parse back to the submitted data.

use std::collections::BTreeSet;

use thiserror::Error;

use super::findings::{
    FindingDisposition, FindingLedger, FindingSeverity, RemarkDetails, ReviewBar,
};
use super::plan;
use super::plan_thread::PlanThreads;
use super::review::{self, FindingVerdict, THREADS_HEADING, Verdict, VerdictKind};
use crate::text::clean_to_one_line;

/// Why a submission does not count; it lists every problem.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("nothing was accepted: {}", .0.join("; "))]
pub struct SubmissionError(Vec<String>);

/// A review that an agent submitted by a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewSubmission {
    pub verdict: Verdict,
    /// What it says of each open finding.
    pub verdicts: Vec<FindingVerdict>,
    /// New findings.
    pub findings: Vec<FindingSubmission>,
    /// Anything else, in the reviewer's own words.
    pub notes: Option<String>,
}

/// A submitted new finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingSubmission {
    pub severity: FindingSeverity,
    /// What is wrong, in one sentence.
    pub text: String,
    pub details: RemarkDetails,
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

/// A submitted message in a thread about the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadSubmission {
    /// The thread; `None` opens one at the place.
    pub thread: Option<u32>,
    pub place: String,
    pub text: String,
}

/// Checks messages in threads and returns their section of the document; empty without one.
///
/// # Errors
///
/// Returns an error for a thread that does not exist, for neither a thread nor a place, and for one without a text.
pub fn build_threads_section(
    given: &[ThreadSubmission],
    threads: &PlanThreads,
) -> Result<String, SubmissionError> {
    let heading = |message: &ThreadSubmission| match message.thread {
        Some(n) => n.to_string(),
        None => clean_to_one_line(&message.place),
    };
    let problem = |message: &ThreadSubmission| match message.thread {
        Some(n) if threads.get(n).is_none() => Some(format!("there is no thread {n}")),
        None if heading(message).is_empty() => {
            Some("a message names neither a thread nor a place".to_owned())
        }
        _ if clean_to_one_line(&message.text).is_empty() => Some(format!(
            "the message in thread {} says nothing",
            heading(message)
        )),
        _ => None,
    };
    let problems: Vec<String> = given.iter().filter_map(problem).collect();
    if !problems.is_empty() {
        return Err(SubmissionError(problems));
    }
    let render = |message: &ThreadSubmission| {
        let text = clean_to_one_line(&message.text);
        format!("\n### {}\n- {text}\n", heading(message))
    };
    let sections: String = given.iter().map(render).collect();
    Ok(if sections.is_empty() {
        sections
    } else {
        format!("\n{THREADS_HEADING}\n{sections}")
    })
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

/// Checks a review against the findings so far and returns its document. `bar` says which new findings hold the plan up.
///
/// # Errors
///
/// Returns an error when the review contradicts itself or the ledger, or leaves out an open finding.
pub fn build_review_document(
    given: &ReviewSubmission,
    ledger: &FindingLedger,
    bar: ReviewBar,
) -> Result<String, SubmissionError> {
    let mut problems = verdict_problems(given, ledger, bar);
    let silent = (given.findings.iter().enumerate())
        .filter(|(_, finding)| clean_to_one_line(&finding.text).is_empty());
    problems.extend(silent.map(|(at, _)| format!("new finding {} says nothing", at + 1)));
    if !problems.is_empty() {
        return Err(SubmissionError(problems));
    }
    let document = render_review(given, ledger.highest_number());
    let read = review::parse(&document, ledger);
    let is_same = read.marker == Some(given.verdict)
        && !read.is_ambiguous
        && read.remarks.len() == given.findings.len()
        && read.verdicts.len() == given.verdicts.len();
    if is_same {
        return Ok(document);
    }
    Err(SubmissionError(vec![
        "the notes have a line that reads as a verdict, a finding or an answer; say it in the fields"
            .to_owned(),
    ]))
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
        let stand: &str = answer.disposition.into();
        format!(
            "{}. {stand}: {}\n",
            answer.n,
            clean_to_one_line(&answer.reason)
        )
    };
    Ok(given.iter().map(line).collect())
}

/// Checks that each finding that is being worked on has exactly one verdict, and that nothing else has one.
fn verdict_problems(
    given: &ReviewSubmission,
    ledger: &FindingLedger,
    bar: ReviewBar,
) -> Vec<String> {
    let open: BTreeSet<u32> = ledger.open().map(|finding| finding.remark.n).collect();
    let active: BTreeSet<u32> = ledger.active().map(|finding| finding.remark.n).collect();
    let stated: BTreeSet<u32> = given.verdicts.iter().map(|verdict| verdict.n).collect();
    let mut problems: Vec<String> = stated
        .difference(&open)
        .map(|n| format!("finding {n} is not open"))
        .collect();
    if stated.len() != given.verdicts.len() {
        problems.push("a finding has two verdicts".to_owned());
    }
    let silent = given
        .verdicts
        .iter()
        .filter(|verdict| clean_to_one_line(&verdict.detail).is_empty());
    problems.extend(silent.map(|verdict| {
        let kind: &str = verdict.kind.into();
        format!("finding {}: `{kind}` says nothing", verdict.n)
    }));
    let left_out = active.difference(&stated);
    problems.extend(
        left_out.map(|n| {
            format!("finding {n} is open: say whether it is fixed, stands or is withdrawn")
        }),
    );
    let verdicts = given.verdicts.iter();
    let holding = verdicts.filter(|verdict| {
        let finding = ledger.get(verdict.n);
        verdict.kind == VerdictKind::Stands && finding.is_some_and(|finding| finding.holds())
    });
    let mut holding: Vec<String> = holding.map(|verdict| verdict.n.to_string()).collect();
    // Later a new finding may be residual, which is known once its place and its evidence are checked.
    let can_hold =
        |finding: &&FindingSubmission| bar == ReviewBar::Anything && finding.severity.can_hold();
    let new = given.findings.iter();
    holding.extend(
        new.filter(can_hold)
            .map(|finding| format!("new: {}", clean_to_one_line(&finding.text))),
    );
    if given.verdict == Verdict::Approved && !holding.is_empty() {
        problems.push(format!(
            "an approval cannot stand beside blocking or major findings ({})",
            holding.join(", ")
        ));
    }
    problems
}

/// Renders a review in the form in which it is read again.
fn render_review(given: &ReviewSubmission, highest: u32) -> String {
    let mut text = format!("[{}]\n", given.verdict.as_str());
    for verdict in &given.verdicts {
        let kind: &str = verdict.kind.into();
        let detail = clean_to_one_line(&verdict.detail);
        text.push_str(&format!("\n{}. {kind}: {detail}\n", verdict.n));
        text.push_str(&render_field("Evidence", &verdict.evidence));
    }
    for (n, finding) in (highest.saturating_add(1)..).zip(&given.findings) {
        let said = clean_to_one_line(&finding.text);
        text.push_str(&format!("\n{n}. [{}] {said}\n", finding.severity.as_str()));
        let details = &finding.details;
        for (name, more) in [
            ("Place", &details.place),
            ("Scenario", &details.scenario),
            ("Evidence", &details.evidence),
            ("Settled by", &details.resolution),
        ] {
            text.push_str(&render_field(name, more));
        }
    }
    if let Some(notes) = &given.notes {
        text.push_str(&format!("\n## Notes\n\n{}\n", notes.trim()));
    }
    text
}

fn render_field(name: &str, text: &str) -> String {
    match clean_to_one_line(text).as_str() {
        "" => String::new(),
        text => format!("   {name}: {text}\n"),
    }
}

#[cfg(test)]
mod tests;
