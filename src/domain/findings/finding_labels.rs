//! Words findings for people: why each one is where it is, what the program found of its evidence, and how a review
//! ended.

use super::evidence::EvidenceCheck;
use super::{Finding, FindingDisposition, FindingRecord, FindingSeverity, FindingStatus};
use crate::domain::run::RunState;
use crate::domain::run_timeline::ReviewSpan;
use crate::text::{clean_to_one_line, pluralize};

impl EvidenceCheck {
    /// Describes the result for the user: `✓ found: src/a.rs:12`; `None` where there was nothing to check.
    pub fn describe(&self) -> Option<String> {
        match self {
            Self::Uncheckable => None,
            Self::Verified { found } => Some(format!("✓ checked: {}", clean_to_one_line(found))),
            Self::Refuted { found } => Some(format!("✗ not found: {}", clean_to_one_line(found))),
        }
    }

    /// Returns the sign of the result; `None` where there was nothing to check.
    pub fn symbol(&self) -> Option<&'static str> {
        match self {
            Self::Uncheckable => None,
            Self::Verified { .. } => Some("✓"),
            Self::Refuted { .. } => Some("✗"),
        }
    }
}

impl Finding {
    /// Describes the severity that the reviewer gave it, where it counts less: `blocking, counts as minor: evidence not
    /// found`. `None` where it counts as stated.
    pub fn describe_lowered_severity(&self) -> Option<String> {
        let stated = self.record.lowered_from?;
        let why = match &self.record.evidence {
            Some(EvidenceCheck::Refuted { .. }) => "evidence not found",
            Some(EvidenceCheck::Verified { .. } | EvidenceCheck::Uncheckable) | None => {
                "no evidence that can be checked"
            }
        };
        let counted = self.remark.severity.as_str();
        Some(format!("{}, counts as {counted}: {why}", stated.as_str()))
    }

    /// Returns what the program found of its evidence; `None` where nothing was checked.
    pub fn evidence_check(&self) -> Option<&EvidenceCheck> {
        let evidence = self.record.evidence.as_ref();
        evidence.filter(|check| check.symbol().is_some())
    }

    /// Describes the judgement of a fresh session in its dispute; `None` without one.
    pub fn describe_judgement(&self) -> Option<String> {
        let judgement = self.record.dispute.as_ref()?.judgement.as_ref()?;
        let side: &str = judgement.side.into();
        let reason = clean_to_one_line(&judgement.reason);
        Some(format!("a fresh session is for the {side}: {reason}"))
    }

    /// Describes it in one line: `4. [minor] text`, or `4. [blocking, counts as minor: evidence not found] text`.
    pub fn describe_in_line(&self) -> String {
        let remark = &self.remark;
        let text = clean_to_one_line(&remark.text);
        let lowered = self.describe_lowered_severity();
        let severity = lowered.as_deref().unwrap_or(remark.severity.as_str());
        format!("{}. [{severity}] {text}", remark.n)
    }

    /// Returns the severity that the reviewer gave it, also where it counts less.
    pub fn stated_severity(&self) -> FindingSeverity {
        self.record.lowered_from.unwrap_or(self.remark.severity)
    }

    /// Returns whether it needs nobody any more: neither open nor residual.
    pub fn is_settled(&self) -> bool {
        match self.status {
            FindingStatus::Open | FindingStatus::Residual => false,
            FindingStatus::Fixed
            | FindingStatus::Withdrawn
            | FindingStatus::Rebutted
            | FindingStatus::DecidedByUser => true,
        }
    }

    /// Returns why an open finding is open, where the bare word does not say it.
    pub(super) fn describe_open(&self) -> &'static str {
        match (self.current_disposition(), &self.record) {
            (_, record) if record.is_waiting => "waits until others are settled",
            (Some(FindingDisposition::Accepted), _) => "accepted, reviewer checks next",
            (Some(FindingDisposition::Rejected), _) => "rejected, reviewer checks next",
            (None, record) if record.is_upheld => "open, you decided for the reviewer",
            (None, record) if record.unproven_fix_in == Some(self.last_in) => {
                "open, called fixed without a quote of what changed"
            }
            (None, record) if record.reopened_in.is_some() => "open again, with new evidence",
            (None, _) => "open",
        }
    }
}

impl FindingRecord {
    /// Describes the evidence that came with the reviewer's last word, and what the program found of it; `None` without
    /// one.
    pub fn describe_new_evidence(&self) -> Option<String> {
        let newest = self.new_evidence.as_ref()?;
        let check = newest.check.describe();
        let check = check.map_or(String::new(), |check| format!(" ({check})"));
        Some(format!("{}{check}", clean_to_one_line(&newest.text)))
    }
}

impl RunState {
    /// Returns the last review of this goal; `None` before there is one.
    pub fn last_review(&self) -> Option<&ReviewSpan> {
        self.verdict.as_ref()?;
        self.course.reviews().last()
    }

    /// Says why the review of the plan ended: `settled in 3 reviews: 7 fixed, 1 rebutted, 2 residual`. `None` while it
    /// has not ended, and where there was none.
    pub fn describe_review_end(&self) -> Option<String> {
        let (verdict, approved) = (self.verdict.as_ref()?, self.approved_sha256.as_ref()?);
        let is_settled =
            verdict.value.is_approved() && !verdict.forced && verdict.plan_sha256 == *approved;
        let n_reviews = pluralize(usize::try_from(verdict.iteration).unwrap_or(0), "review");
        let how = match (is_settled, verdict.forced) {
            (true, _) => format!("settled in {n_reviews}"),
            (false, true) => format!("approved by you anyway after {n_reviews}"),
            (false, false) => format!("accepted by you after {n_reviews}"),
        };
        let counts = self.count_findings_of_goal();
        let counts: Vec<String> = counts
            .into_iter()
            .filter(|(_, n)| *n > 0)
            .map(|(word, n)| format!("{n} {word}"))
            .collect();
        Some(if counts.is_empty() {
            format!("{how}, without findings")
        } else {
            format!("{how}: {}", counts.join(", "))
        })
    }

    /// Counts the findings of this goal's reviews by what became of them, in the order in which they are named.
    fn count_findings_of_goal(&self) -> Vec<(&'static str, usize)> {
        const WORDS: [(FindingStatus, &str); 6] = [
            (FindingStatus::Fixed, "fixed"),
            (FindingStatus::Withdrawn, "withdrawn"),
            (FindingStatus::Rebutted, "rebutted"),
            (FindingStatus::DecidedByUser, "decided by you"),
            (FindingStatus::Residual, "residual"),
            (FindingStatus::Open, "open"),
        ];
        let earlier = self.findings.review_count().saturating_sub(self.iteration);
        let is_of_goal = |finding: &&Finding| finding.is_open() || finding.raised_in > earlier;
        let all: Vec<&Finding> = self.findings.all().iter().filter(is_of_goal).collect();
        let count = |status| all.iter().filter(|each| each.status == status).count();
        WORDS
            .into_iter()
            .map(|(status, word)| (word, count(status)))
            .collect()
    }
}
