//! Which test commands there are: the configured or detected one, the plan's, and which of them runs.
//!
//! Refuses to run one; whether it may run is the user's to say.

use std::path::Path;

use serde_json::Value;

use crate::config::config_model::TestCommandChoice as Configured;
use crate::domain::test_command::{TestCommand, TestCommandOrigin, TestCommandSource};
use crate::engine::Engine;
use crate::engine::setup::TestChoice;
use crate::engine::test_run::{self, Chosen, Source, choose};

/// The test commands that a repository and a plan name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TestCommands {
    /// The one that runs.
    pub(super) runs: Option<TestCommand>,
    /// The other one, where two differ.
    pub(super) other: Option<TestCommand>,
}

impl TestCommands {
    /// The user's own command runs by default: an agent wrote the plan's.
    fn of(own: Option<TestCommand>, plan: Option<TestCommand>, choice: TestChoice) -> Self {
        let plan = plan.filter(|plan| own.as_ref().is_none_or(|own| own.command != plan.command));
        match (own, plan, choice) {
            (Some(own), Some(plan), TestChoice::Plan) => Self {
                runs: Some(plan),
                other: Some(own),
            },
            (Some(own), plan, TestChoice::Own | TestChoice::Plan) => Self {
                runs: Some(own),
                other: plan,
            },
            (None, plan, TestChoice::Own | TestChoice::Plan) => Self {
                runs: plan,
                other: None,
            },
        }
    }
}

impl Engine {
    /// The test commands as configuration, repository and plan tell them.
    pub(super) fn test_commands(&self) -> TestCommands {
        let plan = self.state().plan.as_ref().map(|plan| &plan.plan);
        let line = plan.and_then(|plan| plan.test_command.as_deref());
        let choice = self.setup.test_choice;
        // A flag for this start counts before the configuration.
        let counts = self.setup.config.test.fallback_to_agent || choice == TestChoice::Plan;
        let line = line
            .filter(|_| counts)
            .and_then(test_run::TestCommand::parse);
        let plan = line.map(|command| TestCommand {
            command: command.to_string(),
            origin: TestCommandOrigin {
                source: TestCommandSource::Proposed,
                place: None,
            },
        });
        TestCommands::of(self.test_command_without_plan(), plan, choice)
    }

    /// The test command as far as configuration and repository tell it.
    pub(in crate::engine) fn test_command_without_plan(&self) -> Option<TestCommand> {
        let configured = match &self.setup.config.test.command {
            Configured::Line(line) => Some(line.as_str()),
            Configured::Detect => None,
        };
        let chosen = choose(configured, &self.setup.root)?;
        Some(named(&chosen, &self.setup.origins))
    }
}

fn named(chosen: &Chosen, origins: &Value) -> TestCommand {
    let (source, place) = match chosen.source {
        Source::Configured => (TestCommandSource::Configured, configured_in(origins)),
        Source::Detected(file) => (TestCommandSource::Detected, Some(file.to_owned())),
    };
    TestCommand {
        command: chosen.command.to_string(),
        origin: TestCommandOrigin { source, place },
    }
}

/// The file that configures the command, by its last name, or the flag.
fn configured_in(origins: &Value) -> Option<String> {
    let key = &origins["values"]["test.default_command"];
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
            let TestCommands { runs, other } = TestCommands::of(own, plan, choice);
            let told = |test: Option<TestCommand>| test.map_or("none".to_owned(), |t| t.command);
            assert_eq!(format!("{}, not {}", told(runs), told(other)), expected);
        };
        check(own(), plan(), TestChoice::Own, "cargo test, not make check");
        check(
            own(),
            plan(),
            TestChoice::Plan,
            "make check, not cargo test",
        );
        check(None, plan(), TestChoice::Own, "make check, not none");
        check(own(), None, TestChoice::Plan, "cargo test, not none");
        check(None, None, TestChoice::Plan, "none, not none");
        // The same line twice is one command, and the user's.
        let same = Some(command("cargo test", TestCommandSource::Proposed));
        let same = TestCommands::of(own(), same, TestChoice::Plan);
        assert_eq!(same.runs, own());
        assert_eq!(same.other, None);
    }

    #[test]
    fn it_is_known_what_configured_a_command() {
        let check = |origin: Value, expected: Option<&str>| {
            let origins = json!({ "values": { "test.default_command": origin } });
            assert_eq!(configured_in(&origins).as_deref(), expected);
        };
        let file = json!({ "layer": "global", "file": "/home/u/config.toml", "line": 3 });
        check(file, Some("config.toml"));
        let flag = json!({ "layer": "flag", "flag": "--set test.default_command=make" });
        check(flag, Some("--set"));
        check(json!({ "layer": "default" }), None);
    }
}
