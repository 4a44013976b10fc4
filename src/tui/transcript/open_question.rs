//! The run's open question: a block of the chat, or the failure in whose words it is asked, and what of them a dialog below
//! makes unnecessary.

use super::ChatTranscript;
use super::block_content::FactTone;
use super::block_layout::{BlockVisibility, folded_failure};
use super::transcript_block::TranscriptBlock;

/// A question of the run that has no answer yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenQuestion {
    /// Its id in the run.
    id: u32,
    /// The number of its block, or of the failure in whose words it is asked.
    block: usize,
}

impl ChatTranscript {
    /// Returns the id of the open question that has a block.
    pub fn open_question_id(&self) -> Option<u32> {
        self.open_question.map(|open| open.id)
    }

    /// Hides the open question while a dialog below asks it, and what failed if the dialog says that, too; shows both while
    /// none does. `is_in_dialog` tells whether a line can be read in the dialog.
    pub fn set_question_below(&mut self, is_below: bool, is_in_dialog: impl Fn(&str) -> bool) {
        let open = self.open_question;
        let at = open.and_then(|open| open.block.checked_sub(self.first));
        let Some(block) = at.and_then(|at| self.blocks.get_mut(at)) else {
            return;
        };
        let is_question = block.content.is_question();
        if is_question {
            block.visibility = if is_below {
                BlockVisibility::ShownElsewhere
            } else {
                BlockVisibility::Shown
            };
        }
        let failed = at.and_then(|at| at.checked_sub(usize::from(is_question)));
        if let Some(block) = failed.and_then(|at| self.blocks.get_mut(at)) {
            let failure = block.content.failure_details().map(folded_failure);
            let is_said = |text: &String| text.lines().all(&is_in_dialog);
            block.is_failure_below = is_below && failure.as_ref().is_some_and(is_said);
        }
    }

    /// Shows the open question again and forgets it.
    pub(super) fn close_question(&mut self) {
        self.set_question_below(false, |_| false);
        self.open_question = None;
    }

    /// Notes that a question is open; its block is the last one of which `has_question` is true: a question, or the failure
    /// that it is about and whose words it has.
    pub(super) fn open_question_of(
        &mut self,
        id: u32,
        has_question: impl Fn(&TranscriptBlock) -> bool,
    ) {
        let mut blocks = self.blocks.iter();
        let at = blocks.rposition(has_question);
        self.open_question = at.map(|at| OpenQuestion {
            id,
            block: self.first + at,
        });
    }

    /// Returns whether the same question was asked and no agent has said or done anything since.
    pub(super) fn repeats_question(&self, told: &[TranscriptBlock]) -> bool {
        let since = self.blocks.iter().rev();
        let mut since = since.take_while(|block| !block.author.is_agent());
        let asked = since.find(|block| block.content.is_question());
        asked.is_some_and(|asked| told.iter().any(|block| block.content == asked.content))
    }

    /// Returns whether the stream ends with the failure that the question is about, in the same words.
    pub(super) fn repeats_failure(&self, asked: &[TranscriptBlock]) -> bool {
        let failed = self.blocks.back().and_then(TranscriptBlock::fact);
        failed.is_some_and(|(failed, tone, _)| {
            let mut asked = asked.iter().filter_map(TranscriptBlock::fact);
            tone == FactTone::Bad && asked.any(|(text, ..)| text == failed)
        })
    }
}
