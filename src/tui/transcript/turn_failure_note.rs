//! What a failed turn said, kept with its row, so that tries that end alike are counted.

/// A failure in the stream, or an attempt that ended in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnFailureNote {
    /// What the CLI said.
    pub message: String,
    /// How many tries it stands for.
    pub n_tries: u32,
}

impl TurnFailureNote {
    pub fn new(message: &str, n_tries: u32) -> Self {
        Self {
            message: message.to_owned(),
            n_tries,
        }
    }
}
