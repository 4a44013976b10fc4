//! Lists the open findings for prompts, with the planner's last answers.

use crate::domain::findings::evidence::EvidenceCheck;
use crate::domain::findings::{Finding, FindingDisposition};
use crate::domain::run::RunState;
use crate::prompts::template_variables::{DisputedFinding, OpenFinding};

/// Returns the open findings with the planner's last answers.
pub(super) fn open_findings(state: &RunState) -> Vec<OpenFinding> {
    state.findings.open().map(to_open_finding).collect()
}

/// Returns findings that are still open although an earlier review already had them without an answer.
pub(super) fn repeatedly_unanswered_findings(state: &RunState) -> Vec<u32> {
    let older =
        |finding: &&Finding| finding.raised_in < finding.last_in && finding.responses.is_empty();
    state
        .findings
        .open()
        .filter(older)
        .map(finding_number)
        .collect()
}

pub(super) fn finding_number(finding: &Finding) -> u32 {
    finding.remark.n
}

fn to_open_finding(finding: &Finding) -> OpenFinding {
    OpenFinding {
        n: finding.remark.n,
        severity: finding.remark.severity.as_str().to_owned(),
        text: finding.remark.text.clone(),
        answer: finding.responses.last().map(|(_, response)| {
            let disposition = match response.stand {
                FindingDisposition::Accepted => "accepted",
                FindingDisposition::Rejected => "rejected",
            };
            format!("{disposition}: {}", response.reason)
        }),
    }
}

/// Returns the disputed findings with the words of both sides and what the program checked.
pub(super) fn disputed_findings(state: &RunState) -> Vec<DisputedFinding> {
    state.findings.disputed().map(to_disputed_finding).collect()
}

fn to_disputed_finding(finding: &Finding) -> DisputedFinding {
    let remark = &finding.remark;
    let details = &remark.details;
    let mut reviewer = remark.text.clone();
    for (name, text) in [
        ("Place", &details.place),
        ("Scenario", &details.scenario),
        ("Evidence", &details.evidence),
        ("Would settle it", &details.resolution),
        ("After the planner's answer", &finding.record.last_word),
    ] {
        if !text.is_empty() {
            reviewer.push_str(&format!("\n{name}: {text}"));
        }
    }
    let response = finding.last_response();
    let own = finding.record.evidence.as_ref();
    let answer = response.and_then(|response| response.check.as_ref());
    let checks = [("reviewer", own), ("planner", answer)];
    let checks: Vec<String> = checks
        .into_iter()
        .filter_map(|(who, check)| match check? {
            EvidenceCheck::Uncheckable => None,
            EvidenceCheck::Verified { found } => {
                Some(format!("the {who}'s evidence is there: {found}"))
            }
            EvidenceCheck::Refuted { found } => {
                Some(format!("the {who}'s evidence is not there: {found}"))
            }
        })
        .collect();
    DisputedFinding {
        n: remark.n,
        severity: remark.severity.as_str().to_owned(),
        reviewer,
        planner: response.map_or_else(String::new, |response| response.reason.clone()),
        checks: checks.join("\n"),
    }
}
