//! Todo lists in the stream: an agent's current list is shown where it changed last; an earlier position
//! keeps one row with the progress at that time.

use crate::domain::ids::SessionId;

/// A todo list as it was at one time; its text is cleaned for display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TodoListCard {
    pub session: SessionId,
    /// Its progress, with its items below.
    pub text: String,
    /// Whether the agent has written a newer list.
    pub is_outdated: bool,
}
