//! Which part of the log a transcript tells, and what of it somebody wants to see who scrolled up.
//!
//! Refuses to know where the log lies: blocks are numbered by the event that made them.

use super::ChatTranscript;
use super::transcript_block::{BlockContent, TranscriptBlock};
use super::transcript_scroll::TranscriptScrollPosition;
use super::turn_tracker::TurnCorrections;
use crate::tui::log_range::LogRange;

/// How far from the first block what came before it is asked for, in blocks.
const PREFETCH_BLOCKS: usize = 20;

/// The part of the log that is told.
#[derive(Debug, Default)]
pub(super) struct TranscriptScrollback {
    pub(super) range: LogRange,
    target: ScrollbackTarget,
}

/// What the view wants of what came before.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum ScrollbackTarget {
    /// Nothing.
    #[default]
    Nothing,
    /// The piece right before the first block.
    PreviousChunk,
    /// All of it, to stand at its beginning.
    LogStart,
    /// All down to this event; the view stays until it is there.
    DownToEvent(u64),
}

impl TranscriptScrollback {
    /// A log that is told from its first event on.
    pub(super) fn from_start() -> Self {
        Self {
            range: LogRange::from_start(),
            target: ScrollbackTarget::Nothing,
        }
    }

    pub(super) fn on_event(&mut self) {
        self.range.count_event();
    }

    /// The number of the last event.
    pub(super) fn last_event(&self) -> u64 {
        self.range.last_event()
    }

    /// Goes to the beginning, where that is not told.
    pub(super) fn request_log_start(&mut self) {
        self.target = match self.range.last_incomplete_event() {
            0 => ScrollbackTarget::Nothing,
            _ => ScrollbackTarget::LogStart,
        };
    }

    /// Has everything told down to an event.
    pub(super) fn request_down_to(&mut self, seq: u64) {
        self.target = ScrollbackTarget::DownToEvent(seq);
    }

    /// Tells whether something is being told for which the view waits where it stands.
    pub(super) fn is_going_down(&self) -> bool {
        matches!(self.target, ScrollbackTarget::DownToEvent(_))
    }

    pub(super) fn clear_request(&mut self) {
        self.target = ScrollbackTarget::Nothing;
    }

    /// Notes what the first visible block of a frame is.
    pub(super) fn on_shown(&mut self, from: usize, is_scrolled: bool) {
        self.target = match self.target {
            ScrollbackTarget::LogStart | ScrollbackTarget::DownToEvent(_) => self.target,
            ScrollbackTarget::Nothing | ScrollbackTarget::PreviousChunk
                if is_scrolled && from < PREFETCH_BLOCKS =>
            {
                ScrollbackTarget::PreviousChunk
            }
            ScrollbackTarget::Nothing | ScrollbackTarget::PreviousChunk => {
                ScrollbackTarget::Nothing
            }
        };
    }
}

impl ChatTranscript {
    /// Tells whether the log has more than is kept here.
    pub fn has_scrollback(&self) -> bool {
        self.earlier.range.last_incomplete_event() > 0
    }

    /// The number of the last event that somebody wants to be told of, and how much of what came before it.
    pub fn wanted_scrollback(&self) -> Option<ScrollbackDemand> {
        let last = Some(self.earlier.range.last_incomplete_event()).filter(|last| *last > 0)?;
        match self.earlier.target {
            ScrollbackTarget::Nothing => None,
            ScrollbackTarget::PreviousChunk => Some(ScrollbackDemand::Chunk { last }),
            ScrollbackTarget::LogStart => Some(ScrollbackDemand::All { last }),
            ScrollbackTarget::DownToEvent(seq) => {
                (last >= seq).then_some(ScrollbackDemand::All { last })
            }
        }
    }

    /// Begins a piece of the past, which is kept whole: how many events of the log came before it.
    pub fn start_after(&mut self, before: u64) {
        self.earlier.range.start_after(before);
        self.is_piece = true;
        if before > 0 {
            self.turns.mark_unseen_turns();
        }
    }

    /// Tells what was not known while what came before was not told.
    fn apply_corrections(&mut self, mended: TurnCorrections) {
        for (seq, role, text) in mended.turn_end_lines {
            let is_it = |block: &&mut TranscriptBlock| {
                let is_line = matches!(block.content, BlockContent::Notice { .. });
                is_line && block.seq == seq && block.about == Some(role)
            };
            if let Some(block) = self.blocks.iter_mut().find(is_it) {
                block.replace_content(BlockContent::notice(&text));
            }
        }
        if let Some((seq, mut block)) = mended.bare_end_block {
            block.seq = seq;
            block.relativize_paths(&self.root);
            self.first -= 1;
            self.blocks.push_front(block);
        }
        if let Some(seq) = mended.block_without_name {
            let is_it = |block: &&mut TranscriptBlock| block.seq == seq && block.is_named;
            if let Some(block) = self.blocks.iter_mut().find(is_it) {
                block.hide_name();
            }
        }
        self.recount_bytes();
    }

    /// Puts what came right before the first block in front; what is looked at stays where it is, unless
    /// the beginning was asked for. What lies elsewhere is not taken.
    pub fn prepend_chunk(&mut self, mut earlier: Self) {
        if !self
            .earlier
            .range
            .is_preceded_by(earlier.earlier.range.last_event())
        {
            return;
        }
        earlier.mark_todos_outdated(&self.sessions_with_todos());
        let piece = earlier.earlier.range;
        let n_before = self.earlier.range.set_events_before(piece.last_event());
        self.blocks
            .iter_mut()
            .for_each(|block| block.seq += n_before);
        self.turns.shift_sequence(n_before);
        let mended = self.turns.merge_earlier(earlier.turns);
        self.apply_corrections(mended);
        for mut block in earlier.blocks.into_iter().rev() {
            // A piece that is still being written in the past was never finished.
            if block.is_provisional() {
                continue;
            }
            if let Some(end) = block
                .running_tool()
                .and_then(|item| self.orphan_tool_ends.remove(item))
            {
                block.end_tool(end);
            }
            block.relativize_paths(&self.root);
            block.set_expand_key(&self.expand_key);
            block.localize_utc_times(self.clock);
            self.n_bytes += block.n_bytes();
            self.first -= 1;
            self.blocks.push_front(block);
        }
        self.orphan_tool_ends.extend(earlier.orphan_tool_ends);
        self.earlier.range.extend_back(&piece);
        if self.earlier.target == ScrollbackTarget::LogStart {
            self.scroll = TranscriptScrollPosition::at_line(self.first, 0);
        }
        self.evict_old_blocks();
        if self.earlier.range.last_incomplete_event() >= piece.last_event() {
            // There is no room for more.
            self.earlier.clear_request();
        }
    }
}

/// What of the log somebody wants to see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScrollbackDemand {
    /// A piece that ends with this event.
    Chunk {
        /// Its number in the log.
        last: u64,
    },
    /// Everything up to this event.
    All {
        /// Its number in the log.
        last: u64,
    },
    /// Whether letters stand in what came before; nothing of it is to be shown yet.
    Search {
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

impl ScrollbackDemand {
    /// The number in the log of the event with which it ends.
    pub fn last_event(&self) -> u64 {
        match self {
            Self::Chunk { last }
            | Self::All { last }
            | Self::Search { last, .. }
            | Self::Rows { last } => *last,
        }
    }
}
