//! Decides where a new block is inserted: an agent's finished block goes before the text that it is still
//! sending.
//!
//! Pieces of a text do not pass through the log, so they can arrive before the event of an earlier thought.

use super::ChatTranscript;
use super::transcript_block::{BlockAuthor, TranscriptBlock};
use crate::domain::turn::Role;

impl ChatTranscript {
    /// Appends a block, or inserts it before the text that its author (or the role it is about) is still
    /// sending, or before the card of a finished run.
    pub(super) fn insert_block(&mut self, mut block: TranscriptBlock, about: Option<Role>) {
        let said_by = match (block.author, block.is_provisional()) {
            (BlockAuthor::Agent(role), false) => Some(role),
            _ => about,
        };
        let said = said_by.and_then(|role| self.first_streaming_block(role));
        let Some(at) = said.or_else(|| self.run_summary_index()) else {
            self.blocks.push_back(block);
            return;
        };
        if let (BlockAuthor::Agent(_), Some(after)) = (block.author, self.blocks.get_mut(at)) {
            // The name line moves to the block that is now the first one.
            block.is_named |= std::mem::take(&mut after.is_named);
        }
        self.blocks.insert(at, block);
    }

    /// Returns the first of the texts at the end that a role is still sending.
    fn first_streaming_block(&self, role: Role) -> Option<usize> {
        let mut blocks = self.blocks.iter().enumerate().rev();
        let is_said = |block: &TranscriptBlock| block.is_provisional_of(role, None);
        let mut first = None;
        while let Some((at, _)) = blocks.next().filter(|(_, block)| is_said(block)) {
            first = Some(at);
        }
        first
    }
}
