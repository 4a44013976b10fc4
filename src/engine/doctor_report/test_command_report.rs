//! Says which command tests the steps of a run, and whether steps can be proven with it.

use serde_json::{Value, json};

use super::DoctorInput;
use crate::config::config_model::ConfiguredProof;
use crate::domain::test_command::TestCommand;
use crate::engine::execution_effects::own_test_command;
use crate::engine::sandbox;
use crate::engine::test_runner::{TestCommandLine, find_runner};
use crate::process::SandboxSupport;

/// Reports the sandbox of the tests, their command (`null` if there is none), and what it proves.
pub(super) fn tests_report(input: &DoctorInput) -> Value {
    let test = own_test_command(&input.config, &input.origins, &input.root);
    json!({
        "held": { "kernel": sandbox::describe_test_sandbox(&input.sandbox_support, &input.config) },
        "command": test.as_ref().map(TestCommand::describe),
        "proof": describe_proof(input, test.as_ref()),
    })
}

fn describe_proof(input: &DoctorInput, test: Option<&TestCommand>) -> String {
    let Some(test) = test else {
        return "no test command: steps are tested only with a command that the plan proposes (hint: set test.default_command in config.toml)".to_owned();
    };
    let is_available = matches!(input.sandbox_support, SandboxSupport::Available(_));
    let has_report = |line: &&str| {
        TestCommandLine::parse(line).is_some_and(|line| find_runner(&line, &input.root).is_some())
    };
    let said = match input.config.test.proof {
        ConfiguredProof::Off => "steps are tested, not proven: test.proof is off",
        _ if !input.config.safety.contain_tests => {
            "steps are tested, not proven: safety.contain_tests is off"
        }
        _ if !is_available => "steps are tested, not proven: there is no sandbox for clean copies",
        _ if !test.commands_for(&[]).iter().all(has_report) => {
            "only its exit code is known: a step is proven by a `Proof:` line of the plan, else checked"
        }
        ConfiguredProof::Full => "each step is proven with all tests, which are known by name",
        ConfiguredProof::Red => {
            "each step is proven with its own tests, which are known by name; all run once at the end"
        }
    };
    said.to_owned()
}
