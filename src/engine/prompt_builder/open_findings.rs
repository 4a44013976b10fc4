//! Lists the open findings for prompts, with the planner's last answers.

use crate::domain::findings::{Finding, FindingDisposition};
use crate::domain::run::RunState;
use crate::prompts::template_variables::OpenFinding;

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
