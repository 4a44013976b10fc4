//! What the keys of the board do, beside moving what is pointed at.

/// What a key of the board does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoardAction {
    /// The participant before.
    PreviousParticipant,
    /// The next participant.
    NextParticipant,
    /// The round before; a speech that is read stays open.
    PreviousRound,
    /// The next round.
    NextRound,
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
    Resume,
    /// Another discussion of the run.
    NextDiscussion,
    /// Closes the speech, else the board.
    Close,
}

impl BoardAction {
    /// Tells whether it does more than look.
    pub fn has_side_effect(self) -> bool {
        matches!(self, Self::Quote | Self::Settle | Self::Stop | Self::Resume)
    }
}
