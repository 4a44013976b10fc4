//! What a conversation goes on with when its role moves to another CLI.
//!
//! Refuses to know why it moves.

use crate::adapter::Adapter;
use crate::store::RawStream;

/// What a conversation goes on with in a new session.
pub struct SessionHandover {
    /// The protocol.
    pub adapter: Box<dyn Adapter>,
    /// Where the raw stream goes.
    pub raw: RawStream,
}

impl std::fmt::Debug for SessionHandover {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Adoption")
    }
}
