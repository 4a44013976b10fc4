//! Why a turn failed, in classes that the run can act on.

use serde::{Deserialize, Serialize};

use crate::domain::ids::UnixMillis;
pub use crate::domain::turn::TurnFailureKind;

/// Why a turn failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnFailure {
    /// The kind, which decides what the user or the run can do.
    pub kind: TurnFailureKind,
    /// What the CLI said, one or a few lines.
    pub message: String,
    /// When a used-up limit resets, if the CLI reported it; `None` for every other kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets_at: Option<UnixMillis>,
}

impl TurnFailure {
    /// Builds a failure without a reset time.
    pub fn new(kind: TurnFailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            resets_at: None,
        }
    }

    /// Adds the time when a used-up limit resets, in seconds since 1970, if none is known yet; other kinds stay
    /// unchanged.
    #[must_use]
    pub fn with_reset_time(mut self, seconds: Option<i64>) -> Self {
        if self.kind == TurnFailureKind::UsageLimit && self.resets_at.is_none() {
            self.resets_at = seconds.map(|seconds| UnixMillis(seconds.saturating_mul(1_000)));
        }
        self
    }
}
