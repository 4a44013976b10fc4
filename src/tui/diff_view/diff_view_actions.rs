//! The actions of the diff view; the keymap binds them to keys.

use crate::tui::view_moves::ScrollMove;

/// An action of the diff view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffAction {
    /// Shows the previous diff of the strip.
    PreviousDiff,
    /// Shows the next diff of the strip.
    NextDiff,
    PreviousFile,
    NextFile,
    Scroll(ScrollMove),
    /// Shows the old text beside the new one, or below it again.
    SideBySide,
    /// Reads the diff again.
    Reload,
    Close,
}
