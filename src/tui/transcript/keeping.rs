//! How much of the stream is kept: old blocks go, whole events at a time, and are told again from the log.
//!
//! Refuses to take anything from under the eyes of somebody who scrolled up.

use super::Transcript;
use super::block::Block;

/// How much is kept while the end is followed.
const AT_THE_END: Most = Most {
    blocks: 2_000,
    bytes: 8 << 20,
};
/// How much is kept while somebody reads what came before: nothing is taken from under their eyes.
const SCROLLED: Most = Most {
    blocks: 1_000_000,
    bytes: 1 << 30,
};

/// How much is kept.
#[derive(Debug, Clone, Copy)]
struct Most {
    blocks: usize,
    /// Of text, all blocks together.
    bytes: usize,
}

impl Transcript {
    pub(super) fn forget_old(&mut self) {
        let is_read = !self.follows() || self.is_piece || self.earlier.goes_down();
        let most = match is_read {
            true => SCROLLED,
            false => AT_THE_END,
        };
        while self.blocks.len() > most.blocks
            || (self.n_bytes > most.bytes && self.blocks.len() > 1)
        {
            let Some(seq) = self.blocks.front().map(|block| block.seq) else {
                break;
            };
            // What an event told is forgotten together: it is told again together.
            while self.blocks.len() > 1 && self.blocks.front().is_some_and(|old| old.seq == seq) {
                self.forget_first();
            }
            self.earlier.part.on_forgotten(seq);
            if self.blocks.len() <= 1 {
                break;
            }
        }
    }

    fn forget_first(&mut self) {
        if let Some(old) = self.blocks.pop_front() {
            self.n_bytes = self.n_bytes.saturating_sub(old.n_bytes());
            self.first += 1;
        }
    }

    pub(super) fn count(&mut self) {
        self.n_bytes = self.blocks.iter().map(Block::n_bytes).sum();
    }
}
