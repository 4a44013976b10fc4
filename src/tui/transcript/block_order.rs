//! Where a block comes to stand: what an agent has finished stands before what it is still saying.
//!
//! Pieces of a text come past the log, so that they can be here before the event of what was thought earlier.

use super::ChatTranscript;
use super::transcript_block::{BlockAuthor, TranscriptBlock};
use crate::domain::turn::Role;

impl ChatTranscript {
    /// Puts a block at the end, or before the text that its author, or whom it is about, is still saying, or before the
    /// card of a run that is over.
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
            // The name line goes to whoever stands first now.
            block.is_named |= std::mem::take(&mut after.is_named);
        }
        self.blocks.insert(at, block);
    }

    /// The first of the texts at the end that a role is still saying.
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
