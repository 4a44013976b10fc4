//! Builds the tables of the page as rows of text, and labels for steps and findings, for both formats of the page.

use crate::domain::findings::evidence::EvidenceCheck;
use crate::domain::findings::{Finding, FindingDisposition};
use crate::domain::plan_execution::{StepAssessment, StepOutcome, StepRecord};
use crate::domain::turn::Role;
use crate::text::clean_to_one_line;
use crate::text::format_duration;

use super::ExportPage;

/// A table; each cell is one line and not escaped.
#[derive(Debug, PartialEq, Eq)]
pub struct SummaryTable {
    pub head: Vec<&'static str>,
    /// One cell per column in each row.
    pub rows: Vec<Vec<String>>,
}

/// Returns the table of all reviews with their verdicts.
pub fn reviews_table(page: &ExportPage) -> SummaryTable {
    let row = |review: &crate::domain::run_timeline::ReviewSpan| {
        let verdict = review.verdict;
        vec![
            review.review.to_string(),
            page.format_time(review.at),
            format!("{} {}", verdict.symbol(), verdict.label()),
            review.n_open.to_string(),
            review.n_new.to_string(),
            review.n_settled.to_string(),
            review.describe_unopened().unwrap_or_default(),
        ]
    };
    let mut table = SummaryTable {
        head: vec![
            "review", "at", "verdict", "open", "new", "resolved", "reviewer",
        ],
        rows: page.state.course.reviews().iter().map(row).collect(),
    };
    let is_told = |row: &Vec<String>| row.last().is_some_and(|unopened| !unopened.is_empty());
    if !table.rows.iter().any(is_told) {
        table.head.pop();
        for row in &mut table.rows {
            row.pop();
        }
    }
    table
}

/// Returns the table of turns, time, tokens and cost of each role.
pub fn totals_table(page: &ExportPage) -> SummaryTable {
    let course = &page.state.course;
    let row = |role: Role| {
        let session = page.state.session(role)?;
        let used = course.role_usage(role);
        let cost = used.cost_micro_usd.filter(|micro| *micro > 0);
        let cost = cost.map_or(String::new(), |micro| {
            format!("${}.{:02}", micro / 1_000_000, micro / 10_000 % 100)
        });
        let cli = session.version.as_deref().unwrap_or(&session.adapter);
        Some(vec![
            role.name().to_owned(),
            clean_to_one_line(cli),
            course.turn_count(role).to_string(),
            format_duration(course.work_millis(role, page.last_activity())),
            used.input_tokens.to_string(),
            used.output_tokens.to_string(),
            cost,
        ])
    };
    let head = [
        "",
        "CLI",
        "turns",
        "worked",
        "tokens in",
        "tokens out",
        "cost",
    ];
    SummaryTable {
        head: head.into(),
        rows: [Role::Planner, Role::Reviewer]
            .into_iter()
            .filter_map(row)
            .collect(),
    }
}

/// Returns the short commit of a step, or the reason why there is none.
pub fn commit_or_reason(record: &StepRecord) -> Result<String, String> {
    match &record.outcome {
        StepOutcome::Committed { commit, .. } => Ok(commit.chars().take(12).collect()),
        StepOutcome::Uncommitted { reason } => {
            Err(format!("not committed: {}", clean_to_one_line(reason)))
        }
        StepOutcome::NoChange => Err(StepAssessment::CHANGED_NOTHING.to_owned()),
    }
}

/// Describes the tests of a step; `None` if the step changed nothing.
pub fn test_label(record: &StepRecord) -> Option<String> {
    (record.assessment() != StepAssessment::Unchanged)
        .then(|| clean_to_one_line(&record.describe_tests()))
}

/// Returns the status of a finding with its symbol.
pub fn finding_status_label(finding: &Finding) -> String {
    format!("{} {}", finding.status_symbol(), finding.describe_status())
}

/// Returns what the program found of a finding and what else was said of it, each as a heading with its text.
pub fn finding_facts(finding: &Finding) -> Vec<(&'static str, String)> {
    let facts = [
        ("severity", finding.describe_lowered_severity()),
        (
            "place",
            finding.record.block.as_ref().map(ToString::to_string),
        ),
        (
            "evidence",
            finding.evidence_check().and_then(EvidenceCheck::describe),
        ),
        ("reviewer", Some(finding.record.last_word.clone())),
        ("new evidence", finding.record.describe_new_evidence()),
        ("dispute", finding.describe_judgement()),
    ];
    let facts = facts.into_iter();
    let facts = facts.filter_map(|(head, text)| Some((head, clean_to_one_line(&text?))));
    facts.filter(|(_, text)| !text.is_empty()).collect()
}

/// Returns the planner's answers to a finding, each as a heading with its reason.
pub fn planner_answers(finding: &Finding) -> impl Iterator<Item = (String, &str)> {
    finding.responses.iter().map(|(review, response)| {
        let check = response.check.as_ref().and_then(EvidenceCheck::describe);
        let check = check.map_or(String::new(), |check| format!(" ({check})"));
        let stand = match response.stand {
            FindingDisposition::Accepted => "accepted",
            FindingDisposition::Rejected => "rejected",
        };
        let head = format!("{stand} after review {review}{check}");
        (head, response.reason.as_str())
    })
}
