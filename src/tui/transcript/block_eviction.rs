//! Limits how much of the stream is kept: old blocks are dropped, whole events at a time, and can be
//! rebuilt from the log.
//!
//! Nothing that the user is reading is dropped.

use super::ChatTranscript;
use super::transcript_block::TranscriptBlock;

/// Limit while the view follows the end.
const LIMIT_AT_END: RetentionLimit = RetentionLimit {
    blocks: 2_000,
    bytes: 8 << 20,
};
/// Limit while the user reads earlier blocks: practically none, so that the text stays in view.
const LIMIT_WHILE_SCROLLED: RetentionLimit = RetentionLimit {
    blocks: 1_000_000,
    bytes: 1 << 30,
};

#[derive(Debug, Clone, Copy)]
struct RetentionLimit {
    blocks: usize,
    /// Of text, over all blocks.
    bytes: usize,
}

impl ChatTranscript {
    pub(super) fn evict_old_blocks(&mut self) {
        let is_read = !self.follows_end() || self.is_piece || self.earlier.is_going_down();
        let most = if is_read {
            LIMIT_WHILE_SCROLLED
        } else {
            LIMIT_AT_END
        };
        let first = self.first;
        while self.blocks.len() > most.blocks
            || (self.n_bytes > most.bytes && self.blocks.len() > 1)
        {
            let Some(seq) = self.blocks.front().map(|block| block.seq) else {
                break;
            };
            // The blocks of one event are dropped together, because they are rebuilt together.
            while self.blocks.len() > 1 && self.blocks.front().is_some_and(|old| old.seq == seq) {
                self.evict_first_event();
            }
            self.earlier.range.note_evicted(seq);
            if self.blocks.len() <= 1 {
                break;
            }
        }
        if self.first != first {
            self.refold_reads(0);
            self.place_first_turn_ends(0);
        }
    }

    fn evict_first_event(&mut self) {
        if let Some(old) = self.blocks.pop_front() {
            self.n_bytes = self.n_bytes.saturating_sub(old.n_bytes());
            self.first += 1;
        }
    }

    pub(super) fn recount_bytes(&mut self) {
        self.n_bytes = self.blocks.iter().map(TranscriptBlock::n_bytes).sum();
    }
}
