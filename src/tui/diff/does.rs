//! What can be done in the diff view; which key does it stands in the one keymap.

/// What a key of the view does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    /// The diff before, in the strip.
    Left,
    /// The next one.
    Right,
    /// The file before.
    FileBefore,
    /// The next file.
    FileAfter,
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
    Again,
    /// Closes the view.
    Close,
}
