//! Which part of the log a transcript tells, and what of it somebody wants to see who scrolled up.
//!
//! Refuses to know where the log lies: it counts events, and numbers blocks by the event that made them.

use super::Transcript;
use super::scroll::Scroll;

/// How far from the first block what came before it is asked for, in blocks.
const NEAR: usize = 20;

/// The part of the log that is told.
#[derive(Debug, Default)]
pub(super) struct Earlier {
    /// How many events of the log came before the first that was told.
    before: u64,
    /// How many were told.
    told: u64,
    /// The number of the last event of which blocks were forgotten.
    forgotten: u64,
    view: View,
}

/// What the view wants of what came before.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum View {
    /// Nothing.
    #[default]
    Stays,
    /// The piece right before the first block.
    IsNear,
    /// All of it.
    GoesToTheBeginning,
}

impl Earlier {
    pub(super) fn on_event(&mut self) {
        self.told += 1;
    }

    /// The number of the last event.
    pub(super) fn last(&self) -> u64 {
        self.before + self.told
    }

    pub(super) fn on_forgotten(&mut self, seq: u64) {
        self.forgotten = self.forgotten.max(seq);
    }

    /// Goes to the beginning, where that is not told.
    pub(super) fn go_to_the_beginning(&mut self) {
        self.view = match self.untold() {
            0 => View::Stays,
            _ => View::GoesToTheBeginning,
        };
    }

    pub(super) fn stay(&mut self) {
        self.view = View::Stays;
    }

    /// Notes what the first visible block of a frame is.
    pub(super) fn on_shown(&mut self, from: usize, is_scrolled: bool) {
        self.view = match self.view {
            View::GoesToTheBeginning => View::GoesToTheBeginning,
            View::Stays | View::IsNear if is_scrolled && from < NEAR => View::IsNear,
            View::Stays | View::IsNear => View::Stays,
        };
    }

    /// The number of the last event that is not told whole; 0 when all are.
    fn untold(&self) -> u64 {
        self.before.max(self.forgotten)
    }
}

impl Transcript {
    /// Tells whether the log has more than is kept here.
    pub fn has_earlier(&self) -> bool {
        self.earlier.untold() > 0
    }

    /// The number of the last event that somebody wants to be told of, and how much of what came before it.
    pub fn wants_earlier(&self) -> Option<WantsEarlier> {
        let last = Some(self.earlier.untold()).filter(|last| *last > 0)?;
        match self.earlier.view {
            View::Stays => None,
            View::IsNear => Some(WantsEarlier::Piece { last }),
            View::GoesToTheBeginning => Some(WantsEarlier::All { last }),
        }
    }

    /// Says how many events of the log came before those that are told.
    pub fn begin_after(&mut self, before: u64) {
        self.earlier.before = before;
    }

    /// Puts what came right before the first block in front; what is looked at stays where it is, unless
    /// the beginning was asked for.
    pub fn put_before(&mut self, mut earlier: Self) {
        earlier.pass_todos(&self.todos_of());
        self.count_from(earlier.earlier.last());
        let untold = earlier.earlier.untold();
        for mut block in earlier.blocks.into_iter().rev() {
            // A piece that is still being written in the past was never finished.
            if block.is_provisional() {
                continue;
            }
            if let Some(end) = block.running().and_then(|item| self.ends.remove(item)) {
                block.end_tool(end);
            }
            block.name_from(&self.root);
            block.name_key(&self.key);
            block.tell_time(self.clock);
            self.n_bytes += block.n_bytes();
            self.first -= 1;
            self.blocks.push_front(block);
        }
        self.ends.extend(earlier.ends);
        let last = self.earlier.last();
        self.earlier.before = earlier.earlier.before;
        self.earlier.told = last.saturating_sub(self.earlier.before);
        self.earlier.forgotten = untold;
        if self.earlier.view == View::GoesToTheBeginning {
            self.scroll = Scroll::at(self.first, 0);
        }
        self.forget_old();
    }

    /// Numbers the events that were told on, where it was not known how many came before them.
    fn count_from(&mut self, before: u64) {
        let known = self.earlier.untold();
        if known > 0 || before == 0 {
            return;
        }
        self.blocks.iter_mut().for_each(|block| block.seq += before);
        self.earlier.before = before;
    }
}

/// What of the log somebody wants to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WantsEarlier {
    /// A piece that ends with this event.
    Piece {
        /// Its number in the log.
        last: u64,
    },
    /// Everything up to this event.
    All {
        /// Its number in the log.
        last: u64,
    },
}
