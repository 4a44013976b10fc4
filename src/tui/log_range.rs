//! Which part of a log something tells, counted in events.
//!
//! Refuses to know what tells it and where the log lies.

/// The part of a log that is told, up to its end.
#[derive(Debug, Default)]
pub struct LogRange {
    /// How many events of the log came before the first that was told.
    before: u64,
    /// How many were told.
    shown: u64,
    /// The number of the last event of which something was forgotten.
    last_evicted: u64,
    /// Whether it is known how many came before.
    is_start_known: bool,
}

impl LogRange {
    /// A log that is told from its first event on.
    pub fn from_start() -> Self {
        Self {
            is_start_known: true,
            ..Self::default()
        }
    }

    /// Notes how many events came before those that are told.
    pub fn start_after(&mut self, before: u64) {
        (self.before, self.is_start_known) = (before, true);
    }

    /// Counts one more.
    pub fn count_event(&mut self) {
        self.shown += 1;
    }

    /// The number of the last event.
    pub fn last_event(&self) -> u64 {
        self.before + self.shown
    }

    /// Notes that what this event told, and what came before, is not there any more.
    pub fn note_evicted(&mut self, seq: u64) {
        self.last_evicted = self.last_evicted.max(seq);
    }

    /// The number of the last event that is not told whole; 0 when all are.
    pub fn last_incomplete_event(&self) -> u64 {
        self.before.max(self.last_evicted)
    }

    /// Tells whether a piece that ends with this event lies right before what is told.
    pub fn is_preceded_by(&self, last: u64) -> bool {
        !self.is_start_known() || self.last_incomplete_event() == last
    }

    /// Takes in how many came before where that was not known; gives how far the numbers move by it.
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

    /// Takes in that a piece which lies right before it is told now, too.
    pub fn extend_back(&mut self, piece: &Self) {
        self.shown = self.last_event().saturating_sub(piece.before);
        self.before = piece.before;
        self.last_evicted = piece.last_incomplete_event();
    }
}
