//! Carries text to the views while it is still being written, before it becomes a block and an event.
//!
//! It is never stored: a text counts once it is complete.

use super::ids::SessionId;
use super::turn::Role;

/// A piece of text in progress, only for the view; it is not stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextDelta {
    /// More text of a block, not cleaned.
    Text {
        role: Role,
        /// The id of the block.
        item: String,
        text: String,
    },
    /// More text of a child, not cleaned.
    Child { session: SessionId, text: String },
    /// The pieces of this block are discarded.
    Withdrawn {
        role: Role,
        /// The id of the block.
        item: String,
    },
}
