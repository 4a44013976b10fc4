//! Says which new findings of a review hold the plan up, by the number of the review (TRUTH.md T04).

use super::plan_blocks::BlockLabel;
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

    /// Describes the bar, as in `blocking, or major in steps 2 and 4`. `changed` are the blocks
    /// whose text changed since the review before.
    pub fn describe(self, changed: &[BlockLabel]) -> String {
        let places = describe_places(changed);
        match (self, places) {
            (Self::Anything, _) => "blocking or major".to_owned(),
            (Self::ChangedOrProven, Some(places)) => format!("blocking, or major in {places}"),
            (Self::ChangedOrProven, None) => "blocking".to_owned(),
            (Self::BlockingInChanged, Some(places)) => format!("blocking in {places}"),
            (Self::BlockingInChanged, None) => "none, because the plan did not change".to_owned(),
        }
    }
}

/// Returns the labels in one phrase, such as `steps 2 and 4`; `None` without any.
pub fn describe_places(blocks: &[BlockLabel]) -> Option<String> {
    let step_number = |block: &BlockLabel| match block {
        BlockLabel::Step(n) => Some(n.to_string()),
        BlockLabel::Introduction | BlockLabel::Heading(_) => None,
    };
    let steps: Vec<String> = blocks.iter().filter_map(step_number).collect();
    if steps.len() > 1 && steps.len() == blocks.len() {
        return join_words(&steps).map(|steps| format!("steps {steps}"));
    }
    let labels: Vec<String> = blocks.iter().map(ToString::to_string).collect();
    join_words(&labels)
}

fn join_words(words: &[String]) -> Option<String> {
    Some(match words {
        [] => return None,
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_names_the_text_that_changed() {
        let step = BlockLabel::Step;
        let goal = BlockLabel::Heading("Goal".to_owned());
        let described: Vec<String> = [
            (1, vec![]),
            (2, vec![]),
            (2, vec![step(2), step(4)]),
            (3, vec![]),
            (3, vec![step(2)]),
            (4, vec![goal, step(1), step(2)]),
        ]
        .iter()
        .map(|(review, changed)| ReviewBar::for_review(*review).describe(changed))
        .collect();
        assert_eq!(
            described,
            [
                "blocking or major",
                "blocking",
                "blocking, or major in steps 2 and 4",
                "none, because the plan did not change",
                "blocking in step 2",
                "blocking in \u{201c}Goal\u{201d}, step 1 and step 2",
            ]
        );
    }
}
