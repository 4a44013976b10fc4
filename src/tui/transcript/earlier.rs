//! Which part of the log a transcript tells, and what of it somebody wants to see who scrolled up.
//!
//! Refuses to know where the log lies: blocks are numbered by the event that made them.

use super::Transcript;
use super::block::{Block, Content};
use super::scroll::Scroll;
use super::turns::Mended;
use crate::tui::part::Part;

/// How far from the first block what came before it is asked for, in blocks.
const NEAR: usize = 20;

/// The part of the log that is told.
#[derive(Debug, Default)]
pub(super) struct Earlier {
    pub(super) part: Part,
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
    /// All of it, to stand at its beginning.
    GoesToTheBeginning,
    /// All down to this event; the view stays until it is there.
    GoesDownTo(u64),
}

impl Earlier {
    /// A log that is told from its first event on.
    pub(super) fn from_the_first() -> Self {
        Self {
            part: Part::from_the_first(),
            view: View::Stays,
        }
    }

    pub(super) fn on_event(&mut self) {
        self.part.on_event();
    }

    /// The number of the last event.
    pub(super) fn last(&self) -> u64 {
        self.part.last()
    }

    /// Goes to the beginning, where that is not told.
    pub(super) fn go_to_the_beginning(&mut self) {
        self.view = match self.part.untold() {
            0 => View::Stays,
            _ => View::GoesToTheBeginning,
        };
    }

    /// Has everything told down to an event.
    pub(super) fn go_down_to(&mut self, seq: u64) {
        self.view = View::GoesDownTo(seq);
    }

    /// Tells whether something is being told for which the view waits where it stands.
    pub(super) fn goes_down(&self) -> bool {
        matches!(self.view, View::GoesDownTo(_))
    }

    pub(super) fn stay(&mut self) {
        self.view = View::Stays;
    }

    /// Notes what the first visible block of a frame is.
    pub(super) fn on_shown(&mut self, from: usize, is_scrolled: bool) {
        self.view = match self.view {
            View::GoesToTheBeginning | View::GoesDownTo(_) => self.view,
            View::Stays | View::IsNear if is_scrolled && from < NEAR => View::IsNear,
            View::Stays | View::IsNear => View::Stays,
        };
    }
}

impl Transcript {
    /// Tells whether the log has more than is kept here.
    pub fn has_earlier(&self) -> bool {
        self.earlier.part.untold() > 0
    }

    /// The number of the last event that somebody wants to be told of, and how much of what came before it.
    pub fn wants_earlier(&self) -> Option<WantsEarlier> {
        let last = Some(self.earlier.part.untold()).filter(|last| *last > 0)?;
        match self.earlier.view {
            View::Stays => None,
            View::IsNear => Some(WantsEarlier::Piece { last }),
            View::GoesToTheBeginning => Some(WantsEarlier::All { last }),
            View::GoesDownTo(seq) => (last >= seq).then_some(WantsEarlier::All { last }),
        }
    }

    /// Begins a piece of the past, which is kept whole: how many events of the log came before it.
    pub fn begin_after(&mut self, before: u64) {
        self.earlier.part.begin_after(before);
        self.is_piece = true;
        if before > 0 {
            self.turns.begin_later();
        }
    }

    /// Tells what was not known while what came before was not told.
    fn mend(&mut self, mended: Mended) {
        for (seq, role, text) in mended.lines {
            let is_it = |block: &&mut Block| {
                let is_line = matches!(block.content, Content::Notice { .. });
                is_line && block.seq == seq && block.about == Some(role)
            };
            if let Some(block) = self.blocks.iter_mut().find(is_it) {
                block.tell(Content::notice(&text));
            }
        }
        if let Some((seq, mut block)) = mended.line_before {
            block.seq = seq;
            block.name_from(&self.root);
            self.first -= 1;
            self.blocks.push_front(block);
        }
        if let Some(seq) = mended.unnamed {
            let is_it = |block: &&mut Block| block.seq == seq && block.is_named;
            if let Some(block) = self.blocks.iter_mut().find(is_it) {
                block.leave_name_out();
            }
        }
        self.count();
    }

    /// Puts what came right before the first block in front; what is looked at stays where it is, unless
    /// the beginning was asked for. What lies elsewhere is not taken.
    pub fn put_before(&mut self, mut earlier: Self) {
        if !self
            .earlier
            .part
            .is_preceded_by(earlier.earlier.part.last())
        {
            return;
        }
        earlier.pass_todos(&self.todos_of());
        let piece = earlier.earlier.part;
        let n_before = self.earlier.part.count_from(piece.last());
        self.blocks
            .iter_mut()
            .for_each(|block| block.seq += n_before);
        self.turns.count_from(n_before);
        let mended = self.turns.take_earlier(earlier.turns);
        self.mend(mended);
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
        self.earlier.part.reach_back(&piece);
        if self.earlier.view == View::GoesToTheBeginning {
            self.scroll = Scroll::at(self.first, 0);
        }
        self.forget_old();
        if self.earlier.part.untold() >= piece.last() {
            // There is no room for more.
            self.earlier.stay();
        }
    }
}

/// What of the log somebody wants to see.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// Whether letters stand in what came before; nothing of it is to be shown yet.
    Look {
        /// The number in the log of the event from which on back.
        last: u64,
        /// The letters, in lower case.
        letters: String,
    },
    /// The rows of Log that a piece has which ends with this event.
    Rows {
        /// Its number in the log.
        last: u64,
    },
}

impl WantsEarlier {
    /// The number in the log of the event with which it ends.
    pub fn last(&self) -> u64 {
        match self {
            Self::Piece { last }
            | Self::All { last }
            | Self::Look { last, .. }
            | Self::Rows { last } => *last,
        }
    }
}
