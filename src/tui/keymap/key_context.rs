//! Where a key works.

/// Where a key works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyContext {
    /// Everywhere, also while the composer is focused.
    Anywhere,
    /// Only while the composer is not focused.
    OutsideComposer,
    /// Only while the composer is focused.
    Composer,
    Diff,
    Board,
    /// In the search bar.
    Find,
    /// In a long text, and anywhere else where the key is still free.
    Text,
}

impl KeyContext {
    /// The views that have keys of their own.
    pub const VIEWS: [Self; 4] = [Self::Diff, Self::Board, Self::Find, Self::Text];

    /// Returns the prefix for a key's description; empty for the usual context.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::OutsideComposer => "",
            Self::Anywhere => "anywhere: ",
            Self::Composer => "while you write: ",
            Self::Diff => "in a diff: ",
            Self::Board => "on the board of a discussion: ",
            Self::Find => "while you search: ",
            Self::Text => "in a long text: ",
        }
    }

    /// Returns whether typed characters are text there.
    pub fn takes_text(self) -> bool {
        matches!(self, Self::Composer | Self::Find)
    }
}
