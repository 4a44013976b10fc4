//! Applies reviews of version 0.1 to the ledger.

use super::review_rules::new_finding;
use super::{FindingLedger, FindingRecord, FindingSeverity, FindingStatus, ReviewRemark};

impl FindingLedger {
    /// Applies a review of version 0.1, which has no facts: stated findings are open, and another open finding is
    /// settled when the review says so, when it is minor, or (`settled` is `None`) when it is left out. Returns how many
    /// findings it settled.
    pub fn apply_legacy_review(
        &mut self,
        remarks: &[ReviewRemark],
        settled: Option<&[u32]>,
    ) -> usize {
        self.reviews += 1;
        let settles = |remark: &ReviewRemark| {
            let is_named = settled.is_none_or(|settled| settled.contains(&remark.n));
            is_named || remark.severity == FindingSeverity::Minor
        };
        let mut n_settled = 0;
        for finding in &mut self.all {
            let is_stated = remarks.iter().any(|remark| remark.n == finding.remark.n);
            if finding.is_open() && !is_stated && settles(&finding.remark) {
                finding.status = FindingStatus::Fixed;
                n_settled += 1;
            }
        }
        for remark in remarks {
            self.upsert_remark(remark);
        }
        n_settled
    }

    fn upsert_remark(&mut self, remark: &ReviewRemark) {
        let review = self.reviews;
        let Some(finding) = self.get_mut(remark.n) else {
            self.all.push(new_finding(
                remark.clone(),
                review,
                FindingRecord::default(),
            ));
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
        if finding.status == FindingStatus::Fixed {
            finding.status = FindingStatus::Open;
        }
    }
}
