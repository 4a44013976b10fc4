//! Defines what decided about a call, as a type and as text.
//!
//! Both are stored. Events of earlier versions have the text alone, from which the type is read.

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};
use strum::VariantArray;

use crate::permission::hard_limits::Floor;

/// The origin of an ask about the changes of a task.
pub const TASK_CHANGES: &str = "the task's changes";

/// Which part of the permission system decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecisionSource {
    Floor(Floor),
    /// No rule is about the call: none matches, or only a default of the program for every call.
    NoRule,
    /// A default of the program, including the rules of a built-in profile.
    Program,
    /// A rule that the user wrote, and that asks.
    WrittenAsk,
    /// Another rule that the user wrote.
    Written,
    /// An approval that the user gave earlier.
    Approval,
    Mode,
}

impl DecisionSource {
    /// Returns whether the program itself decided because of what it is built with, except for its hard limits.
    pub fn is_default(self) -> bool {
        match self {
            Self::NoRule | Self::Program => true,
            Self::Floor(_) | Self::WrittenAsk | Self::Written | Self::Approval | Self::Mode => {
                false
            }
        }
    }
}

/// What decided about a call, for users, agents and the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionReason {
    /// What decided; `None` in events of earlier versions, and where a later one knows more sources.
    /// [`DecisionReason::source`] returns it for all.
    #[serde(
        rename = "source",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "known_or_none"
    )]
    pub stored_source: Option<DecisionSource>,
    /// The rule, floor, approval or mode, as text.
    pub rule: String,
    /// Where it is: file and line, or which part of the program.
    pub origin: String,
    /// The reason, as a sentence without its full stop.
    pub reason: String,
}

impl DecisionReason {
    /// Returns what decided.
    pub fn source(&self) -> DecisionSource {
        self.stored_source
            .unwrap_or_else(|| find_source(&self.rule, &self.origin))
    }
}

/// Reads a value of which a later version may have more kinds; `None` for one of these.
///
/// # Errors
/// The text is not well-formed.
pub fn known_or_none<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum StoredKind<T> {
        Known(T),
        Unknown(IgnoredAny),
    }
    let stored = Option::<StoredKind<T>>::deserialize(deserializer)?;
    Ok(match stored {
        Some(StoredKind::Known(kind)) => Some(kind),
        Some(StoredKind::Unknown(IgnoredAny)) | None => None,
    })
}

/// Reads what decided from the text of a reason, as earlier versions wrote it.
fn find_source(rule: &str, origin: &str) -> DecisionSource {
    let floor = origin.strip_prefix("floor: ").and_then(|name| {
        let mut floors = Floor::VARIANTS.iter();
        floors.find(|floor| floor.label() == name && name == rule)
    });
    let is_default = matches!(origin, "the defaults" | "built in" | TASK_CHANGES)
        || origin.starts_with("the built-in profile ");
    let is_about_no_call = rule == "no rule" || rule.starts_with("* ");
    match floor {
        Some(floor) => DecisionSource::Floor(*floor),
        None if is_default && is_about_no_call => DecisionSource::NoRule,
        None if is_default => DecisionSource::Program,
        None if origin == "mode" && rule.starts_with("mode ") => DecisionSource::Mode,
        None if origin.starts_with("approved for ") => DecisionSource::Approval,
        None if rule.ends_with(" ask") => DecisionSource::WrittenAsk,
        None => DecisionSource::Written,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_of_a_later_version_is_read_from_the_text() {
        for later in [r#""tomorrow""#, r#"{"floor":"tomorrow"}"#, "7"] {
            let text = format!(
                r#"{{"source":{later},"rule":"no rule","origin":"built in","reason":"r"}}"#
            );
            let reason: DecisionReason = serde_json::from_str(&text).unwrap();
            assert_eq!(reason.source(), DecisionSource::NoRule, "{later}");
        }
    }

    #[test]
    fn what_decided_is_read_from_the_text_only_where_it_is_not_stored() {
        let check = |rule: &str, origin: &str, source: DecisionSource| {
            let earlier = format!(r#"{{"rule":"{rule}","origin":"{origin}","reason":"r"}}"#);
            let reason: DecisionReason = serde_json::from_str(&earlier).unwrap();
            assert_eq!(reason.source(), source, "{earlier}");
            assert_eq!(serde_json::to_string(&reason).unwrap(), earlier);
        };
        let floor = DecisionSource::Floor(Floor::SafetyList);
        check("safety list", "floor: safety list", floor);
        check("no rule", "built in", DecisionSource::NoRule);
        check("* '*' ask", "the defaults", DecisionSource::NoRule);
        check(
            "bash 'x' ask",
            "the built-in profile build",
            DecisionSource::Program,
        );
        check("mode yolo", "mode", DecisionSource::Mode);
        check("bash 'x'", "approved for the run", DecisionSource::Approval);
        check("bash 'x' ask", "config.toml:7", DecisionSource::WrittenAsk);
        check("bash 'x' allow", "config.toml:7", DecisionSource::Written);
        let stored =
            r#"{"source":{"floor":"doom_loop"},"rule":"no rule","origin":"built in","reason":"r"}"#;
        let reason: DecisionReason = serde_json::from_str(stored).unwrap();
        assert_eq!(reason.source(), DecisionSource::Floor(Floor::DoomLoop));
        assert_eq!(serde_json::to_string(&reason).unwrap(), stored);
    }
}
