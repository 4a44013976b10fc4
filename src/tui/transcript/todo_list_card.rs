//! A todo list as the transcript shows it.

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
