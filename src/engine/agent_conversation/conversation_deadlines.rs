//! Stores the deadlines of a conversation; `AgentConversation` decides what happens when one passes.

use tokio::time::Instant;

/// The deadlines; `None` means that nothing is due.
#[derive(Default)]
pub(super) struct ConversationDeadlines {
    /// For the CLI's answer to the handshake.
    pub handshake: Option<Instant>,
    /// For the end of an interrupted turn.
    pub interrupt: Option<Instant>,
    /// For the end of the turn.
    pub turn: Option<Instant>,
}

impl ConversationDeadlines {
    /// Returns the earliest deadline.
    pub fn next_deadline(&self) -> Option<Instant> {
        [self.handshake, self.interrupt, self.turn]
            .into_iter()
            .flatten()
            .min()
    }
}
