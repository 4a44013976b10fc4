//! Text on its way to the views, before it is a block and an event.
//!
//! Refuses to be kept: what is said counts once it is whole.

use super::ids::SessionId;
use super::turn::Role;

/// A piece of text on its way, for the view alone; nothing of it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextDelta {
    /// More text of a block, not cleaned.
    Text {
        /// Whose.
        role: Role,
        /// The block.
        item: String,
        /// The piece.
        text: String,
    },
    /// More text of what a child says, not cleaned.
    Child {
        /// Its session.
        session: SessionId,
        /// The piece.
        text: String,
    },
    /// The block's pieces are void.
    Withdrawn {
        /// Whose.
        role: Role,
        /// The block.
        item: String,
    },
}
