//! Chooses the test command from the configured or detected one and the one in the plan.
//!
//! Does not run it; the user decides whether it may run.

use std::path::Path;

use serde_json::Value;

use crate::config::AppConfig;
use crate::config::config_model::TestCommandChoice as Configured;
use crate::domain::test_command::{TestCommand, TestCommandOrigin, TestCommandSource};
use crate::engine::run_context::RunContext;
use crate::engine::run_setup::TestCommandPreference;
use crate::engine::test_runner::{
    self, TestCommandSelection, TestSelectionSource, choose_test_command,
};

/// The test commands that a repository and a plan name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TestCommands {
    /// The command that runs.
    pub(super) selected: Option<TestCommand>,
    /// The other command, if the two differ.
    pub(super) alternative: Option<TestCommand>,
}

impl TestCommands {
    /// The user's own command runs by default, because an agent wrote the plan's.
    fn choose(
        own: Option<TestCommand>,
        plan: Option<TestCommand>,
        choice: TestCommandPreference,
    ) -> Self {
        let plan = plan.filter(|plan| own.as_ref().is_none_or(|own| own.command != plan.command));
        match (own, plan, choice) {
            (Some(own), Some(plan), TestCommandPreference::Plan) => Self {
                selected: Some(plan),
                alternative: Some(own),
            },
            (Some(own), plan, TestCommandPreference::Configured | TestCommandPreference::Plan) => {
                Self {
                    selected: Some(own),
                    alternative: plan,
                }
            }
            (None, plan, TestCommandPreference::Configured | TestCommandPreference::Plan) => Self {
                selected: plan,
                alternative: None,
            },
        }
    }
}

/// Returns the test commands from the configuration, the repository and the plan.
pub(super) fn find_test_commands(run: &RunContext) -> TestCommands {
    let plan = run.state().plan.as_ref().map(|plan| &plan.plan);
    let line = plan.and_then(|plan| plan.test_command.as_deref());
    let preference = run.setup.test_command_preference;
    // A command-line flag for this start overrides the configuration.
    let counts =
        run.setup.config.test.fallback_to_agent || preference == TestCommandPreference::Plan;
    let line = line
        .filter(|_| counts)
        .and_then(test_runner::TestCommandLine::parse);
    let plan = line.map(|command| TestCommand {
        command: command.to_string(),
        parts: Vec::new(),
        origin: TestCommandOrigin {
            source: TestCommandSource::Proposed,
            place: None,
        },
    });
    TestCommands::choose(test_command_without_plan(run), plan, preference)
}

/// Returns the test command from the configuration and the repository alone.
pub(in crate::engine) fn test_command_without_plan(run: &RunContext) -> Option<TestCommand> {
    let setup = &run.setup;
    own_test_command(&setup.config, &setup.origins, &setup.root)
}

/// Returns the test command of a configuration, with the origins of its values, or of the repository at `root`.
pub(in crate::engine) fn own_test_command(
    config: &AppConfig,
    origins: &Value,
    root: &Path,
) -> Option<TestCommand> {
    let parts = &config.test.commands;
    if !parts.is_empty() {
        let place = configuration_origin(origins, "test.command");
        let origin = TestCommandOrigin {
            source: TestCommandSource::Configured,
            place,
        };
        return Some(TestCommand::from_parts(parts.clone(), origin));
    }
    let configured = match &config.test.command {
        Configured::Line(line) => Some(line.as_str()),
        Configured::Detect => None,
    };
    let chosen = choose_test_command(configured, root)?;
    Some(to_test_command(&chosen, origins))
}

fn to_test_command(chosen: &TestCommandSelection, origins: &Value) -> TestCommand {
    let (source, place) = match chosen.source {
        TestSelectionSource::Configured => {
            let place = configuration_origin(origins, "test.default_command");
            (TestCommandSource::Configured, place)
        }
        TestSelectionSource::Detected(file) => (TestCommandSource::Detected, Some(file.to_owned())),
    };
    TestCommand {
        command: chosen.command.to_string(),
        parts: Vec::new(),
        origin: TestCommandOrigin { source, place },
    }
}

/// Returns the name of the file that configures the key, or of the flag.
fn configuration_origin(origins: &Value, key: &str) -> Option<String> {
    let key = &origins["values"][key];
    if let Some(flag) = key["flag"].as_str() {
        return flag.split_whitespace().next().map(str::to_owned);
    }
    let file = Path::new(key["file"].as_str()?).file_name()?;
    Some(file.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn command(line: &str, source: TestCommandSource) -> TestCommand {
        TestCommand {
            command: line.to_owned(),
            parts: Vec::new(),
            origin: TestCommandOrigin {
                source,
                place: None,
            },
        }
    }

    #[test]
    fn the_users_own_command_runs_unless_the_plans_is_chosen() {
        let own = || Some(command("cargo test", TestCommandSource::Detected));
        let plan = || Some(command("make check", TestCommandSource::Proposed));
        let check = |own, plan, choice, expected: &str| {
            let TestCommands {
                selected: runs,
                alternative: other,
            } = TestCommands::choose(own, plan, choice);
            let line = |test: Option<TestCommand>| test.map_or("none".to_owned(), |t| t.command);
            assert_eq!(format!("{}, not {}", line(runs), line(other)), expected);
        };
        check(
            own(),
            plan(),
            TestCommandPreference::Configured,
            "cargo test, not make check",
        );
        check(
            own(),
            plan(),
            TestCommandPreference::Plan,
            "make check, not cargo test",
        );
        check(
            None,
            plan(),
            TestCommandPreference::Configured,
            "make check, not none",
        );
        check(
            own(),
            None,
            TestCommandPreference::Plan,
            "cargo test, not none",
        );
        check(None, None, TestCommandPreference::Plan, "none, not none");
        // If both lines are equal they are one command, and it counts as the user's.
        let same = Some(command("cargo test", TestCommandSource::Proposed));
        let same = TestCommands::choose(own(), same, TestCommandPreference::Plan);
        assert_eq!(same.selected, own());
        assert_eq!(same.alternative, None);
    }

    #[test]
    fn it_is_known_what_configured_a_command() {
        let check = |origin: Value, expected: Option<&str>| {
            let origins = json!({ "values": { "test.default_command": origin } });
            assert_eq!(
                configuration_origin(&origins, "test.default_command").as_deref(),
                expected
            );
        };
        let file = json!({ "layer": "global", "file": "/home/u/config.toml", "line": 3 });
        check(file, Some("config.toml"));
        let flag = json!({ "layer": "flag", "flag": "--set test.default_command=make" });
        check(flag, Some("--set"));
        check(json!({ "layer": "default" }), None);
    }
}
