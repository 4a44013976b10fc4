//! Shows on the line of an agent's name which CLI it is, and what its turn used and how long it took.
//!
//! The lines that say this stay in the transcript, for linear mode, but have no rows of their own where the name is loaded.

use std::ops::Range;

use super::ChatTranscript;
use super::block_layout::BlockVisibility;
use super::transcript_block::{BlockAuthor, TranscriptBlock};

impl ChatTranscript {
    /// Returns the CLI that a notice before an agent's name tells of; the notice has no row any more.
    pub(super) fn take_cli_notice(&mut self, agent: BlockAuthor) -> Option<String> {
        let role = agent.role()?;
        let before = self.blocks.iter_mut().rev();
        let mut before = before.take_while(|block| !block.is_named);
        let notice = before.find(|block| block.cli.is_some() && block.about == Some(role))?;
        notice.visibility = BlockVisibility::ShownElsewhere;
        notice.cli.clone()
    }

    /// Moves the ends of turns among these blocks to the name lines before them.
    pub(super) fn place_turn_ends(&mut self, blocks: Range<usize>) {
        let mut named = None;
        for at in blocks {
            let Some(block) = self.blocks.get_mut(at) else {
                return;
            };
            if block.is_named && block.author.is_agent() {
                named = Some((at, block.author));
            }
            if block.turn_usage.is_empty() {
                continue;
            }
            let owner = block.column_owner();
            let name = named.take().filter(|(_, who)| *who == owner);
            block.visibility = match name {
                Some(_) => BlockVisibility::ShownElsewhere,
                None => BlockVisibility::Shown,
            };
            let usage = block.turn_usage.clone();
            if let Some(block) = name.and_then(|(at, _)| self.blocks.get_mut(at)) {
                block.set_name_meta(usage);
            }
        }
    }

    /// Returns the last name line of an agent before a block.
    pub(super) fn name_line_before(&self, at: usize) -> usize {
        let mut before = self.blocks.range(..at.min(self.blocks.len()));
        let is_name = |block: &TranscriptBlock| block.is_named && block.author.is_agent();
        before.rposition(is_name).unwrap_or(0)
    }

    /// Places the ends of turns again whose name lines are no longer, or only now, among the blocks: `n_new` blocks were
    /// put before the others.
    pub(super) fn place_first_turn_ends(&mut self, n_new: usize) {
        let is_name = |block: &&TranscriptBlock| block.is_named && block.author.is_agent();
        let later = self.blocks.iter().skip(n_new);
        let n_later = later.take_while(|block| !is_name(block)).count();
        self.place_turn_ends(0..n_new + n_later);
    }
}
