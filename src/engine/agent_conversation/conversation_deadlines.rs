//! The instants at which something of a conversation must have happened.
//!
//! Refuses to know what is done where it has not.

use tokio::time::Instant;

/// The deadlines; `None` where nothing is due.
#[derive(Default)]
pub(super) struct ConversationDeadlines {
    /// The CLI answers its handshake.
    pub handshake: Option<Instant>,
    /// It ends the turn that it was asked to interrupt.
    pub interrupt: Option<Instant>,
    /// The turn is over.
    pub turn: Option<Instant>,
}

impl ConversationDeadlines {
    /// The first of them.
    pub fn next_deadline(&self) -> Option<Instant> {
        [self.handshake, self.interrupt, self.turn]
            .into_iter()
            .flatten()
            .min()
    }
}
