//! A tool call whose output is only partly kept.

/// A call of whose output only a part is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TruncatedToolCall {
    /// The CLI's id of the call.
    pub item: String,
    /// The call without its output; cleaned for display.
    pub text: String,
    /// The end of the output, cleaned for display.
    pub output: String,
}
