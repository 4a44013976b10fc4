//! Keeps the ledger of a run's findings: every remark of every review, under its permanent number.
//!
//! Does not read documents: `review` does.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};

/// The severity of a finding.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum FindingSeverity {
    Minor,
    Major,
    /// Must be changed; an approval with an open one does not count.
    Blocking,
}

impl FindingSeverity {
    /// Returns the word as written between the brackets.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// One remark as a review states it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewRemark {
    pub n: u32,
    pub severity: FindingSeverity,
    /// Its first line.
    pub text: String,
}

/// The planner's answer to a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingResponse {
    pub n: u32,
    /// Whether the planner accepts it.
    pub stand: FindingDisposition,
    /// Why, or what was done.
    pub reason: String,
}

/// Whether the planner accepts a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, EnumString)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", ascii_case_insensitive)]
pub enum FindingDisposition {
    Accepted,
    Rejected,
}

/// The status of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingStatus {
    /// The last review with remarks states or repeats it.
    Open,
    /// A later review left it out.
    SettledByReview,
    /// The user settled it; a review cannot open it again.
    SettledByUser,
}

/// One finding over the iterations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The text of the last review that states it.
    pub remark: ReviewRemark,
    /// The review that raised it, counted over the whole run.
    pub raised_in: u32,
    /// The last review that stated it.
    pub last_in: u32,
    pub status: FindingStatus,
    /// Each answer of the planner with the review it answers.
    pub responses: Vec<(u32, FindingResponse)>,
}

/// All findings of a run. Numbers are unique and never reused.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FindingLedger {
    all: Vec<Finding>,
    /// How many reviews were applied, over all cycles of the run.
    reviews: u32,
}

/// The effect of a review on the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerChange {
    /// How many findings were open before.
    pub open_before: usize,
    /// How many of these the review settled.
    pub settled: usize,
}

impl FindingLedger {
    /// Returns all findings in the order of their first appearance.
    pub fn all(&self) -> &[Finding] {
        &self.all
    }

    /// Returns the finding with this number.
    pub fn get(&self, n: u32) -> Option<&Finding> {
        self.all.iter().find(|finding| finding.remark.n == n)
    }

    /// Returns the open findings.
    pub fn open(&self) -> impl Iterator<Item = &Finding> {
        self.all
            .iter()
            .filter(|finding| finding.status == FindingStatus::Open)
    }

    /// Returns the open findings that the planner has not answered since the review that last stated them.
    pub fn unanswered(&self) -> impl Iterator<Item = &Finding> {
        self.open().filter(|finding| {
            !finding
                .responses
                .iter()
                .any(|(review, _)| *review >= finding.last_in)
        })
    }

    /// Returns the highest number used so far, 0 when there is none; a new finding takes a higher one.
    pub fn highest_number(&self) -> u32 {
        self.all
            .iter()
            .map(|finding| finding.remark.n)
            .max()
            .unwrap_or(0)
    }

    /// Returns how many reviews were applied.
    pub fn review_count(&self) -> u32 {
        self.reviews
    }

    /// Returns whether the user has settled this number.
    pub fn is_settled_by_user(&self, n: u32) -> bool {
        self.get(n)
            .is_some_and(|finding| finding.status == FindingStatus::SettledByUser)
    }

    /// Applies a review of an earlier version: stated findings are open, and all other open ones are settled.
    pub fn apply_legacy_review(&mut self, remarks: &[ReviewRemark]) -> LedgerChange {
        self.apply_review(remarks, None)
    }

    /// Applies a review: stated findings are open. Another open finding is settled when the review says so or when it
    /// is minor.
    pub fn apply_review(
        &mut self,
        remarks: &[ReviewRemark],
        settled: Option<&[u32]>,
    ) -> LedgerChange {
        self.reviews += 1;
        let settles = |remark: &ReviewRemark| {
            let named = settled.is_none_or(|settled| settled.contains(&remark.n));
            named || remark.severity == FindingSeverity::Minor
        };
        let mut change = LedgerChange {
            open_before: self.open().count(),
            settled: 0,
        };
        for finding in &mut self.all {
            let stated = remarks.iter().any(|remark| remark.n == finding.remark.n);
            if finding.status == FindingStatus::Open && !stated && settles(&finding.remark) {
                finding.status = FindingStatus::SettledByReview;
                change.settled += 1;
            }
        }
        for remark in remarks {
            self.upsert_remark(remark);
        }
        change
    }

    fn upsert_remark(&mut self, remark: &ReviewRemark) {
        let review = self.reviews;
        let Some(finding) = self
            .all
            .iter_mut()
            .find(|finding| finding.remark.n == remark.n)
        else {
            self.all.push(Finding {
                remark: remark.clone(),
                raised_in: review,
                last_in: review,
                status: FindingStatus::Open,
                responses: Vec::new(),
            });
            return;
        };
        // When one review states a finding twice, the higher severity counts.
        let severity = if finding.last_in == review {
            remark.severity.max(finding.remark.severity)
        } else {
            remark.severity
        };
        finding.remark = ReviewRemark {
            severity,
            ..remark.clone()
        };
        finding.last_in = review;
        if finding.status == FindingStatus::SettledByReview {
            finding.status = FindingStatus::Open;
        }
    }

    /// Applies the planner's answers; answers to unknown numbers are ignored.
    pub fn apply_responses(&mut self, responses: &[FindingResponse]) {
        let review = self.reviews;
        for response in responses {
            if let Some(finding) = self.all.iter_mut().find(|f| f.remark.n == response.n) {
                finding.responses.push((review, response.clone()));
            }
        }
    }

    /// Settles an open finding for the user; returns whether there was one.
    pub fn settle_by_user(&mut self, n: u32) -> bool {
        let open = self
            .all
            .iter_mut()
            .find(|f| f.remark.n == n && f.status == FindingStatus::Open);
        match open {
            Some(finding) => {
                finding.status = FindingStatus::SettledByUser;
                true
            }
            None => false,
        }
    }
}
