//! Defines a test command and its origin, and which of several commands a step needs.

use serde::{Deserialize, Serialize};

use super::path_glob::PathGlob;
use super::recorded_proof::is_documentation;
use crate::text::clean_to_one_line;

/// A test command and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestCommand {
    /// The shell line that runs all tests.
    pub command: String,
    /// The commands that it consists of, where several are configured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<TestCommandPart>,
    /// Where it comes from.
    #[serde(flatten)]
    pub origin: TestCommandOrigin,
}

/// One of several test commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestCommandPart {
    pub run: String,
    /// The paths and globs that it tests; empty means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
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

impl TestCommandPart {
    fn tests_path(&self, path: &str) -> bool {
        let mut globs = self.paths.iter().map(|glob| PathGlob::with_contents(glob));
        self.paths.is_empty() || globs.any(|glob| glob.matches(path))
    }
}

impl TestCommand {
    /// Joins several commands: the line runs one after another, and stops after one that fails.
    pub fn from_parts(parts: Vec<TestCommandPart>, origin: TestCommandOrigin) -> Self {
        let in_shell = |part: &TestCommandPart| format!("({})", part.run.trim());
        let command = match parts.as_slice() {
            [only] => only.run.clone(),
            several => several
                .iter()
                .map(in_shell)
                .collect::<Vec<_>>()
                .join(" && "),
        };
        Self {
            command,
            parts,
            origin,
        }
    }

    /// Returns the commands that test a change of these paths: those whose paths have one of them. All of them run where
    /// one of the paths is in none of them, because any may depend on it.
    pub fn commands_for(&self, changed: &[String]) -> Vec<&str> {
        if self.parts.is_empty() {
            return vec![&self.command];
        }
        let mut code = changed.iter().filter(|path| !is_documentation(path));
        let has_part = |path: &String| self.parts.iter().any(|part| part.tests_path(path));
        let is_needed = |part: &&TestCommandPart| changed.iter().any(|path| part.tests_path(path));
        let needed: Vec<&TestCommandPart> = self.parts.iter().filter(is_needed).collect();
        let chosen = if code.all(has_part) && !needed.is_empty() {
            needed
        } else {
            self.parts.iter().collect()
        };
        chosen.into_iter().map(|part| part.run.as_str()).collect()
    }

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
            let parts = Vec::new();
            let told = TestCommand {
                command,
                parts,
                origin,
            }
            .describe();
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

    #[test]
    fn a_change_is_tested_by_the_commands_of_its_paths() {
        let part = |run: &str, paths: &[&str]| TestCommandPart {
            run: run.to_owned(),
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        };
        let origin = TestCommandOrigin {
            source: TestCommandSource::Configured,
            place: None,
        };
        let scoped = vec![
            part("pytest", &["service"]),
            part("npm test", &["web/**", "*.json"]),
        ];
        let test = TestCommand::from_parts(scoped.clone(), origin.clone());
        assert_eq!(test.command, "(pytest) && (npm test)");
        let mut more = scoped;
        more.push(part("make lint", &[]));
        let with_lint = TestCommand::from_parts(more, origin);
        for (test, changed, expected) in [
            (&test, "service/a.py", "pytest"),
            (&test, "web/a.js", "npm test"),
            (&test, "package.json", "npm test"),
            (&test, "service/a.py web/a.js", "pytest, npm test"),
            (&test, "web/a.js docs/a.md", "npm test"),
            // What no command names may be needed by each.
            (&test, "shared/a.txt", "pytest, npm test"),
            (&test, "web/a.js shared/a.txt", "pytest, npm test"),
            (&test, "docs/a.md", "pytest, npm test"),
            (&test, "", "pytest, npm test"),
            (&with_lint, "service/a.py", "pytest, make lint"),
            (&with_lint, "shared/a.txt", "make lint"),
        ] {
            let changed: Vec<String> = changed.split_whitespace().map(str::to_owned).collect();
            assert_eq!(
                test.commands_for(&changed).join(", "),
                expected,
                "{changed:?}"
            );
        }
    }
}
