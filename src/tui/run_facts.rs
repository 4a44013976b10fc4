//! What the program tells the screen beside the run's state.

use super::terminal_status::TerminalStatus;
use super::welcome_page::WelcomeInfo;
use crate::domain::ids::UnixMillis;

/// What the program told about the run and its surroundings.
#[derive(Debug, Default)]
pub struct RunFacts {
    pub is_unsandboxed: bool,
    pub is_quitting: bool,
    /// When the run ended, once it did.
    pub ended_at: Option<UnixMillis>,
    pub welcome: WelcomeInfo,
    pub terminal_status: TerminalStatus,
    /// Whether the run on the screen behind this one needs the user.
    pub is_needed_by_covered_screen: bool,
    /// Whether the sign for work turns: the user looks at the terminal and wants motion.
    pub is_spinning: bool,
}
