//! Carries text to the views while it is still being written, before it becomes a block and an event.
//!
//! It is never stored: a text counts once it is complete.

use super::ids::SessionId;
use super::turn::Role;

/// A change of a text in progress, only for the view; it is not stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextDelta {
    pub author: TextAuthor,
    /// The id of the block.
    pub item: String,
    pub change: DeltaChange,
}

/// Who writes a text. As in events, a role is named as such: a view shows one author for it, also when the role moves to
/// another session while the last pieces of its earlier one arrive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextAuthor {
    Role(Role),
    Child(SessionId),
}

/// What happens to the text of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeltaChange {
    /// More text, not cleaned.
    Append(String),
    /// All pieces of the block are discarded.
    Withdraw,
}
