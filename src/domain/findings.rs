//! Keeps the ledger of a run's findings: every remark of every review, under its permanent number, with its state.
//!
//! Does not read documents: `review` does. The rules by which a review or an answer changes the ledger are in
//! `review_rules` (TRUTH.md T01 to T10).

pub mod evidence;
mod finding_labels;
mod legacy_review;
pub mod plan_blocks;
pub mod plan_files;
mod review_bar;
pub mod review_facts;
mod review_rules;
#[cfg(test)]
pub mod tests;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};

use self::evidence::EvidenceCheck;
pub use self::finding_labels::FindingOutcome;
use self::plan_blocks::BlockLabel;
pub use self::review_bar::{ReviewBar, describe_places};
pub use self::review_rules::{ReviewOutcome, UnsupportedFindings, VerdictContradiction};

/// The severity of a finding.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    IntoStaticStr,
    EnumString,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", ascii_case_insensitive)]
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

    /// Returns whether an open finding of this severity holds a plan up.
    pub fn can_hold(self) -> bool {
        self >= Self::Major
    }
}

/// One remark as a review states it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewRemark {
    pub n: u32,
    pub severity: FindingSeverity,
    /// Its first line.
    pub text: String,
    #[serde(flatten)]
    pub details: RemarkDetails,
}

impl ReviewRemark {
    /// Creates a remark that is one sentence and nothing else.
    pub fn new(n: u32, severity: FindingSeverity, text: impl Into<String>) -> Self {
        Self {
            n,
            severity,
            text: text.into(),
            details: RemarkDetails::default(),
        }
    }
}

/// What a remark says beside its sentence; each is empty where the review leaves it out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RemarkDetails {
    /// What it is about: a step, a heading, or a file and line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// An input or a state, and the wrong outcome.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub scenario: String,
    /// A quote, a file and line, or a command and what it printed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub evidence: String,
    /// What would settle it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub resolution: String,
}

/// The planner's answer to a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingResponse {
    pub n: u32,
    /// Whether the planner accepts it.
    pub stand: FindingDisposition,
    /// Why, or what was done.
    pub reason: String,
    /// What the program found: for an acceptance whether the plan changed there, for a rejection its evidence. `None`
    /// in logs of version 0.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<EvidenceCheck>,
}

impl FindingResponse {
    /// Returns whether it is a rejection whose evidence was checked and is true.
    fn is_proven_rejection(&self) -> bool {
        self.stand == FindingDisposition::Rejected
            && self.check.as_ref().is_some_and(EvidenceCheck::is_verified)
    }
}

/// Whether the planner accepts a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", ascii_case_insensitive)]
pub enum FindingDisposition {
    Accepted,
    Rejected,
}

/// The status of a finding. Only an open one can hold a plan up; `fixed` goes back to `open` at most once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum FindingStatus {
    Open,
    /// A later review said that the plan's change settles it. Version 0.1 also wrote this of one that was left out.
    #[serde(alias = "settled_by_review")]
    Fixed,
    /// The reviewer took it back.
    Withdrawn,
    /// The planner's evidence against it stood.
    Rebutted,
    /// The user settled it; a review cannot open it again.
    #[serde(alias = "settled_by_user")]
    DecidedByUser,
    /// It is true as far as anybody knows, and does not hold the plan up: it goes to the executor and the summary.
    Residual,
}

/// Why a finding is residual.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResidualReason {
    /// It is minor.
    Minor,
    /// Its text did not change since the review before, which could have raised it.
    UnchangedText,
    /// After the second review only blocking findings hold a plan up.
    NotBlocking,
    /// The review raised more new findings than may hold the plan up.
    TooMany,
}

impl ResidualReason {
    /// Describes it as the end of a sentence about the finding.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Minor => "minor",
            Self::UnchangedText => "raised late, on text that did not change",
            Self::NotBlocking => "raised after review 2 and not blocking",
            Self::TooMany => "more than 3 new findings in one review",
        }
    }
}

/// Which side of a dispute is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", ascii_case_insensitive)]
pub enum DisputeSide {
    Reviewer,
    Planner,
}

/// A finding on which reviewer and planner do not agree, until the user decides.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FindingDispute {
    /// What a session without history made of it; `None` until it was asked, or where it gave no judgement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgement: Option<DisputeJudgement>,
}

/// The judgement of a fresh session about a dispute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DisputeJudgement {
    pub n: u32,
    pub side: DisputeSide,
    pub reason: String,
}

/// New evidence with which a finding stands against the planner's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewEvidence {
    pub text: String,
    /// What the program found of it.
    pub check: EvidenceCheck,
}

/// What the ledger knows of a finding beside the reviewer's and the planner's words.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FindingRecord {
    /// The block of the plan in which it lies, by the label of the last reviewed version; `None` for the whole plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<BlockLabel>,
    /// What the program found of its evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<EvidenceCheck>,
    /// The severity that the reviewer gave it, where it counts less because its evidence did not check out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lowered_from: Option<FindingSeverity>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub residual: Option<ResidualReason>,
    /// The number under which the review raised it, where that was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated_as: Option<u32>,
    /// Whether it waits because as many findings as may hold the plan up are open before it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_waiting: bool,
    /// The review that opened it again after it was fixed, which happens once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reopened_in: Option<u32>,
    /// How many fixes in a row led to it: 1 for a finding on the text that fixed another one.
    #[serde(default, skip_serializing_if = "crate::domain::is_default")]
    pub fix_depth: u32,
    /// The dispute about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dispute: Option<FindingDispute>,
    /// Whether the user decided that the reviewer is right, so that the planner must follow.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_upheld: bool,
    /// The review that closed it or made it residual; `None` while it is open, and where the user decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled_in: Option<u32>,
    /// The last review that raised it again after it was settled, without what would open it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeated_in: Option<u32>,
    /// The last review that called it fixed without quoting text that changed, so that it stayed open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unproven_fix_in: Option<u32>,
    /// What the review said of it last: what changed, what is missing, or why it was withdrawn.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub last_word: String,
    /// The evidence that came with the last word of a finding that stands; `None` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_evidence: Option<NewEvidence>,
}

impl FindingRecord {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
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
    #[serde(default, skip_serializing_if = "FindingRecord::is_default")]
    pub record: FindingRecord,
}

impl Finding {
    pub fn is_open(&self) -> bool {
        self.status == FindingStatus::Open
    }

    /// Returns whether it is open, major or blocking: while one is, the plan is not approved.
    pub fn holds(&self) -> bool {
        self.is_open() && self.remark.severity.can_hold()
    }

    /// Returns whether its own evidence was checked and is true.
    pub fn is_proven(&self) -> bool {
        let evidence = self.record.evidence.as_ref();
        evidence.is_some_and(EvidenceCheck::is_verified)
    }

    /// Returns whether it is residual, blocking and proven: the user sees it before the plan is approved.
    pub fn is_residual_blocker(&self) -> bool {
        self.status == FindingStatus::Residual
            && self.remark.severity == FindingSeverity::Blocking
            && self.is_proven()
    }

    /// Returns a symbol for its status, the same wherever findings are listed.
    pub fn status_symbol(&self) -> &'static str {
        match self.status {
            FindingStatus::Open if self.record.dispute.is_some() => "⇄",
            FindingStatus::Open => match self.current_disposition() {
                None => "○",
                Some(FindingDisposition::Accepted) => "◐",
                Some(FindingDisposition::Rejected) => "⊘",
            },
            FindingStatus::Fixed => "✓",
            FindingStatus::Withdrawn | FindingStatus::Rebutted => "⊖",
            FindingStatus::DecidedByUser => "☑",
            FindingStatus::Residual => "◇",
        }
    }

    /// Returns the planner's answer since the review that last stated it.
    pub fn current_disposition(&self) -> Option<FindingDisposition> {
        let current = self
            .responses
            .last()
            .filter(|(review, _)| *review >= self.last_in);
        current.map(|(_, response)| response.stand)
    }

    /// Returns whether the planner's answer since then is a rejection whose evidence was checked and is true.
    fn is_rejected_with_proof(&self) -> bool {
        let last = self.last_response();
        self.current_disposition().is_some()
            && last.is_some_and(FindingResponse::is_proven_rejection)
    }

    /// Returns the planner's answer to each review, with the review. One that was asked back is replaced by the next.
    pub fn final_answers(&self) -> impl Iterator<Item = &(u32, FindingResponse)> {
        let answers = self
            .responses
            .chunk_by(|(review, _), (next, _)| review == next);
        answers.filter_map(<[_]>::last)
    }

    /// Returns the planner's last answer.
    pub fn last_response(&self) -> Option<&FindingResponse> {
        self.responses.last().map(|(_, response)| response)
    }
}

/// All findings of a run. Numbers are unique and never reused.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FindingLedger {
    all: Vec<Finding>,
    /// How many reviews were applied, over all cycles of the run.
    reviews: u32,
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

    fn get_mut(&mut self, n: u32) -> Option<&mut Finding> {
        self.all.iter_mut().find(|finding| finding.remark.n == n)
    }

    /// Returns the number of the finding that an agent means: its own, or that of an open finding which was raised
    /// under a number that was taken.
    pub fn resolve_number(&self, n: u32) -> u32 {
        if self.get(n).is_some_and(Finding::is_open) {
            return n;
        }
        let meant = self
            .open()
            .find(|finding| finding.record.stated_as == Some(n));
        meant.map_or(n, |finding| finding.remark.n)
    }

    /// Returns the open findings, also those that wait.
    pub fn open(&self) -> impl Iterator<Item = &Finding> {
        self.all.iter().filter(|finding| finding.is_open())
    }

    /// Returns the open findings that are being worked on: not those that wait for a place.
    pub fn active(&self) -> impl Iterator<Item = &Finding> {
        self.open().filter(|finding| !finding.record.is_waiting)
    }

    /// Returns the findings that hold the plan up.
    pub fn holding(&self) -> impl Iterator<Item = &Finding> {
        self.all.iter().filter(|finding| finding.holds())
    }

    /// Returns the findings that the last review called fixed without quoting text that changed.
    pub fn unproven_fixes(&self) -> impl Iterator<Item = &Finding> {
        let review = Some(self.reviews);
        self.holding()
            .filter(move |finding| finding.record.unproven_fix_in == review)
    }

    /// Returns the residual findings.
    pub fn residual(&self) -> impl Iterator<Item = &Finding> {
        let is_residual = |finding: &&Finding| finding.status == FindingStatus::Residual;
        self.all.iter().filter(is_residual)
    }

    /// Returns the open findings whose dispute the user has not decided.
    pub fn disputed(&self) -> impl Iterator<Item = &Finding> {
        self.open()
            .filter(|finding| finding.record.dispute.is_some())
    }

    /// Returns the active findings that the planner has not answered since the review that last stated them.
    pub fn unanswered(&self) -> impl Iterator<Item = &Finding> {
        self.active().filter(|finding| {
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

    /// Returns the version of the plan, counted like reviews: the folder of `iterations/` in which it is kept.
    pub fn plan_version(&self) -> u32 {
        self.reviews + 1
    }

    /// Returns whether the last review tells of a finding: raises it again, or settles it.
    pub fn is_in_last_review(&self, finding: &Finding) -> bool {
        finding.last_in == self.reviews || finding.record.settled_in == Some(self.reviews)
    }

    /// Returns whether the user has settled this number.
    pub fn is_settled_by_user(&self, n: u32) -> bool {
        self.get(n)
            .is_some_and(|finding| finding.status == FindingStatus::DecidedByUser)
    }

    /// Applies the planner's answers; answers to unknown numbers are ignored.
    pub fn apply_responses(&mut self, responses: &[FindingResponse]) {
        let review = self.reviews;
        for response in responses {
            if let Some(finding) = self.get_mut(response.n) {
                finding.responses.push((review, response.clone()));
            }
        }
    }

    /// Settles an open or residual finding for the user; returns whether there was one.
    pub fn settle_by_user(&mut self, n: u32) -> bool {
        let can_settle = |status| matches!(status, FindingStatus::Open | FindingStatus::Residual);
        match self.get_mut(n).filter(|finding| can_settle(finding.status)) {
            Some(finding) => {
                finding.status = FindingStatus::DecidedByUser;
                finding.record.dispute = None;
                true
            }
            None => false,
        }
    }

    /// Notes the last review at the findings that it closed: those that were open before, and new ones.
    fn mark_settled(&mut self, was_open: &[u32]) {
        let review = self.reviews;
        for finding in &mut self.all {
            let is_of_this = finding.raised_in == review || was_open.contains(&finding.remark.n);
            if is_of_this && !finding.is_open() {
                finding.record.settled_in = Some(review);
            }
        }
    }

    /// Stores the judgements of a fresh session on disputed findings; others are ignored.
    pub fn apply_judgements(&mut self, judgements: &[DisputeJudgement]) {
        for judgement in judgements {
            let finding = self.get_mut(judgement.n);
            if let Some(dispute) = finding.and_then(|finding| finding.record.dispute.as_mut()) {
                dispute.judgement = Some(judgement.clone());
            }
        }
    }

    /// Decides a dispute for the user: for the planner the finding is settled, for the reviewer it stays open and the
    /// planner must follow. Returns whether the finding was disputed.
    pub fn decide_dispute(&mut self, n: u32, side: DisputeSide) -> bool {
        let Some(finding) = self.get_mut(n) else {
            return false;
        };
        if finding.record.dispute.take().is_none() {
            return false;
        }
        match side {
            DisputeSide::Planner => finding.status = FindingStatus::DecidedByUser,
            DisputeSide::Reviewer => finding.record.is_upheld = true,
        }
        true
    }

    /// Opens the residual blocking findings whose evidence is true, because the user wants them answered.
    pub fn reopen_residual_blockers(&mut self) {
        let review = self.reviews;
        for finding in &mut self.all {
            if finding.is_residual_blocker() {
                finding.status = FindingStatus::Open;
                finding.last_in = review;
                finding.record.residual = None;
                finding.record.settled_in = None;
            }
        }
    }
}
