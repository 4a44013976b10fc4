//! Finds out what a program can know of a review or of the planner's answers: where a finding lies, whether the text
//! there changed, which earlier finding it repeats, and whether its evidence is true.
//!
//! The results become part of the event, so that the ledger is a fold of the log and reads no file.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::evidence::{EvidenceCheck, EvidenceSource, check_changed_quote, check_evidence};
use super::plan_blocks::{BlockLabel, PlanBlock, PlanBlocks, parse_step_number};
use super::{Finding, FindingDisposition, FindingLedger, FindingResponse, ReviewRemark};
use crate::domain::review::{FindingVerdict, ReviewDocument, VerdictKind};
use crate::text::word_similarity::word_similarity;

/// The least similarity of a remark with an earlier finding in the same place to be that finding.
const SAME_PLACE_SIMILARITY: f64 = 0.6;
/// The least similarity where the remark carries the number of the earlier finding.
const SAME_NUMBER_SIMILARITY: f64 = 0.35;
/// The least similarity of two scenarios to be the same one.
const SAME_SCENARIO_SIMILARITY: f64 = 0.7;

/// What the program found out about a review.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReviewFacts {
    /// For each remark of the review, in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<RemarkFacts>,
    /// For each verdict of the review on an earlier finding, in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verdicts: Vec<VerdictFacts>,
    /// Where earlier findings lie in the plan that was reviewed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<FindingBlock>,
    /// The blocks that went back to a text that an earlier review had seen replaced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reverted: Vec<BlockLabel>,
    /// Files that the plan names and the reviewer did not open; `None` where its calls are not seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unopened: Option<Vec<String>>,
}

/// What the program found out about one remark.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RemarkFacts {
    /// The block in which it lies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<BlockLabel>,
    /// Whether the text of this block changed since the review before; false in the first review.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_block_changed: bool,
    /// The findings of which the planner's last answers may have changed that text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixes: Vec<u32>,
    #[serde(default)]
    pub evidence: EvidenceCheck,
    /// The number of the earlier finding that it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<u32>,
    /// Whether its scenario is another one than that of the finding it repeats.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_new_scenario: bool,
}

impl RemarkFacts {
    /// Returns whether a remark counts with the severity that it states: its evidence is true, or it cannot be checked
    /// and the remark names a scenario and a place of the plan.
    pub fn supports(&self, remark: &ReviewRemark) -> bool {
        match self.evidence {
            EvidenceCheck::Verified { .. } => true,
            EvidenceCheck::Refuted { .. } => false,
            EvidenceCheck::Uncheckable => {
                self.block.is_some() && !remark.details.scenario.trim().is_empty()
            }
        }
    }
}

/// What the program found out about a verdict on an earlier finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerdictFacts {
    /// For `fixed`, whether it quotes text that changed; for `stands`, whether it brings new evidence that is true.
    pub evidence: EvidenceCheck,
}

/// The block of an earlier finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingBlock {
    pub n: u32,
    /// `None` where the block was removed.
    pub block: Option<BlockLabel>,
}

/// What a review is checked against.
pub struct ReviewSources<'a> {
    /// The plan that was reviewed.
    pub plan: &'a str,
    /// The plans of the earlier reviews of this goal, oldest first.
    pub earlier_plans: &'a [String],
    pub evidence: &'a dyn EvidenceSource,
    /// Files that the plan names and the reviewer did not open; `None` where its calls are not seen.
    pub unopened: Option<Vec<String>>,
}

/// Finds out what can be known of a review before it is applied to the ledger.
pub fn assess_review(
    review: &ReviewDocument,
    ledger: &FindingLedger,
    sources: &ReviewSources<'_>,
) -> ReviewFacts {
    let now = PlanBlocks::parse(sources.plan);
    let earlier: Vec<PlanBlocks> = sources
        .earlier_plans
        .iter()
        .map(|plan| PlanBlocks::parse(plan))
        .collect();
    let blocks = follow_findings(ledger, earlier.last(), &now);
    let first = first_review(ledger, sources);
    let repeats = match_repeats(&review.remarks, ledger, first, &blocks, &now);
    let fixes = fixed_blocks(ledger, &blocks, &now, earlier.last());
    let remarks = review.remarks.iter().zip(repeats);
    let remarks = remarks
        .map(|(remark, repeats)| {
            let facts = assess_remark(remark, repeats, ledger, &now, &earlier, sources);
            let fixes = facts.block.as_ref().and_then(|block| fixes.get(block));
            RemarkFacts {
                fixes: fixes.cloned().unwrap_or_default(),
                ..facts
            }
        })
        .collect();
    let verdicts = review.verdicts.iter();
    let verdicts = verdicts
        .map(|verdict| assess_verdict(verdict, ledger, sources))
        .collect();
    ReviewFacts {
        remarks,
        verdicts,
        blocks,
        reverted: reverted_blocks(&now, &earlier),
        unopened: sources.unopened.clone(),
    }
}

/// Follows the blocks of all findings from the plan of the review before to the plan of this one.
fn follow_findings(
    ledger: &FindingLedger,
    before: Option<&PlanBlocks>,
    now: &PlanBlocks,
) -> Vec<FindingBlock> {
    let known = ledger.all().iter();
    let known = known.filter_map(|finding| Some((finding, finding.record.block.as_ref()?)));
    let follow = |label: &BlockLabel| match before {
        Some(before) => before.find_successor(label, now),
        None => now.get(label),
    };
    known
        .map(|(finding, label)| FindingBlock {
            n: finding.remark.n,
            block: follow(label).map(|block| block.label.clone()),
        })
        .collect()
}

/// Returns for each block that changed since the review before the findings whose accepted answers may have changed it:
/// those that lie there, and those whose answer names it. A block that belongs to no answer may be of any.
fn fixed_blocks(
    ledger: &FindingLedger,
    blocks: &[FindingBlock],
    now: &PlanBlocks,
    before: Option<&PlanBlocks>,
) -> BTreeMap<BlockLabel, Vec<u32>> {
    let Some(before) = before else {
        return BTreeMap::new();
    };
    let last_review = ledger.review_count();
    let mut accepted: Vec<(u32, [Option<&BlockLabel>; 2])> = Vec::new();
    for finding in ledger.all() {
        let n = finding.remark.n;
        let answers = finding.responses.iter();
        let of_last = answers.filter(|(review, _)| *review == last_review);
        let is_acceptance =
            |answer: &&FindingResponse| answer.stand == FindingDisposition::Accepted;
        for answer in of_last.map(|(_, answer)| answer).filter(is_acceptance) {
            let named = now.find_place(&answer.reason).map(|block| &block.label);
            accepted.push((n, [block_of(blocks, n), named]));
        }
    }
    let changed = now.changed_since(before).map(|block| &block.label);
    let fixes_of = |label: &BlockLabel| {
        let is_here = |places: &[Option<&BlockLabel>; 2]| places.contains(&Some(label));
        let is_claimed = accepted.iter().any(|(_, places)| is_here(places));
        let fixes = accepted.iter();
        let fixes = fixes.filter(|(_, places)| !is_claimed || is_here(places));
        fixes.map(|(n, _)| *n).collect()
    };
    changed
        .map(|label| (label.clone(), fixes_of(label)))
        .collect()
}

fn block_of(blocks: &[FindingBlock], n: u32) -> Option<&BlockLabel> {
    let known = blocks.iter().find(|known| known.n == n)?;
    known.block.as_ref()
}

/// Finds the block in which a remark lies: the one its place names, else one that its sentence names.
fn find_remark_block<'a>(remark: &ReviewRemark, plan: &'a PlanBlocks) -> Option<&'a PlanBlock> {
    let place = plan.find_place(&remark.details.place);
    place.or_else(|| {
        let step =
            parse_step_number(&remark.text).or_else(|| parse_step_number(&remark.details.evidence));
        step.and_then(|n| plan.get(&BlockLabel::Step(n)))
            .or_else(|| plan.find_place(&remark.details.evidence))
    })
}

/// Returns for each remark the earlier finding that it repeats. Two remarks are never the same finding; the more
/// similar one is it, whatever their order.
fn match_repeats(
    remarks: &[ReviewRemark],
    ledger: &FindingLedger,
    first_review: u32,
    blocks: &[FindingBlock],
    now: &PlanBlocks,
) -> Vec<Option<u32>> {
    let mut pairs: Vec<(f64, usize, u32)> = Vec::new();
    for (at, remark) in remarks.iter().enumerate() {
        let block = find_remark_block(remark, now).map(|block| &block.label);
        for finding in ledger.all() {
            // What was settled under an earlier goal was about another plan.
            if finding.raised_in < first_review && !finding.is_open() {
                continue;
            }
            let n = finding.remark.n;
            let similarity = word_similarity(&finding.remark.text, &remark.text);
            let is_same_place = block == block_of(blocks, n);
            let is_same_number = ledger.resolve_number(remark.n) == n;
            let least = match (is_same_number, is_same_place) {
                (true, _) => SAME_NUMBER_SIMILARITY,
                (false, true) => SAME_PLACE_SIMILARITY,
                (false, false) => continue,
            };
            if similarity >= least {
                // The same number decides between findings that are equally similar.
                let bonus = if is_same_number { 1e-6 } else { 0.0 };
                pairs.push((similarity + bonus, at, n));
            }
        }
    }
    pairs.sort_by(|one, other| {
        let key = |(_, at, n): &(f64, usize, u32)| (remarks[*at].text.to_lowercase(), *n);
        other
            .0
            .total_cmp(&one.0)
            .then_with(|| key(one).cmp(&key(other)))
    });
    let mut repeats = vec![None; remarks.len()];
    let mut taken = BTreeSet::new();
    for (_, at, n) in pairs {
        if repeats[at].is_none() && !taken.contains(&n) {
            repeats[at] = Some(n);
            taken.insert(n);
        }
    }
    repeats
}

fn assess_remark(
    remark: &ReviewRemark,
    repeats: Option<u32>,
    ledger: &FindingLedger,
    now: &PlanBlocks,
    earlier: &[PlanBlocks],
    sources: &ReviewSources<'_>,
) -> RemarkFacts {
    let block = find_remark_block(remark, now);
    let before = earlier.last();
    let is_block_changed = match (block, before) {
        (Some(block), Some(before)) => !before.has_text(&block.text),
        _ => false,
    };
    let details = &remark.details;
    let evidence = [&details.evidence, &details.place]
        .into_iter()
        .map(|text| check_evidence(text, &remark.text, sources.plan, sources.evidence))
        .find(|check| *check != EvidenceCheck::Uncheckable);
    let repeated = repeats.and_then(|n| ledger.get(n));
    RemarkFacts {
        block: block.map(|block| block.label.clone()),
        is_block_changed,
        fixes: Vec::new(),
        evidence: evidence.unwrap_or_default(),
        repeats,
        is_new_scenario: repeated.is_some_and(|repeated| {
            let (old, new) = (&repeated.remark.details.scenario, &details.scenario);
            !new.trim().is_empty() && word_similarity(old, new) < SAME_SCENARIO_SIMILARITY
        }),
    }
}

fn assess_verdict(
    verdict: &FindingVerdict,
    ledger: &FindingLedger,
    sources: &ReviewSources<'_>,
) -> VerdictFacts {
    let first = first_review(ledger, sources);
    let finding = ledger.get(verdict.n);
    let raised = finding
        .map(|finding| finding.record.reopened_in.unwrap_or(finding.raised_in))
        .and_then(|review| review.checked_sub(first))
        .and_then(|at| sources.earlier_plans.get(usize::try_from(at).ok()?));
    let at_raising = raised.or_else(|| sources.earlier_plans.first());
    let evidence = match verdict.kind {
        VerdictKind::Fixed => check_changed_quote(
            &verdict.detail,
            at_raising.map_or("", String::as_str),
            sources.plan,
        ),
        VerdictKind::Stands => new_evidence(verdict, finding, sources),
        VerdictKind::Withdrawn => EvidenceCheck::Uncheckable,
    };
    VerdictFacts { evidence }
}

/// Checks the evidence of a verdict `stands`, where it is not the evidence that the finding had before.
fn new_evidence(
    verdict: &FindingVerdict,
    finding: Option<&Finding>,
    sources: &ReviewSources<'_>,
) -> EvidenceCheck {
    let text = format!("{} {}", verdict.detail, verdict.evidence);
    let old = finding.map_or("", |finding| finding.remark.details.evidence.as_str());
    if !old.is_empty()
        && text.to_lowercase().contains(&old.to_lowercase())
        && verdict.evidence.trim().is_empty()
    {
        return EvidenceCheck::Uncheckable;
    }
    if !old.is_empty() && word_similarity(old, &verdict.evidence) >= SAME_SCENARIO_SIMILARITY {
        return EvidenceCheck::Uncheckable;
    }
    let topic = finding.map_or("", |finding| finding.remark.text.as_str());
    check_evidence(&text, topic, sources.plan, sources.evidence)
}

/// Returns the number of the first review of this goal, counted over the whole run.
fn first_review(ledger: &FindingLedger, sources: &ReviewSources<'_>) -> u32 {
    let n_earlier = u32::try_from(sources.earlier_plans.len()).unwrap_or(u32::MAX);
    (ledger.review_count() + 1).saturating_sub(n_earlier)
}

/// Returns the blocks whose text an earlier review saw, the review before did not, and that are there again.
fn reverted_blocks(now: &PlanBlocks, earlier: &[PlanBlocks]) -> Vec<BlockLabel> {
    let Some((before, older)) = earlier.split_last() else {
        return Vec::new();
    };
    let is_back = |block: &&PlanBlock| {
        !block.text.is_empty()
            && !before.has_text(&block.text)
            && older.iter().any(|plan| plan.has_text(&block.text))
    };
    let back = now.all().iter().filter(is_back);
    back.map(|block| block.label.clone()).collect()
}

/// Checks the planner's answers: an acceptance against the change of the plan, a rejection against its evidence.
///
/// `before` is the plan that was reviewed and `after` the one that the planner returned or left as it was.
pub fn assess_responses(
    responses: &mut [FindingResponse],
    ledger: &FindingLedger,
    before: &str,
    after: &str,
    source: &dyn EvidenceSource,
) {
    let (old, new) = (PlanBlocks::parse(before), PlanBlocks::parse(after));
    let changed: BTreeMap<&BlockLabel, &str> = new
        .changed_since(&old)
        .map(|block| (&block.label, block.text.as_str()))
        .collect();
    let is_anything_removed = old.changed_since(&new).next().is_some();
    for response in responses {
        let finding = ledger.get(response.n);
        response.check = Some(match response.stand {
            FindingDisposition::Rejected => {
                let topic = finding.map_or("", |finding| finding.remark.text.as_str());
                check_evidence(&response.reason, topic, before, source)
            }
            FindingDisposition::Accepted => {
                let label = finding.and_then(|finding| finding.record.block.as_ref());
                let place = label.map(|label| old.find_successor(label, &new));
                let named = new.find_place(&response.reason);
                match (place, named) {
                    (Some(Some(block)), _) | (_, Some(block))
                        if changed.contains_key(&block.label) =>
                    {
                        EvidenceCheck::Verified {
                            found: format!("the plan changed in {}", block.label),
                        }
                    }
                    (Some(None), _) => EvidenceCheck::Verified {
                        found: "its text was removed".to_owned(),
                    },
                    (None, _) if !changed.is_empty() || is_anything_removed => {
                        EvidenceCheck::Verified {
                            found: "the plan changed".to_owned(),
                        }
                    }
                    (Some(Some(block)), _) | (_, Some(block)) => EvidenceCheck::Refuted {
                        found: format!("{} is as it was", block.label),
                    },
                    (None, None) => EvidenceCheck::Refuted {
                        found: "the plan is as it was".to_owned(),
                    },
                }
            }
        });
    }
}
