//! The run's open question: a block of the chat, or the failure in whose words it is asked, and what of them a dialog below
//! makes unnecessary.

use super::ChatTranscript;
use super::block_content::{BlockContent, FactTone};
use super::block_layout::{DialogOverlap, folded_failure};
use super::transcript_block::TranscriptBlock;
use crate::domain::ids::RequestId;

/// What the dialog says that asks the open question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialogWording {
    /// Its question and its lines.
    pub text: String,
    /// Whether there is room for all of it.
    pub is_whole: bool,
}

impl DialogWording {
    /// Returns what of a failure, or of a list of judgements, it says, too.
    fn overlap_with(&self, content: &BlockContent) -> DialogOverlap {
        let BlockContent::Fact {
            text, tone, list, ..
        } = content
        else {
            return DialogOverlap::Nothing;
        };
        let failure = content.failure_details().map(folded_failure);
        let is_said = |text: &str| self.text.contains(text);
        let has_details = failure.is_none_or(|text| self.is_whole && text.lines().all(is_said));
        // Of a list only the reasons are compared, so each row must have one and nothing that its label alone says.
        let has_text = if list.is_empty() {
            *tone == FactTone::Bad && clauses(text).all(is_said)
        } else {
            list.iter().all(|line| {
                let is_reason = line.severity.is_none() && line.outcome.is_none();
                if !is_reason || line.text.trim().is_empty() {
                    return false;
                }
                let reason = line.text.split_once(": ");
                clauses(reason.map_or(&line.text, |(_, reason)| reason)).all(is_said)
            })
        };
        // One line is among the first rows of the dialog.
        let is_short = self.is_whole || list.len() == 1;
        match (has_details, has_text && is_short) {
            (true, true) => DialogOverlap::Whole,
            (true, false) => DialogOverlap::Details,
            (false, _) => DialogOverlap::Nothing,
        }
    }
}

/// Returns the parts of a sentence, which a dialog may have in its title and in its lines.
fn clauses(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(": ").flat_map(|part| part.split(". "));
    let parts = parts.flat_map(str::lines);
    parts.map(|part| part.split(", tried ").next().unwrap_or(part).trim())
}

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

    /// Hides the open question while a dialog below asks it, and what the dialog says, too; shows both while none does.
    pub fn set_question_below(&mut self, dialog: Option<&DialogWording>) {
        let open = self.open_question;
        let at = open.and_then(|open| open.block.checked_sub(self.first));
        let Some(block) = at.and_then(|at| self.blocks.get_mut(at)) else {
            return;
        };
        let is_question = block.content.is_question();
        if is_question {
            block.dialog_overlap = match dialog {
                Some(_) => DialogOverlap::Whole,
                None => DialogOverlap::Nothing,
            };
        }
        let failed = at.and_then(|at| at.checked_sub(usize::from(is_question)));
        if let Some(block) = failed.and_then(|at| self.blocks.get_mut(at)) {
            block.dialog_overlap = dialog.map_or(DialogOverlap::Nothing, |dialog| {
                dialog.overlap_with(&block.content)
            });
        }
    }

    /// Shortens the call that a dialog below asks about; it is whole again when none does.
    pub fn set_call_below(&mut self, request: Option<&RequestId>) {
        if self.call_below.as_ref() == request {
            return;
        }
        let before = std::mem::replace(&mut self.call_below, request.cloned());
        for (request, is_below) in [(before.as_ref(), false), (request, true)] {
            let card = request.and_then(|request| self.card_of_request(request));
            if let Some(block) = card {
                block.update_card(|card| card.is_in_dialog = is_below);
            }
        }
    }

    /// Shows the open question again and forgets it.
    pub(super) fn close_question(&mut self) {
        self.set_question_below(None);
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
