//! Words findings for people: why each one is where it is, what the program found of its evidence, and how many are
//! settled in which way.

use super::evidence::EvidenceCheck;
use super::{
    Finding, FindingDisposition, FindingLedger, FindingRecord, FindingSeverity, FindingStatus,
    ResidualReason,
};
use crate::text::{clean_to_one_line, without_full_stop};

/// What became of a finding, as people read it: one word for each, the same on every screen and in every report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingOutcome {
    Fixed,
    /// The planner rejected it, and that counts: its evidence is true, or the reviewer agrees.
    Rejected,
    /// The reviewer took it back although nobody rejected it.
    Withdrawn,
    DecidedByUser,
    /// It is true and does not hold the plan up.
    LeftOpen,
    Open,
}

impl FindingOutcome {
    pub const ALL: [Self; 6] = [
        Self::Fixed,
        Self::Rejected,
        Self::Withdrawn,
        Self::DecidedByUser,
        Self::LeftOpen,
        Self::Open,
    ];

    pub fn label(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Rejected => "rejected",
            Self::Withdrawn => "withdrawn",
            Self::DecidedByUser => "decided by you",
            Self::LeftOpen => "left open",
            Self::Open => "open",
        }
    }

    /// Returns the label in a sentence, where there is room to say that a rejection has its reason.
    pub fn long_label(self) -> &'static str {
        match self {
            Self::Rejected => "rejected with reason",
            Self::Fixed | Self::Withdrawn | Self::DecidedByUser | Self::LeftOpen | Self::Open => {
                self.label()
            }
        }
    }
}

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
    /// Returns what became of it, for people.
    pub fn outcome(&self) -> FindingOutcome {
        let is_rejected = self
            .last_response()
            .is_some_and(|response| response.stand == FindingDisposition::Rejected);
        match self.status {
            FindingStatus::Open => FindingOutcome::Open,
            FindingStatus::Fixed => FindingOutcome::Fixed,
            FindingStatus::Withdrawn if is_rejected => FindingOutcome::Rejected,
            FindingStatus::Withdrawn => FindingOutcome::Withdrawn,
            FindingStatus::Rebutted => FindingOutcome::Rejected,
            FindingStatus::DecidedByUser => FindingOutcome::DecidedByUser,
            FindingStatus::Residual => FindingOutcome::LeftOpen,
        }
    }

    /// Describes the severity that the reviewer gave it, where it counts less: `blocking, counts as minor: evidence not
    /// found`. `None` where it counts as stated.
    pub fn describe_lowered_severity(&self) -> Option<String> {
        let stated = self.record.lowered_from?;
        let why = self.why_lowered();
        let counted = self.remark.severity.as_str();
        Some(format!("{}, counts as {counted}: {why}", stated.as_str()))
    }

    /// Returns why it counts less than stated, where it does.
    fn why_lowered(&self) -> &'static str {
        match &self.record.evidence {
            Some(EvidenceCheck::Refuted { .. }) => "evidence not found",
            Some(EvidenceCheck::Verified { .. } | EvidenceCheck::Uncheckable) | None => {
                "no evidence that can be checked"
            }
        }
    }

    /// Describes it in one line: `#4 minor: text`, or `#4 blocking, counts as minor (evidence not found): text`.
    pub fn describe_in_line(&self) -> String {
        let text = clean_to_one_line(&self.remark.text);
        let text = without_full_stop(&text);
        let (n, counted) = (self.remark.n, self.remark.severity.as_str());
        match self.record.lowered_from {
            None => format!("#{n} {counted}: {text}"),
            Some(stated) => {
                let (stated, why) = (stated.as_str(), self.why_lowered());
                format!("#{n} {stated}, counts as {counted} ({why}): {text}")
            }
        }
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

    /// Describes why it stands where it stands, for the user.
    pub fn describe_status(&self) -> String {
        self.status_note().unwrap_or_else(|| "open".to_owned())
    }

    /// Returns the same; `None` where it is open and nothing more is to be said.
    pub fn status_note(&self) -> Option<String> {
        let text = match self.status {
            FindingStatus::Open if self.record.dispute.is_some() => "disputed, you decide",
            FindingStatus::Open => self.describe_open()?,
            FindingStatus::Fixed => "fixed",
            FindingStatus::Withdrawn | FindingStatus::Rebutted | FindingStatus::DecidedByUser => {
                self.outcome().long_label()
            }
            FindingStatus::Residual => {
                let reason = self.record.residual.map(ResidualReason::describe);
                return Some(format!("left open: {}", reason.unwrap_or("minor")));
            }
        };
        Some(text.to_owned())
    }

    /// Returns why an open finding is open, where the bare word does not say it.
    fn describe_open(&self) -> Option<&'static str> {
        Some(match (self.current_disposition(), &self.record) {
            (_, record) if record.is_waiting => "waits until others are settled",
            (Some(FindingDisposition::Accepted), _) => "accepted, reviewer checks next",
            (Some(FindingDisposition::Rejected), _) => "rejected, reviewer checks next",
            (None, record) if record.is_upheld => "open, you decided for the reviewer",
            (None, record) if record.unproven_fix_in == Some(self.last_in) => {
                "open, called fixed without a quote of what changed"
            }
            (None, record) if record.reopened_in.is_some() => "open again, with new evidence",
            (None, _) => return None,
        })
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

impl FindingLedger {
    /// Counts the findings of the reviews after the first `n_earlier`, and all that are open, by what became of them:
    /// `7 fixed, 2 minor left open`.
    pub(in crate::domain) fn describe_counts(&self, n_earlier: u32) -> String {
        let is_counted = |finding: &&Finding| finding.is_open() || finding.raised_in > n_earlier;
        let all: Vec<&Finding> = self.all().iter().filter(is_counted).collect();
        let counts = FindingOutcome::ALL.into_iter().filter_map(|outcome| {
            let of_it = all.iter().filter(|each| each.outcome() == outcome);
            let of_it: Vec<&Finding> = of_it.copied().collect();
            let severity = of_it.first()?.remark.severity;
            let is_one = of_it.iter().all(|each| each.remark.severity == severity);
            // How grave they are matters only where nobody works on them any more.
            let severity = if outcome == FindingOutcome::LeftOpen && is_one {
                format!(" {}", severity.as_str())
            } else {
                String::new()
            };
            Some(format!(
                "{}{severity} {}",
                of_it.len(),
                outcome.long_label()
            ))
        });
        counts.collect::<Vec<_>>().join(", ")
    }
}
