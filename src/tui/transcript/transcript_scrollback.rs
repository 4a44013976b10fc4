//! Which part of the log a transcript contains, and which earlier part the user scrolled to.
//!
//! Blocks are numbered by the event that created them; the caller reads the log.

use crate::domain::ids::UnixMillis;
use crate::tui::log_range::LogRange;

/// Distance from the first block, in blocks, at which earlier blocks are requested.
const PREFETCH_BLOCKS: usize = 20;

/// The part of the log that the transcript contains.
#[derive(Debug, Default)]
pub(super) struct TranscriptScrollback {
    pub(super) range: LogRange,
    pub(super) target: ScrollbackTarget,
    /// When the last event happened, if there was one.
    last_event_at: Option<UnixMillis>,
}

/// The earlier part that the view needs.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScrollbackTarget {
    #[default]
    Nothing,
    /// The chunk right before the first block.
    PreviousChunk,
    /// Everything, to show the start of the log.
    LogStart,
    /// Everything down to this event; the view stays where it is until then.
    DownToEvent(u64),
}

impl TranscriptScrollback {
    /// Creates the range of a log that is shown from its first event on.
    pub(super) fn from_start() -> Self {
        Self {
            range: LogRange::from_start(),
            target: ScrollbackTarget::Nothing,
            last_event_at: None,
        }
    }

    pub(super) fn on_event(&mut self, at: UnixMillis) {
        self.range.count_event();
        self.last_event_at = Some(at);
    }

    /// Returns when the last event happened; `None` before the first.
    pub(super) fn last_event_at(&self) -> Option<UnixMillis> {
        self.last_event_at
    }

    /// Returns the number of the last event.
    pub(super) fn last_event(&self) -> u64 {
        self.range.last_event()
    }

    /// Requests everything down to the start of the log, if that is not loaded.
    pub(super) fn request_log_start(&mut self) {
        self.target = match self.range.last_incomplete_event() {
            0 => ScrollbackTarget::Nothing,
            _ => ScrollbackTarget::LogStart,
        };
    }

    /// Requests everything down to an event.
    pub(super) fn request_down_to(&mut self, seq: u64) {
        self.target = ScrollbackTarget::DownToEvent(seq);
    }

    /// Returns whether a load down to an event is running; until it is done, the view stays where it is.
    pub(super) fn is_going_down(&self) -> bool {
        matches!(self.target, ScrollbackTarget::DownToEvent(_))
    }

    pub(super) fn clear_request(&mut self) {
        self.target = ScrollbackTarget::Nothing;
    }

    /// Notes the first visible block of a frame, and requests earlier blocks when it is near.
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

/// A part of the log that the view needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScrollbackDemand {
    /// The chunk that ends with this event.
    Chunk {
        /// The number of that event in the log.
        last: u64,
    },
    /// Everything up to this event.
    All {
        /// The number of that event in the log.
        last: u64,
    },
    /// Whether earlier events contain a text; nothing of them is shown yet.
    Search {
        /// The number of the event to search backwards from.
        last: u64,
        /// The search text, in lower case.
        letters: String,
    },
    /// The Log tab's rows of the chunk that ends with this event.
    Rows {
        /// The number of that event in the log.
        last: u64,
    },
}

impl ScrollbackDemand {
    /// Returns the log number of the event that the part ends with.
    pub fn last_event(&self) -> u64 {
        match self {
            Self::Chunk { last }
            | Self::All { last }
            | Self::Search { last, .. }
            | Self::Rows { last } => *last,
        }
    }
}
