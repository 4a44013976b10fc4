//! The actions of the discussion board, except moving the selection.

/// An action of the discussion board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoardAction {
    PreviousParticipant,
    NextParticipant,
    /// Selects the previous round; an open message stays open.
    PreviousRound,
    NextRound,
    /// Opens the selected message, check or outcome.
    Open,
    /// Puts the result into the composer.
    Quote,
    /// Copies the open text, else the result.
    Copy,
    /// Exports the discussion as Markdown.
    Export,
    /// Settles the finding that was discussed.
    Settle,
    Stop,
    Resume,
    /// Shows another discussion of the run.
    NextDiscussion,
    /// Closes the open message, else the board.
    Close,
}
