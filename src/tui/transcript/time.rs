//! The user's time of day in what the program told with UTC's.
//!
//! Refuses to find it: `words` does.

use super::Transcript;
use crate::tui::words::Clock;

impl Transcript {
    /// Names times as the user's clock does, also in what is told already.
    pub fn tell_time(&mut self, clock: Clock) {
        if self.clock.replace(clock) != Some(clock) {
            self.blocks
                .iter_mut()
                .for_each(|block| block.tell_time(Some(clock)));
        }
    }
}
