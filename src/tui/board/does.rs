//! What the keys of the board do, beside moving what is pointed at.

/// What a key of the board does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    /// The participant before.
    Left,
    /// The next participant.
    Right,
    /// The round before; a speech that is read stays open.
    Before,
    /// The next round.
    After,
    /// Reads what is pointed at.
    Open,
    /// Puts the result into the composer.
    Quote,
    /// Copies what is read, else the result.
    Copy,
    /// Writes it down as Markdown.
    Export,
    /// Settles the finding that was discussed.
    Settle,
    /// Stops it.
    Stop,
    /// Goes on with it.
    GoOn,
    /// Another discussion of the run.
    Other,
    /// Closes the speech, else the board.
    Close,
}

impl Does {
    /// Tells whether it does more than look.
    pub fn acts(self) -> bool {
        matches!(self, Self::Quote | Self::Settle | Self::Stop | Self::GoOn)
    }
}
