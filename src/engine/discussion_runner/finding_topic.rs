//! Describes a review finding to the participants of a discussion about it.
//!
//! The discussion does not settle the finding: its result is evidence for the reviewer and the user.

use super::discussion_planner::DiscussionStartError;
use super::discussion_request::DiscussionRequest;
use crate::domain::discussion::{FINDING_DOES_NOT_HOLD, FINDING_HOLDS, MAX_TOPIC_CHARS};
use crate::domain::findings::{Finding, FindingDisposition};
use crate::engine::run_context::RunContext;
use crate::text::truncate::to_chars;

/// Returns the topic together with the context of the finding that it is about.
pub(super) fn with_finding_context(
    run: &RunContext,
    n: u32,
    ask: &DiscussionRequest,
) -> Result<DiscussionRequest, DiscussionStartError> {
    let mut findings = run.state().findings.all().iter();
    let finding = findings
        .find(|finding| finding.remark.n == n)
        .ok_or(DiscussionStartError::NoSuchFinding(n))?;
    let mut ask = ask.clone();
    let said = &mut ask.arguments;
    if said.topic.trim().is_empty() {
        let text = &finding.remark.text;
        let topic = format!(
            "Is finding {n} of the review right? Options: `{FINDING_HOLDS}`, with what must change in the plan, or \
             `{FINDING_DOES_NOT_HOLD}`. The finding says: {text}"
        );
        said.topic = to_chars(&topic, MAX_TOPIC_CHARS);
    }
    let layout = run.journal.layout();
    let path = |path: std::path::PathBuf| {
        let root = &run.setup.root;
        path.strip_prefix(root)
            .unwrap_or(&path)
            .display()
            .to_string()
    };
    let mut context = format!(
        "The plan is in {}, its review in {}.\n{}",
        path(layout.plan()),
        path(layout.comments()),
        describe_finding(finding)
    );
    if let Some(more) = &said.context {
        context = format!("{context}\n\n{more}");
    }
    said.context = Some(context);
    Ok(ask)
}

/// Describes a finding with all answers of the planner.
fn describe_finding(finding: &Finding) -> String {
    let remark = &finding.remark;
    let mut text = format!(
        "Finding {} ({}): {}",
        remark.n,
        remark.severity.as_str(),
        remark.text
    );
    for (review, response) in &finding.responses {
        let stand = match response.stand {
            FindingDisposition::Accepted => "accepted",
            FindingDisposition::Rejected => "rejected",
        };
        text.push_str(&format!(
            "\nThe planner {stand} it after review {review}: {}",
            response.reason
        ));
    }
    text
}
