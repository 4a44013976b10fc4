//! Words reviews, and the answers to them.

use std::collections::BTreeSet;

use super::{DetailLine, EventTone, EventWording, by_role};
use crate::domain::event::Event;
use crate::domain::findings::{
    DisputeJudgement, FindingDisposition, FindingOutcome, FindingResponse,
};
use crate::domain::review::{FindingVerdict, ReviewDocument, Verdict, VerdictKind};
use crate::domain::run_timeline::UnopenedFiles;
use crate::domain::turn::Role;
use crate::text::{clean_to_one_line, pluralize};

/// Describes the verdict and the number of findings: `approved, 1 finding`; of a later review `changes required, 1
/// stands, 0 new findings`.
pub fn describe_verdict(review: &ReviewDocument) -> String {
    let doubt = if review.consistent {
        ""
    } else {
        " (marker and text disagree)"
    };
    let n_remarks = review.remarks.len();
    let verdict = review.verdict.label();
    if review.verdicts.is_empty() {
        return format!("{verdict}{doubt}, {}", pluralize(n_remarks, "finding"));
    }
    let verdicts = review.verdicts.iter();
    let n_standing = verdicts
        .filter(|verdict| verdict.kind == VerdictKind::Stands)
        .count();
    let standing = match n_standing {
        0 => String::new(),
        n => format!(", {n} open"),
    };
    let new = pluralize(n_remarks, "new finding");
    format!("{verdict}{doubt}{standing}, {new}")
}

pub(super) fn describe_judgement(judgement: &DisputeJudgement) -> String {
    let side: &str = judgement.side.into();
    format!("{}. the {side} is right: {}", judgement.n, judgement.reason)
}

/// Which findings the planner rejects in its last answers: a review that takes one of them back agrees to that.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RejectedFindings(BTreeSet<u32>);

impl RejectedFindings {
    /// Remembers the planner's answers.
    pub fn on_event(&mut self, event: &Event) {
        match event {
            // The numbers start again.
            Event::RunCreated(_) | Event::GoalConfirmed { .. } => self.0.clear(),
            Event::ResponseCommitted { responses, .. } => self.note(responses),
            _ => {}
        }
    }

    fn note(&mut self, responses: &[FindingResponse]) {
        for response in responses {
            match response.stand {
                FindingDisposition::Accepted => self.0.remove(&response.n),
                FindingDisposition::Rejected => self.0.insert(response.n),
            };
        }
    }

    /// Returns what a review says became of an earlier finding.
    fn outcome(&self, verdict: &FindingVerdict) -> FindingOutcome {
        match verdict.kind {
            VerdictKind::Stands => FindingOutcome::Open,
            VerdictKind::Fixed => FindingOutcome::Fixed,
            VerdictKind::Withdrawn if self.0.contains(&verdict.n) => FindingOutcome::Rejected,
            VerdictKind::Withdrawn => FindingOutcome::Withdrawn,
        }
    }
}

/// Words a review that follows the answers in `rejected`.
pub fn word_review(review: &ReviewDocument, rejected: &RejectedFindings) -> EventWording {
    let tone = match review.verdict {
        Verdict::Approved => EventTone::Good,
        Verdict::ChangesRequired => EventTone::Plain,
    };
    let facts = review.facts.as_ref();
    let findings = review.remarks.iter().enumerate().map(|(at, remark)| {
        let text = clean_to_one_line(&remark.text);
        let evidence = facts.and_then(|facts| facts.remarks.get(at)?.evidence.symbol());
        let evidence = evidence.map_or(String::new(), |symbol| format!("{symbol} evidence"));
        DetailLine {
            number: Some(remark.n),
            severity: Some(remark.severity),
            outcome: None,
            text,
            evidence,
        }
    });
    let verdicts = review.verdicts.iter().map(|verdict| DetailLine {
        number: Some(verdict.n),
        outcome: Some(rejected.outcome(verdict)),
        ..DetailLine::from(clean_to_one_line(&verdict.detail))
    });
    let unopened = facts
        .and_then(|facts| facts.unopened.clone())
        .and_then(|files| UnopenedFiles::Files(files).describe())
        .map(|unopened| format!("The reviewer {unopened}"));
    let doubt = (!review.consistent)
        .then(|| "Its verdict and findings disagree, so it counts as changes required".to_owned());
    let text = format!("Review: {}", describe_verdict(review));
    let notes = doubt.into_iter().chain(unopened).map(DetailLine::from);
    by_role(Role::Reviewer, tone, text).with_detail(verdicts.chain(findings).chain(notes))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::findings::FindingLedger;
    use crate::domain::review;

    #[test]
    fn a_rejected_finding_that_the_reviewer_takes_back_is_called_rejected() {
        let text = "[APPROVED]\n\n1. withdrawn: it is so\n2. withdrawn: fast enough\n";
        let review = review::parse(text, &FindingLedger::default());
        let mut rejected = RejectedFindings::default();
        let responses = [
            (1, FindingDisposition::Rejected),
            (2, FindingDisposition::Accepted),
        ]
        .map(|(n, stand)| FindingResponse {
            n,
            stand,
            reason: String::new(),
            check: None,
        });
        rejected.0.extend([2]);
        rejected.note(&responses);
        let lines = word_review(&review, &rejected).detail;
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        assert_eq!(
            lines,
            ["#1 rejected: it is so", "#2 withdrawn: fast enough"]
        );
    }

    #[test]
    fn a_later_review_says_how_many_findings_stand_and_how_many_are_new() {
        let describe = |text| describe_verdict(&review::parse(text, &FindingLedger::default()));
        assert_eq!(
            describe("[CHANGES_REQUIRED]\n\n1. [major] No test.\n"),
            "changes required, 1 finding"
        );
        assert_eq!(
            describe("[CHANGES_REQUIRED]\n\n1. fixed: now\n2. stands: no test\n3. [minor] Long.\n"),
            "changes required, 1 open, 1 new finding"
        );
        assert_eq!(
            describe("[APPROVED]\n\n1. fixed: now\n"),
            "approved, 0 new findings"
        );
    }
}
