//! Why a turn failed, in classes that the run can act on.
//!
//! Refuses to know what is done about it.

use serde::{Deserialize, Serialize};

use crate::domain::ids::UnixMillis;

/// Why a turn failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnFailure {
    /// The kind, which decides what can be done.
    pub kind: TurnFailureKind,
    /// What the CLI said, one or a few lines.
    pub message: String,
    /// When a used-up limit ends, where the CLI told; `None` for every other kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets_at: Option<UnixMillis>,
}

impl TurnFailure {
    /// A failure that is over when the user or the service does something about it.
    pub fn new(kind: TurnFailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            resets_at: None,
        }
    }

    /// Adds when a used-up limit ends, in seconds since 1970, where nothing better is known; other kinds stay.
    #[must_use]
    pub fn with_reset_time(mut self, seconds: Option<i64>) -> Self {
        if self.kind == TurnFailureKind::UsageLimit && self.resets_at.is_none() {
            self.resets_at = seconds.map(|seconds| UnixMillis(seconds.saturating_mul(1_000)));
        }
        self
    }
}

/// The kinds of failure, by what a user can do about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnFailureKind {
    /// Log in or set a key.
    Login,
    /// Wait: too many requests.
    RateLimit,
    /// Wait or pay: the plan's limit is used up.
    UsageLimit,
    /// Try again: the service is overloaded or failing.
    Service,
    /// Try again: the network or the stream broke.
    Connection,
    /// Start a new session: the conversation is too long.
    ContextFull,
    /// Mend the configuration: the CLI refused to start or to take the request.
    Refused,
    /// The CLI ended or spoke nonsense in the middle of a turn.
    Protocol,
}
