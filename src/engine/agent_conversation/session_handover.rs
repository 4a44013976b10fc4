//! Defines what a conversation needs to continue in a new session when its role moves to another CLI.

use crate::adapter::Adapter;
use crate::store::RawStream;

/// The adapter and the raw stream of the new session.
pub struct SessionHandover {
    pub adapter: Box<dyn Adapter>,
    pub raw: RawStream,
}

impl std::fmt::Debug for SessionHandover {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Adoption")
    }
}
