//! What can be done in the diff view; which key does it stands in the one keymap.

/// What a key of the view does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffAction {
    /// The diff before, in the strip.
    PreviousDiff,
    /// The next one.
    NextDiff,
    /// The file before.
    PreviousFile,
    /// The next file.
    NextFile,
    /// A line up.
    Up,
    /// A line down.
    Down,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// To the first line.
    Top,
    /// To the last line.
    End,
    /// Looks again.
    Reload,
    /// Closes the view.
    Close,
}
