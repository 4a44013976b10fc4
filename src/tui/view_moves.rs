//! The moves in a view that commands name.

/// A scroll step of a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScrollMove {
    Up,
    Down,
    PageUp,
    PageDown,
    Top,
    /// To the last line; new lines are followed from then on.
    End,
}

/// A move of the selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SelectionMove {
    Next,
    Previous,
    NextTurn,
    PreviousTurn,
}

impl SelectionMove {
    /// Returns whether it goes to a later entry.
    pub fn is_forward(self) -> bool {
        matches!(self, Self::Next | Self::NextTurn)
    }
}

/// An action in the search bar, besides typing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchStep {
    /// To the next match; upwards in views that follow their end.
    Next,
    Up,
    Down,
    /// Closes the search bar; the match stays visible and is selected.
    Accept,
    /// Closes the search bar and restores the scroll position.
    Cancel,
}
