//! Converts UTC times in the program's texts to the user's time zone. `labels` finds and converts them.

use super::ChatTranscript;
use crate::tui::labels::LocalClock;

impl ChatTranscript {
    /// Shows times in the user's time zone, in existing blocks as well.
    pub fn localize_utc_times(&mut self, clock: LocalClock) {
        if self.clock.replace(clock) != Some(clock) {
            self.blocks
                .iter_mut()
                .for_each(|block| block.localize_utc_times(Some(clock)));
        }
    }
}
