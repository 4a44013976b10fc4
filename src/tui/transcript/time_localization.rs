//! The user's time of day in what the program told with UTC's.
//!
//! Refuses to find it: `words` does.

use super::ChatTranscript;
use crate::tui::labels::LocalClock;

impl ChatTranscript {
    /// Names times as the user's clock does, also in what is told already.
    pub fn localize_utc_times(&mut self, clock: LocalClock) {
        if self.clock.replace(clock) != Some(clock) {
            self.blocks
                .iter_mut()
                .for_each(|block| block.localize_utc_times(Some(clock)));
        }
    }
}
