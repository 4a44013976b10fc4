//! Decides where a new block is inserted: an agent's finished block goes before the text that it is still
//! sending.
//!
//! Pieces of a text do not pass through the log, so they can arrive before the event of an earlier thought.

use super::ChatTranscript;
use super::block_content::{BlockContent, FactTone};
use super::block_layout::BlockVisibility;
use super::transcript_block::{BlockAuthor, TranscriptBlock};

impl ChatTranscript {
    /// Appends a block, or inserts it before the text that its author (or the role it is about) is still
    /// sending, or before the card of a finished run.
    pub(super) fn insert_block(&mut self, mut block: TranscriptBlock, about: Option<BlockAuthor>) {
        let is_own = block.author.is_agent() && !block.is_provisional();
        let said_by = is_own.then_some(block.author).or(about);
        let said = said_by.and_then(|who| self.first_streaming_block(who));
        let Some(at) = said.or_else(|| self.run_summary_index()) else {
            self.blocks.push_back(block);
            return;
        };
        if let (true, Some(after)) = (block.author.is_agent(), self.blocks.get_mut(at)) {
            // The name line moves to the block that is now the first one.
            if std::mem::take(&mut after.is_named) {
                block.is_named = true;
                block.cli = after.cli.take();
            }
        }
        self.blocks.insert(at, block);
    }

    /// Returns the first of the texts at the end that an agent is still sending.
    fn first_streaming_block(&self, who: BlockAuthor) -> Option<usize> {
        let mut blocks = self.blocks.iter().enumerate().rev();
        let is_said = |block: &TranscriptBlock| block.is_provisional_of(who, None);
        let mut first = None;
        while let Some((at, _)) = blocks.next().filter(|(_, block)| is_said(block)) {
            first = Some(at);
        }
        first
    }

    /// Hides the last question of the run: its answer says what it was. Until then it is seen where no dialog asks it, as
    /// on a read-only screen.
    pub(super) fn hide_last_question(&mut self) {
        let is_question = |block: &&mut TranscriptBlock| {
            matches!(
                block.content,
                BlockContent::Fact {
                    tone: FactTone::Question,
                    ..
                }
            )
        };
        if let Some(block) = self.blocks.iter_mut().rev().find(is_question) {
            block.visibility = BlockVisibility::ShownElsewhere;
        }
    }

    /// Returns whether one of the last blocks has this text, which may be cut.
    pub fn ends_with_text(&self, text: &str) -> bool {
        /// A review, the end of its turn and its question, with room for a warning.
        const N_BLOCKS: usize = 5;
        let text = text.trim_end_matches('…');
        let mut last = self.blocks.iter().rev().take(N_BLOCKS);
        last.any(|block| block.content.to_text().contains(text))
    }

    /// Returns whether the last block is a question that a dialog shows right below.
    pub(super) fn hides_last_block(&self) -> bool {
        let last = self.blocks.back().map(|block| &block.content);
        let is_question = matches!(
            last,
            Some(BlockContent::Fact { tone: FactTone::Question, more, .. }) if more.is_empty()
        );
        self.is_question_below && is_question && self.scroll.follows_end()
    }
}
