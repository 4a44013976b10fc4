//! Says which new findings of a review hold the plan up, by the number of the review (TRUTH.md T04).

use super::review_facts::RemarkFacts;
use super::{FindingSeverity, ResidualReason};

/// What a new finding must be to hold the plan up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewBar {
    /// The first review: any major or blocking finding.
    Anything,
    /// The second: major or blocking in changed text, or blocking with evidence that is true.
    ChangedOrProven,
    /// From the third on: blocking in changed text.
    BlockingInChanged,
}

impl ReviewBar {
    /// Returns the bar of a review, which is counted from 1 within its goal.
    pub fn for_review(iteration: u32) -> Self {
        match iteration {
            0 | 1 => Self::Anything,
            2 => Self::ChangedOrProven,
            _ => Self::BlockingInChanged,
        }
    }

    /// Returns why a new major or blocking finding does not hold the plan up; `None` when it does.
    pub(super) fn residual_reason(
        self,
        severity: FindingSeverity,
        facts: &RemarkFacts,
    ) -> Option<ResidualReason> {
        let is_blocking = severity == FindingSeverity::Blocking;
        match self {
            Self::Anything => None,
            Self::ChangedOrProven => {
                let is_proven = is_blocking && facts.evidence.is_verified();
                (!facts.is_block_changed && !is_proven).then_some(ResidualReason::UnchangedText)
            }
            Self::BlockingInChanged if !facts.is_block_changed => {
                Some(ResidualReason::UnchangedText)
            }
            Self::BlockingInChanged => (!is_blocking).then_some(ResidualReason::NotBlocking),
        }
    }
}
