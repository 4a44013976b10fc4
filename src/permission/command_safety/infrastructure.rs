//! Judges commands that destroy machines, clusters, containers and clouds, or change them immediately.

use crate::permission::program_table::ProgramTrait;

use super::builtin_rules::RuleName;
use super::command_invocation::CommandInvocation;
use super::command_scene::CommandScene;
use super::file_operations::raw_option_values;

const CONTAINERS: RuleName = RuleName::new("infra.containers");

/// Judges the commands that ansible runs, and the removal of containers that are only known at run time.
pub fn check_command(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    if command.program == "ansible" {
        for text in raw_option_values(command, &["-a", "--args"]) {
            scene.classify_nested_script(text, &command.simple.span);
        }
    }
    let removes = command.has_trait(ProgramTrait::ContainerEngine)
        && matches!(command.arguments.operand_text(0), Some("rm" | "rmi"));
    if removes
        && command
            .argument_words()
            .iter()
            .any(|word| word.may_split && !word.is_fully_known)
    {
        scene.record_rule(CONTAINERS, &command.simple.span);
    }
}
