//! Defines what decided about a call, as a type and as text. Only the text is stored; the type is read from it again.

use serde::{Deserialize, Serialize};
use strum::VariantArray;

use crate::permission::hard_limits::Floor;

/// The origin of an ask about the changes of a task.
pub const TASK_CHANGES: &str = "the task's changes";

/// Which part of the permission system decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionSource {
    Floor(Floor),
    /// A default of the program, including the rules of a built-in profile.
    Program,
    /// A rule that the user wrote.
    Written,
    /// An approval that the user gave earlier.
    Approval,
    Mode,
}

/// What decided about a call, for users, agents and the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredReason")]
pub struct DecisionReason {
    #[serde(skip)]
    pub source: DecisionSource,
    /// The rule, floor, approval or mode, as text.
    pub rule: String,
    /// Where it is: file and line, or which part of the program.
    pub origin: String,
    /// The reason, as a sentence without its full stop.
    pub reason: String,
}

/// The stored form of a reason.
#[derive(Deserialize)]
struct StoredReason {
    rule: String,
    origin: String,
    reason: String,
}

impl From<StoredReason> for DecisionReason {
    fn from(stored: StoredReason) -> Self {
        let StoredReason {
            rule,
            origin,
            reason,
        } = stored;
        Self {
            source: find_source(&rule, &origin),
            rule,
            origin,
            reason,
        }
    }
}

fn find_source(rule: &str, origin: &str) -> DecisionSource {
    let floor = origin.strip_prefix("floor: ").and_then(|name| {
        let mut floors = Floor::VARIANTS.iter();
        floors.find(|floor| floor.label() == name && name == rule)
    });
    match (floor, origin) {
        (Some(floor), _) => DecisionSource::Floor(*floor),
        (None, "the defaults" | "built in" | TASK_CHANGES) => DecisionSource::Program,
        (None, "mode") if rule.starts_with("mode ") => DecisionSource::Mode,
        (None, origin) if origin.starts_with("the built-in profile ") => DecisionSource::Program,
        (None, origin) if origin.starts_with("approved for ") => DecisionSource::Approval,
        (None, _) => DecisionSource::Written,
    }
}
