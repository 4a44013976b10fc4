//! The actions of the diff view; the keymap binds them to keys.

/// An action of the diff view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffAction {
    /// Shows the previous diff of the strip.
    PreviousDiff,
    /// Shows the next diff of the strip.
    NextDiff,
    PreviousFile,
    NextFile,
    Up,
    Down,
    PageUp,
    PageDown,
    /// Scrolls to the first line.
    Top,
    /// Scrolls to the last line.
    End,
    /// Shows the old text beside the new one, or below it again.
    SideBySide,
    /// Reads the diff again.
    Reload,
    Close,
}
