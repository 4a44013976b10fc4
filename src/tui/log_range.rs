//! Tracks which part of the event log a view covers, counted in events.

/// The part of a log that a view covers; it always reaches to the log's end.
#[derive(Debug, Default)]
pub struct LogRange {
    /// The number of events before the first covered one.
    before: u64,
    /// The number of covered events.
    shown: u64,
    /// The number of the last event that was partly evicted.
    last_evicted: u64,
    /// Whether `before` is known.
    is_start_known: bool,
}

impl LogRange {
    /// Creates a range that covers the log from its first event.
    pub fn from_start() -> Self {
        Self {
            is_start_known: true,
            ..Self::default()
        }
    }

    /// Sets how many events come before the covered ones.
    pub fn start_after(&mut self, before: u64) {
        (self.before, self.is_start_known) = (before, true);
    }

    /// Counts one more covered event.
    pub fn count_event(&mut self) {
        self.shown += 1;
    }

    /// Returns the number of the last event.
    pub fn last_event(&self) -> u64 {
        self.before + self.shown
    }

    /// Notes that the output of this event, and of all before it, was evicted.
    pub fn note_evicted(&mut self, seq: u64) {
        self.last_evicted = self.last_evicted.max(seq);
    }

    /// Returns the number of the last event that is not fully covered; 0 if all are.
    pub fn last_incomplete_event(&self) -> u64 {
        self.before.max(self.last_evicted)
    }

    /// Returns whether a piece of the log that ends with event `last` is directly before the covered part.
    pub fn is_preceded_by(&self, last: u64) -> bool {
        !self.is_start_known() || self.last_incomplete_event() == last
    }

    /// Sets the number of earlier events if it was unknown; returns by how much the event numbers shift.
    pub fn set_events_before(&mut self, before: u64) -> u64 {
        if self.is_start_known() {
            return 0;
        }
        self.start_after(before);
        before
    }

    fn is_start_known(&self) -> bool {
        self.is_start_known || self.last_incomplete_event() > 0
    }

    /// Extends the range by the piece directly before it.
    pub fn extend_back(&mut self, piece: &Self) {
        self.shown = self.last_event().saturating_sub(piece.before);
        self.before = piece.before;
        self.last_evicted = piece.last_incomplete_event();
    }
}
