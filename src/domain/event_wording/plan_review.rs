//! Words reviews, and the answers to them.

use super::{EventTone, EventWording, by_role};
use crate::domain::findings::DisputeJudgement;
use crate::domain::review::{ReviewDocument, Verdict};
use crate::domain::run_timeline::UnopenedFiles;
use crate::domain::turn::Role;
use crate::text::{clean_to_one_line, pluralize};

/// Describes the verdict and the number of findings: `approved, 1 finding`.
pub fn describe_verdict(review: &ReviewDocument) -> String {
    let doubt = if review.consistent {
        ""
    } else {
        " (marker and text disagree)"
    };
    let findings = pluralize(review.remarks.len(), "finding");
    format!("{}{doubt}, {findings}", review.verdict.label())
}

pub(super) fn describe_judgement(judgement: &DisputeJudgement) -> String {
    let side: &str = judgement.side.into();
    format!("{}. the {side} is right: {}", judgement.n, judgement.reason)
}

pub(super) fn word_review(review: &ReviewDocument) -> EventWording {
    let tone = match review.verdict {
        Verdict::Approved => EventTone::Good,
        Verdict::ChangesRequired => EventTone::Plain,
    };
    let facts = review.facts.as_ref();
    let findings = review.remarks.iter().enumerate().map(|(at, remark)| {
        let text = clean_to_one_line(&remark.text);
        let evidence = facts.and_then(|facts| facts.remarks.get(at)?.evidence.symbol());
        let evidence = evidence.map_or(String::new(), |symbol| format!(" {symbol} evidence"));
        format!(
            "{}. [{}] {text}{evidence}",
            remark.n,
            remark.severity.as_str()
        )
    });
    let verdicts = review.verdicts.iter().map(|verdict| {
        let kind: &str = verdict.kind.into();
        let detail = match clean_to_one_line(&verdict.detail) {
            empty if empty.is_empty() => String::new(),
            detail => format!(": {detail}"),
        };
        format!("{}. {kind}{detail}", verdict.n)
    });
    let unopened = facts
        .and_then(|facts| facts.unopened.clone())
        .and_then(|files| UnopenedFiles::Files(files).describe());
    let doubt = (!review.consistent)
        .then(|| "Its verdict and findings disagree, so it counts as changes required".to_owned());
    let text = format!("Review: {}", describe_verdict(review));
    by_role(Role::Reviewer, tone, text)
        .with_detail(verdicts.chain(findings).chain(doubt).chain(unopened))
}

pub(super) fn describe_response(
    n_responses: usize,
    unanswered: &[u32],
    is_changed: bool,
) -> String {
    let plan = if is_changed {
        "plan changed"
    } else {
        "plan unchanged"
    };
    let left: Vec<String> = unanswered.iter().map(u32::to_string).collect();
    let left = match left.as_slice() {
        [] => String::new(),
        left => format!(", unanswered: {}", left.join(", ")),
    };
    format!(
        "{} answered, {plan}{left}",
        pluralize(n_responses, "finding")
    )
}
