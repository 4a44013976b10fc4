//! What the program tells the screen beside the run's state, and the short messages that disappear by themselves.

use super::cross_tab_toast::CrossTabToast;
use super::terminal_status::TerminalStatus;
use super::welcome_page::WelcomeInfo;
use crate::domain::ids::UnixMillis;

/// Short messages that disappear by themselves.
#[derive(Debug, Default)]
pub struct ToastLine {
    /// A message that disappears with the next key.
    pub text: Option<String>,
    /// The last toast that names clickable keys.
    pub with_keys: Option<String>,
    pub cross_tab: Option<CrossTabToast>,
    /// Whether the user has been shown how to select text.
    pub is_drag_explained: bool,
}

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
