//! A secret that was found, and the mark that replaces it.

/// Every replacement starts with this; text that starts with it is never replaced again.
pub(super) const MARK_PREFIX: &str = "[redacted:";

/// Where a secret is in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SecretSpan {
    /// Where the text begins that makes it a secret: its name, or the secret itself.
    pub(super) context: usize,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: &'static str,
    /// Whether the secret continues on the next line.
    pub(super) open: bool,
    /// Set when the mark needs quotes: the length of one quote, with its backslashes.
    pub(super) quote: Option<usize>,
}

/// Returns what replaces a secret of this kind.
pub(super) fn redaction_mark(kind: &str) -> String {
    format!("{MARK_PREFIX}{kind}]")
}
