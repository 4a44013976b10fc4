//! Defines a test command and its origin.

use serde::{Deserialize, Serialize};

use crate::text::clean_to_one_line;

/// A test command and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestCommand {
    pub command: String,
    /// Where it comes from.
    #[serde(flatten)]
    pub origin: TestCommandOrigin,
}

/// Where a test command comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestCommandOrigin {
    pub source: TestCommandSource,
    /// The file or the flag that names it, or the file by which it was detected; `None` for the plan's, and in records
    /// of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

/// The source of a test command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestCommandSource {
    /// `test.default_command`.
    Configured,
    /// Found by the files in the repository's root.
    Detected,
    /// A `Test:` line of the plan.
    Proposed,
}

impl TestCommand {
    /// Describes the command with its origin.
    pub fn describe(&self) -> String {
        format!(
            "`{}` ({})",
            clean_to_one_line(&self.command),
            self.origin.describe()
        )
    }

    /// Returns whether only the plan names it, so that an agent chose it.
    pub fn is_from_plan(&self) -> bool {
        self.origin.source == TestCommandSource::Proposed
    }
}

impl TestCommandOrigin {
    pub fn describe(&self) -> String {
        match (self.source, &self.place) {
            (TestCommandSource::Configured, Some(place)) => {
                format!("from {}", clean_to_one_line(place))
            }
            (TestCommandSource::Configured, None) => "from your settings".to_owned(),
            (TestCommandSource::Detected, Some(place)) => {
                format!("detected in {}", clean_to_one_line(place))
            }
            (TestCommandSource::Detected, None) => "detected".to_owned(),
            (TestCommandSource::Proposed, _) => "proposed by the plan".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_whose_a_command_is() {
        let check = |source, place: Option<&str>, expected: &str| {
            let place = place.map(str::to_owned);
            let origin = TestCommandOrigin { source, place };
            let command = "make check".to_owned();
            let told = TestCommand { command, origin }.describe();
            assert_eq!(told, format!("`make check` ({expected})"));
        };
        check(TestCommandSource::Proposed, None, "proposed by the plan");
        check(
            TestCommandSource::Detected,
            Some("Cargo.toml"),
            "detected in Cargo.toml",
        );
        check(
            TestCommandSource::Configured,
            Some("config.toml"),
            "from config.toml",
        );
        // Records of earlier versions have no place.
        check(TestCommandSource::Configured, None, "from your settings");
    }

    #[test]
    fn a_command_of_an_earlier_version_is_read() {
        let old = r#"{"command":"cargo test","source":"detected"}"#;
        let read: TestCommand = serde_json::from_str(old).unwrap();
        assert_eq!(read.origin.source, TestCommandSource::Detected);
        assert_eq!(serde_json::to_string(&read).unwrap(), old);
    }
}
