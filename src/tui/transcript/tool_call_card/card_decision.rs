//! What was decided about a call, as the row of the call says it.

use super::tool_outcome::DENIED_LABEL;
use crate::tui::text_wrap::to_one_line;

/// What was decided about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardDecision {
    pub is_allowed: bool,
    /// Whether the user decided, not a rule.
    pub is_users: bool,
    /// Why it was denied, cleaned for display; often empty.
    pub reason: String,
}

impl CardDecision {
    /// Describes the decision: `denied by you: not now`.
    pub(super) fn describe(&self) -> String {
        let verb = if self.is_allowed {
            "allowed"
        } else {
            DENIED_LABEL
        };
        let by = if self.is_users { " by you" } else { "" };
        match self.reason.as_str() {
            "" => format!("{verb}{by}"),
            why => format!("{verb}{by}: {}", to_one_line(why)),
        }
    }
}
