//! Turns the ledger of findings into the variables of prompts.

use crate::domain::findings::evidence::EvidenceCheck;
use crate::domain::findings::plan_blocks::BlockLabel;
use crate::domain::findings::{Finding, FindingDisposition, FindingStatus};
use crate::domain::run::RunState;
use crate::prompts::template_variables::{DisputedFinding, OpenFinding, SettledFinding};

/// Returns the findings that need a verdict or an answer, with the planner's last answers.
pub(super) fn open_findings(state: &RunState) -> Vec<OpenFinding> {
    state.findings.active().map(to_open_finding).collect()
}

/// Returns the findings that need no verdict.
pub(super) fn settled_findings(state: &RunState) -> Vec<SettledFinding> {
    let needs_verdict = |finding: &&Finding| finding.is_open() && !finding.record.is_waiting;
    let all = state.findings.all().iter();
    let others = all.filter(|finding| !needs_verdict(finding));
    others
        .map(|finding| SettledFinding {
            n: finding.remark.n,
            severity: finding.remark.severity.as_str().to_owned(),
            status: describe_status(finding).to_owned(),
            text: finding.remark.text.clone(),
        })
        .collect()
}

/// Returns the residual findings: those in the block of a step, or all.
pub(super) fn residual_findings(state: &RunState, step: Option<u32>) -> Vec<OpenFinding> {
    let label = step.map(BlockLabel::Step);
    let is_here = |finding: &&Finding| label.is_none() || finding.record.block == label;
    let residual = state.findings.residual().filter(is_here);
    residual.map(to_open_finding).collect()
}

/// Returns findings that are still open although an earlier review already had them without an answer.
pub(super) fn repeatedly_unanswered_findings(state: &RunState) -> Vec<u32> {
    let older =
        |finding: &&Finding| finding.raised_in < finding.last_in && finding.responses.is_empty();
    state
        .findings
        .active()
        .filter(older)
        .map(finding_number)
        .collect()
}

pub(super) fn finding_number(finding: &Finding) -> u32 {
    finding.remark.n
}

fn describe_status(finding: &Finding) -> &'static str {
    match finding.status {
        FindingStatus::Open => "waits until others are settled",
        FindingStatus::Fixed => "fixed",
        FindingStatus::Withdrawn => "withdrawn",
        FindingStatus::Rebutted => "rebutted",
        FindingStatus::DecidedByUser => "decided by the user",
        FindingStatus::Residual => "residual",
    }
}

fn to_open_finding(finding: &Finding) -> OpenFinding {
    let details = &finding.remark.details;
    let check = finding.record.evidence.as_ref().and_then(describe_check);
    OpenFinding {
        n: finding.remark.n,
        severity: finding.remark.severity.as_str().to_owned(),
        text: finding.remark.text.clone(),
        details: join_fields(&[
            ("Place", &details.place),
            ("Scenario", &details.scenario),
            ("Evidence", &details.evidence),
            ("Checked by the program", &check.unwrap_or_default()),
            ("Settled by", &details.resolution),
            ("Reviewer's last word", &finding.record.last_word),
            ("Reviewer's new evidence", new_evidence(finding)),
        ]),
        answer: describe_answer(finding),
        upheld: finding.record.is_upheld,
    }
}

fn new_evidence(finding: &Finding) -> &str {
    let newest = finding.record.new_evidence.as_ref();
    newest.map_or("", |newest| newest.text.as_str())
}

/// Returns the fields that are not empty, a line each.
fn join_fields(fields: &[(&str, &str)]) -> String {
    let given = fields.iter().filter(|(_, text)| !text.is_empty());
    let lines: Vec<String> = given
        .map(|(name, text)| format!("{name}: {text}"))
        .collect();
    lines.join("\n")
}

fn describe_check(check: &EvidenceCheck) -> Option<String> {
    match check {
        EvidenceCheck::Uncheckable => None,
        EvidenceCheck::Verified { found } => Some(format!("the evidence is true: {found}")),
        EvidenceCheck::Refuted { found } => Some(format!("the evidence is not true: {found}")),
    }
}

/// Returns the planner's last answer, and in brackets what the program found when it checked it.
fn describe_answer(finding: &Finding) -> Option<String> {
    let response = finding.last_response()?;
    let (disposition, found) = match (response.stand, &response.check) {
        (FindingDisposition::Rejected, check) => {
            ("rejected", check.as_ref().and_then(describe_check))
        }
        (
            FindingDisposition::Accepted,
            Some(EvidenceCheck::Verified { found } | EvidenceCheck::Refuted { found }),
        ) => ("accepted", Some(found.clone())),
        (FindingDisposition::Accepted, Some(EvidenceCheck::Uncheckable) | None) => {
            ("accepted", None)
        }
    };
    let checked = found.map_or_else(String::new, |found| {
        format!(" [checked by the program: {found}]")
    });
    Some(format!("{disposition}: {}{checked}", response.reason))
}

/// Returns the disputed findings with the words of both sides and what the program checked.
pub(super) fn disputed_findings(state: &RunState) -> Vec<DisputedFinding> {
    state.findings.disputed().map(to_disputed_finding).collect()
}

fn to_disputed_finding(finding: &Finding) -> DisputedFinding {
    let remark = &finding.remark;
    let details = &remark.details;
    let fields = join_fields(&[
        ("Place", &details.place),
        ("Scenario", &details.scenario),
        ("Evidence", &details.evidence),
        ("Settled by", &details.resolution),
        ("After the planner's answer", &finding.record.last_word),
        ("New evidence", new_evidence(finding)),
    ]);
    let response = finding.last_response();
    let answer = response.and_then(|response| response.check.as_ref());
    let newest = finding.record.new_evidence.as_ref();
    let checks = [
        ("reviewer", finding.record.evidence.as_ref()),
        (
            "reviewer's new evidence",
            newest.map(|newest| &newest.check),
        ),
        ("planner", answer),
    ];
    let checks: Vec<String> = checks
        .into_iter()
        .filter_map(|(who, check)| Some(format!("{who}: {}", describe_check(check?)?)))
        .collect();
    DisputedFinding {
        n: remark.n,
        severity: remark.severity.as_str().to_owned(),
        reviewer: format!("{}\n{fields}", remark.text).trim_end().to_owned(),
        planner: response.map_or_else(String::new, |response| response.reason.clone()),
        checks: checks.join("\n"),
    }
}
