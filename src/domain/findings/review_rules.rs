//! Applies a review to the ledger: what it says of open findings, what it raises, and what holds the plan up.
//!
//! The rules are those of TRUTH.md, T01 to T10. Letter case, white space and the order of a review change nothing.

use std::collections::BTreeSet;

use super::review_bar::ReviewBar;
use super::review_facts::{RemarkFacts, ReviewFacts, VerdictFacts};
use super::{
    Finding, FindingDisposition, FindingDispute, FindingLedger, FindingRecord, FindingSeverity,
    FindingStatus, NewEvidence, ResidualReason, ReviewRemark,
};
use crate::domain::review::{FindingVerdict, ReviewDocument, Verdict, VerdictKind};
use crate::text::word_similarity::{collapse_white_space, word_similarity};

/// How many findings of the first review hold the plan up at a time; the others wait.
const MAX_FIRST_FINDINGS: usize = 10;
/// How many new findings of a later review hold the plan up; the others are residual.
const MAX_LATER_FINDINGS: usize = 3;
/// How many fixes in a row may each lead to a new finding on their text.
const MAX_FIX_DEPTH: u32 = 2;
/// How far above the last number of earlier reviews a new finding may number itself.
const MAX_NUMBER_GAP: u32 = 1_000;
/// The least similarity of a remark with one of the same review before it was asked back.
const SAME_REMARK_SIMILARITY: f64 = 0.6;
/// How often a finding is rejected before it is a dispute.
const MAX_REJECTIONS: usize = 2;

/// Whether findings whose evidence does not check out count as minor yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnsupportedFindings {
    /// They count as minor: the reviewer was asked for better evidence.
    CountAsMinor,
    /// They count as stated: the reviewer can still bring it.
    CountAsStated,
}

/// The effect of a review on the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewOutcome {
    /// The verdict that the program computes.
    pub verdict: Verdict,
    /// Open major and blocking findings of which the review says nothing.
    pub unmentioned: Vec<u32>,
    /// Findings that it calls fixed without quoting text that changed.
    pub unproven_fixes: Vec<u32>,
    /// New major and blocking findings whose evidence does not check out, by their place in the review.
    pub unsupported: Vec<usize>,
    /// Rejected major findings that stand without new evidence, which closed them.
    pub rebutted: Vec<u32>,
    /// Findings that became disputes.
    pub disputes: Vec<u32>,
    /// Whether marker and findings contradict each other.
    pub contradiction: Option<VerdictContradiction>,
    /// Whether the review goes in a circle.
    pub is_circle: bool,
}

/// How the marker of a review contradicts its findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerdictContradiction {
    /// It approves while something holds the plan up.
    ApprovedBesideHolding,
    /// It requires changes while nothing holds the plan up.
    NothingHolds,
}

impl FindingLedger {
    /// Applies a review with its facts. `iteration` counts the reviews of this goal from 1.
    pub fn apply_review(
        &mut self,
        review: &ReviewDocument,
        facts: &ReviewFacts,
        iteration: u32,
        unsupported: UnsupportedFindings,
    ) -> ReviewOutcome {
        self.reviews += 1;
        for known in &facts.blocks {
            if let Some(finding) = self.get_mut(known.n) {
                finding.record.block.clone_from(&known.block);
            }
        }
        let mut pass = ReviewPass {
            bar: ReviewBar::for_review(iteration),
            iteration,
            unsupported,
            open_before: self.active().map(|finding| finding.remark.n).collect(),
            all_open_before: self.open().map(|finding| finding.remark.n).collect(),
            mentioned: Vec::new(),
            newly_proven: Vec::new(),
            outcome: ReviewOutcome {
                verdict: Verdict::ChangesRequired,
                unmentioned: Vec::new(),
                unproven_fixes: Vec::new(),
                unsupported: Vec::new(),
                rebutted: Vec::new(),
                disputes: Vec::new(),
                contradiction: None,
                is_circle: !facts.reverted.is_empty(),
            },
        };
        let remarks = review.remarks.iter().zip(&facts.remarks).enumerate();
        let remarks = remarks.map(|(at, (remark, facts))| AssessedRemark { at, remark, facts });
        let (repeated, new): (Vec<_>, Vec<_>) =
            remarks.partition(|remark| remark.facts.repeats.is_some());
        self.apply_verdicts(review, facts, &mut pass);
        for AssessedRemark { remark, facts, .. } in repeated {
            if let Some(n) = facts.repeats {
                self.restate(n, remark, facts, &mut pass);
            }
        }
        self.handle_left_out(&mut pass);
        self.raise_findings(new, &mut pass);
        self.admit_waiting();
        self.conclude(review, pass)
    }

    /// Applies what the review says of open findings. Of two verdicts on one finding, the less favourable counts.
    fn apply_verdicts(
        &mut self,
        review: &ReviewDocument,
        facts: &ReviewFacts,
        pass: &mut ReviewPass,
    ) {
        let mut verdicts: Vec<(&FindingVerdict, &VerdictFacts)> =
            review.verdicts.iter().zip(&facts.verdicts).collect();
        verdicts.sort_by_key(|(verdict, facts)| {
            (verdict.n, verdict.kind, !facts.evidence.is_verified())
        });
        verdicts.dedup_by_key(|(verdict, _)| verdict.n);
        let restated: Vec<u32> = facts
            .remarks
            .iter()
            .filter_map(|remark| remark.repeats)
            .collect();
        for (verdict, facts) in verdicts {
            let review = self.reviews;
            let Some(finding) = self.get_mut(verdict.n).filter(|finding| finding.is_open()) else {
                continue;
            };
            finding.record.last_word.clone_from(&verdict.detail);
            finding.record.new_evidence = new_evidence(verdict, facts);
            let is_proven = facts.evidence.is_verified();
            // A finding that is stated again in the same review stands, with the severity that it has then.
            if restated.contains(&verdict.n) {
                let is_new = verdict.kind == VerdictKind::Stands && is_proven;
                pass.newly_proven.extend(is_new.then_some(verdict.n));
                continue;
            }
            pass.mentioned.push(verdict.n);
            match verdict.kind {
                VerdictKind::Fixed if is_proven => finding.close(FindingStatus::Fixed),
                // Without a quote of text that changed the verdict does not count, whatever changed.
                VerdictKind::Fixed if finding.holds() => {
                    pass.outcome.unproven_fixes.push(verdict.n);
                    finding.last_in = review;
                    finding.record.unproven_fix_in = Some(review);
                }
                VerdictKind::Fixed => finding.settle_minor(),
                VerdictKind::Withdrawn => {
                    let is_rebutted = finding
                        .last_response()
                        .is_some_and(|r| r.is_proven_rejection());
                    finding.close(if is_rebutted {
                        FindingStatus::Rebutted
                    } else {
                        FindingStatus::Withdrawn
                    });
                }
                VerdictKind::Stands => self.stand(verdict.n, is_proven, pass),
            }
        }
    }

    /// Keeps an open finding open, unless the planner's rejection closes it or makes it a dispute.
    fn stand(&mut self, n: u32, has_new_evidence: bool, pass: &mut ReviewPass) {
        let review = self.reviews;
        let Some(finding) = self.get_mut(n) else {
            return;
        };
        let is_rejected = finding.current_disposition() == Some(FindingDisposition::Rejected);
        let is_rebuttal = finding.is_rejected_with_proof() && !has_new_evidence;
        finding.last_in = review;
        let n_rejections = finding
            .final_answers()
            .filter(|(_, response)| response.stand == FindingDisposition::Rejected)
            .count();
        let is_blocking = finding.remark.severity == FindingSeverity::Blocking;
        let is_dispute = (is_blocking && finding.is_proven())
            || finding.record.is_upheld
            || n_rejections >= MAX_REJECTIONS;
        // A minor finding costs nobody a turn: it is no dispute, and its reviewer is not asked back.
        let can_hold = finding.remark.severity.can_hold();
        if is_rejected && can_hold && is_dispute {
            finding.record.dispute = Some(FindingDispute::default());
            pass.outcome.disputes.push(n);
        } else if is_rebuttal && !is_blocking {
            finding.close(FindingStatus::Rebutted);
            pass.outcome.rebutted.extend(can_hold.then_some(n));
        }
    }

    /// Applies a remark that is an earlier finding.
    fn restate(
        &mut self,
        n: u32,
        remark: &ReviewRemark,
        facts: &RemarkFacts,
        pass: &mut ReviewPass,
    ) {
        let review = self.reviews;
        let Some(finding) = self.get_mut(n) else {
            return;
        };
        let is_proven = facts.evidence.is_verified();
        match finding.status {
            FindingStatus::Open => {
                if is_proven {
                    finding.restate_with_proof(remark, facts);
                } else {
                    // A finding never becomes graver without evidence that is true.
                    finding.remark.severity = remark.severity.min(finding.remark.severity);
                    finding.take_details(remark);
                }
                pass.mentioned.push(n);
                let is_new_proof = is_proven && facts.is_new_scenario;
                let has_new_evidence = is_new_proof || pass.newly_proven.contains(&n);
                self.stand(n, has_new_evidence, pass);
            }
            FindingStatus::Fixed
                if is_proven && facts.is_new_scenario && finding.record.reopened_in.is_none() =>
            {
                finding.status = FindingStatus::Open;
                finding.restate_with_proof(remark, facts);
                finding.record.reopened_in = Some(review);
                finding.record.settled_in = None;
                finding.last_in = review;
            }
            // It stays residual, but the user sees a blocking one whose evidence is true.
            FindingStatus::Residual if is_proven => finding.restate_with_proof(remark, facts),
            // Noted under its number; nothing else opens a finding again.
            FindingStatus::Fixed
            | FindingStatus::Withdrawn
            | FindingStatus::Rebutted
            | FindingStatus::DecidedByUser
            | FindingStatus::Residual => finding.record.repeated_in = Some(review),
        }
    }

    /// Settles nothing that was left out but minor findings.
    fn handle_left_out(&mut self, pass: &mut ReviewPass) {
        let left_out = pass
            .open_before
            .iter()
            .filter(|n| !pass.mentioned.contains(n));
        for n in left_out.copied().collect::<Vec<_>>() {
            match self.get_mut(n).filter(|finding| finding.is_open()) {
                Some(finding) if finding.holds() => pass.outcome.unmentioned.push(n),
                Some(finding) => finding.settle_minor(),
                None => {}
            }
        }
    }

    /// Raises new findings: as open ones where they pass the bar, as residual ones otherwise.
    fn raise_findings(&mut self, mut new: Vec<AssessedRemark<'_>>, pass: &mut ReviewPass) {
        // Which of them wait depends on their weight and text, not on their place in the review.
        new.sort_by_key(|AssessedRemark { remark, facts, .. }| {
            let text = collapse_white_space(&remark.text).to_lowercase();
            (
                std::cmp::Reverse(remark.severity),
                !facts.evidence.is_verified(),
                text,
            )
        });
        let mut n_holding = 0;
        let highest = self.highest_number();
        let wanted: BTreeSet<u32> = new.iter().map(|new| new.remark.n).collect();
        for AssessedRemark { at, remark, facts } in new {
            let is_supported = !remark.severity.can_hold() || facts.supports(remark);
            if !is_supported {
                pass.outcome.unsupported.push(at);
            }
            let is_lowered = !is_supported && pass.unsupported == UnsupportedFindings::CountAsMinor;
            let severity = if is_lowered {
                FindingSeverity::Minor
            } else {
                remark.severity
            };
            let mut record = FindingRecord {
                block: facts.block.clone(),
                evidence: Some(facts.evidence.clone()),
                lowered_from: is_lowered.then_some(remark.severity),
                ..FindingRecord::default()
            };
            record.residual = if severity.can_hold() {
                pass.bar.residual_reason(severity, facts)
            } else {
                (pass.iteration > 1).then_some(ResidualReason::Minor)
            };
            if severity.can_hold() && record.residual.is_none() {
                n_holding += 1;
                match pass.bar {
                    ReviewBar::Anything => record.is_waiting = n_holding > MAX_FIRST_FINDINGS,
                    ReviewBar::ChangedOrProven | ReviewBar::BlockingInChanged
                        if n_holding > MAX_LATER_FINDINGS =>
                    {
                        record.residual = Some(ResidualReason::TooMany);
                    }
                    ReviewBar::ChangedOrProven | ReviewBar::BlockingInChanged => {}
                }
            }
            if record.residual.is_none() && facts.is_block_changed && severity.can_hold() {
                record.fix_depth = self.fix_depth(facts) + 1;
                pass.outcome.is_circle |= record.fix_depth >= MAX_FIX_DEPTH;
            }
            let n = self.free_number(remark.n, highest, &wanted);
            record.stated_as = (n != remark.n).then_some(remark.n);
            let remark = ReviewRemark {
                n,
                severity,
                ..remark.clone()
            };
            let review = self.reviews;
            self.all.push(new_finding(remark, review, record));
        }
    }

    /// Records as withdrawn what a review raised before it was asked back and does not say any more.
    pub fn record_dropped_remarks(&mut self, earlier: &ReviewDocument, review: &ReviewDocument) {
        let Some(facts) = &earlier.facts else {
            return;
        };
        let is_said = |remark: &ReviewRemark| {
            let mut now = review.remarks.iter();
            now.any(|now| word_similarity(&now.text, &remark.text) >= SAME_REMARK_SIMILARITY)
        };
        for (remark, facts) in earlier.remarks.iter().zip(&facts.remarks) {
            if facts.repeats.is_some() || is_said(remark) {
                continue;
            }
            let remark = ReviewRemark {
                n: self.highest_number().saturating_add(1),
                ..remark.clone()
            };
            let record = FindingRecord {
                block: facts.block.clone(),
                evidence: Some(facts.evidence.clone()),
                last_word: "left out when the review was returned once more".to_owned(),
                ..FindingRecord::default()
            };
            let mut dropped = new_finding(remark, self.reviews, record);
            dropped.close(FindingStatus::Withdrawn);
            self.all.push(dropped);
        }
    }

    /// Returns the greatest depth of the earlier findings that held the plan up and that lie in the block of a new one,
    /// or that were fixed there.
    fn fix_depth(&self, facts: &RemarkFacts) -> u32 {
        let review = self.reviews;
        let here = self.all.iter().filter(|finding| {
            let is_here = facts.block.is_some() && finding.record.block == facts.block;
            let is_fixed_here = facts.fixes.contains(&finding.remark.n);
            let is_earlier = finding.raised_in < review && finding.record.residual.is_none();
            (is_here || is_fixed_here) && is_earlier
        });
        here.map(|finding| finding.record.fix_depth)
            .max()
            .unwrap_or(0)
    }

    /// Returns the number that a new finding gets: its own, where it is unused and follows those of earlier reviews,
    /// of which `highest` is the last; otherwise the next one that no other finding of the review has.
    fn free_number(&self, own: u32, highest: u32, wanted: &BTreeSet<u32>) -> u32 {
        let is_unused = |n: &u32| self.get(*n).is_none();
        if own > highest && own - highest <= MAX_NUMBER_GAP && is_unused(&own) {
            return own;
        }
        let mut next = highest.saturating_add(1)..=u32::MAX;
        next.find(|n| is_unused(n) && !wanted.contains(n))
            .unwrap_or(u32::MAX)
    }

    /// Lets findings that wait take the places of those that no longer hold the plan up.
    fn admit_waiting(&mut self) {
        let n_active = self.active().filter(|finding| finding.holds()).count();
        let review = self.reviews;
        let free = MAX_FIRST_FINDINGS.saturating_sub(n_active);
        let waiting = self
            .all
            .iter_mut()
            .filter(|finding| finding.is_open() && finding.record.is_waiting);
        for finding in waiting.take(free) {
            finding.record.is_waiting = false;
            finding.last_in = review;
        }
    }

    fn conclude(&mut self, review: &ReviewDocument, pass: ReviewPass) -> ReviewOutcome {
        let was_open = pass.all_open_before;
        let mut outcome = pass.outcome;
        outcome.unsupported.sort_unstable();
        let is_holding = self.holding().next().is_some();
        outcome.contradiction = (review.says_approved() == is_holding).then_some(if is_holding {
            VerdictContradiction::ApprovedBesideHolding
        } else {
            VerdictContradiction::NothingHolds
        });
        if review.says_approved() && !is_holding {
            outcome.verdict = Verdict::Approved;
            for finding in self.all.iter_mut().filter(|finding| finding.is_open()) {
                finding.make_residual(ResidualReason::Minor);
            }
        }
        self.mark_settled(&was_open);
        outcome
    }
}

/// A remark of a review with what the program found out about it.
struct AssessedRemark<'a> {
    /// Its place in the review, from 0.
    at: usize,
    remark: &'a ReviewRemark,
    facts: &'a RemarkFacts,
}

struct ReviewPass {
    bar: ReviewBar,
    iteration: u32,
    unsupported: UnsupportedFindings,
    /// The findings that were open before and did not wait.
    open_before: Vec<u32>,
    /// All findings that were open before.
    all_open_before: Vec<u32>,
    /// The findings of which the review says something.
    mentioned: Vec<u32>,
    /// The findings that are stated again and of which a verdict of the review brings new evidence that is true.
    newly_proven: Vec<u32>,
    outcome: ReviewOutcome,
}

pub(super) fn new_finding(remark: ReviewRemark, review: u32, record: FindingRecord) -> Finding {
    Finding {
        remark,
        raised_in: review,
        last_in: review,
        status: match record.residual {
            Some(_) => FindingStatus::Residual,
            None => FindingStatus::Open,
        },
        responses: Vec::new(),
        record,
    }
}

/// Returns the evidence that a finding gets when it stands.
fn new_evidence(verdict: &FindingVerdict, facts: &VerdictFacts) -> Option<NewEvidence> {
    let stands = verdict.kind == VerdictKind::Stands;
    let is_given = stands && !verdict.evidence.trim().is_empty();
    is_given.then(|| NewEvidence {
        text: verdict.evidence.clone(),
        check: facts.evidence.clone(),
    })
}

impl Finding {
    fn close(&mut self, status: FindingStatus) {
        self.status = status;
        self.record.dispute = None;
        self.record.is_waiting = false;
    }

    /// Settles a minor finding of which the review brings no new evidence.
    fn settle_minor(&mut self) {
        if self.is_rejected_with_proof() {
            self.close(FindingStatus::Rebutted);
        } else {
            self.make_residual(ResidualReason::Minor);
        }
    }

    fn make_residual(&mut self, reason: ResidualReason) {
        self.status = FindingStatus::Residual;
        self.record.residual = Some(reason);
    }

    /// Takes over what a later review says of it with evidence that is true, so that it counts as stated.
    fn restate_with_proof(&mut self, remark: &ReviewRemark, facts: &RemarkFacts) {
        self.remark.severity = remark.severity;
        self.take_details(remark);
        self.record.evidence = Some(facts.evidence.clone());
        self.record.lowered_from = None;
    }

    /// Takes over what a later review says of it, where it says anything.
    fn take_details(&mut self, remark: &ReviewRemark) {
        self.remark.text.clone_from(&remark.text);
        let details = &mut self.remark.details;
        for (known, given) in [
            (&mut details.place, &remark.details.place),
            (&mut details.scenario, &remark.details.scenario),
            (&mut details.evidence, &remark.details.evidence),
            (&mut details.resolution, &remark.details.resolution),
        ] {
            if !given.trim().is_empty() {
                known.clone_from(given);
            }
        }
    }
}
