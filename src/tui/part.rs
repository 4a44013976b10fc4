//! Which part of a log something tells, counted in events.
//!
//! Refuses to know what tells it and where the log lies.

/// The part of a log that is told, up to its end.
#[derive(Debug, Default)]
pub struct Part {
    /// How many events of the log came before the first that was told.
    before: u64,
    /// How many were told.
    told: u64,
    /// The number of the last event of which something was forgotten.
    forgotten: u64,
    /// Whether it is known how many came before.
    is_known: bool,
}

impl Part {
    /// A log that is told from its first event on.
    pub fn from_the_first() -> Self {
        Self {
            is_known: true,
            ..Self::default()
        }
    }

    /// Notes how many events came before those that are told.
    pub fn begin_after(&mut self, before: u64) {
        (self.before, self.is_known) = (before, true);
    }

    /// Counts one more.
    pub fn on_event(&mut self) {
        self.told += 1;
    }

    /// The number of the last event.
    pub fn last(&self) -> u64 {
        self.before + self.told
    }

    /// Notes that what this event told, and what came before, is not there any more.
    pub fn on_forgotten(&mut self, seq: u64) {
        self.forgotten = self.forgotten.max(seq);
    }

    /// The number of the last event that is not told whole; 0 when all are.
    pub fn untold(&self) -> u64 {
        self.before.max(self.forgotten)
    }

    /// Tells whether a piece that ends with this event lies right before what is told.
    pub fn is_preceded_by(&self, last: u64) -> bool {
        !self.is_known() || self.untold() == last
    }

    /// Takes in how many came before where that was not known; gives how far the numbers move by it.
    pub fn count_from(&mut self, before: u64) -> u64 {
        if self.is_known() {
            return 0;
        }
        self.begin_after(before);
        before
    }

    fn is_known(&self) -> bool {
        self.is_known || self.untold() > 0
    }

    /// Takes in that a piece which lies right before it is told now, too.
    pub fn reach_back(&mut self, piece: &Self) {
        self.told = self.last().saturating_sub(piece.before);
        self.before = piece.before;
        self.forgotten = piece.untold();
    }
}
