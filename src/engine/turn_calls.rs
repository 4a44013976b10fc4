//! Keeps what the calls of a role's running turn show: the output of commands that only read.
//!
//! It is known only to the process that saw the calls: after a restart of the program it is empty.

use std::collections::BTreeMap;
use std::path::Path;

use crate::adapter::{AdapterEvent, AdapterTraits};
use crate::domain::event::ToolStatus;
use crate::permission::AgentToolCall;
use crate::permission::read_only_prover::prints_only_what_it_opens;
use crate::text::truncate;
use crate::text::word_similarity::collapse_white_space;

/// How many commands of a turn are kept.
const MAX_COMMANDS: usize = 200;
/// How much of the output of a command is kept, in bytes.
const MAX_OUTPUT_BYTES: usize = 64 * 1024;

/// The calls of a turn, as far as they show what is in the project.
#[derive(Debug, Clone, Default)]
pub(super) struct TurnCalls {
    /// Calls that run now, by the CLI's id.
    running: BTreeMap<String, AgentToolCall>,
    commands: Vec<CommandRun>,
}

/// A command that printed nothing but what it opened.
#[derive(Debug, Clone)]
struct CommandRun {
    /// Its text, with white space collapsed.
    line: String,
    output: String,
}

impl TurnCalls {
    /// Notes what an event of the turn's CLI says about a call.
    pub(super) fn on_event(&mut self, event: &AdapterEvent, traits: &AdapterTraits, root: &Path) {
        match event {
            AdapterEvent::ToolStarted {
                item,
                call: Some(call),
                ..
            } if self.running.len() < MAX_COMMANDS => {
                self.running.insert(item.clone(), (**call).clone());
            }
            AdapterEvent::ToolEnded {
                item,
                status,
                output,
                ..
            } => {
                let call = self.running.remove(item);
                let has_run = matches!(status, ToolStatus::Completed | ToolStatus::Failed);
                if let Some(call) = call.filter(|_| has_run) {
                    self.record_call(&call, (traits.command_output)(output), root);
                }
            }
            _ => {}
        }
    }

    fn record_call(&mut self, call: &AgentToolCall, output: &str, root: &Path) {
        let AgentToolCall::Command { line, cwd, .. } = call else {
            return;
        };
        if self.commands.len() < MAX_COMMANDS && prints_only_what_it_opens(line, cwd, root) {
            self.commands.push(CommandRun {
                line: collapse_white_space(line),
                output: truncate::to_bytes(output, MAX_OUTPUT_BYTES),
            });
        }
    }

    /// Returns what a command printed that the agent ran and that prints only what it opens, the last one if it ran
    /// more than once.
    pub(super) fn command_output(&self, command: &str) -> Option<&str> {
        let line = collapse_white_space(command);
        let mut runs = self.commands.iter().rev();
        let run = runs.find(|run| run.line == line)?;
        Some(&run.output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::adapter_entry;
    use crate::domain::adapter_kind::AdapterKind;
    use crate::domain::event::ToolKind;
    use crate::permission::SandboxReach;

    fn run_command(calls: &mut TurnCalls, kind: AdapterKind, line: &str, output: &str) {
        let (traits, root) = (adapter_entry(kind).traits, Path::new("/r"));
        let item = line.to_owned();
        let call = AgentToolCall::Command {
            line: line.to_owned(),
            cwd: root.to_owned(),
            reach: SandboxReach::Contained,
        };
        let started = AdapterEvent::ToolStarted {
            item: item.clone(),
            tool: ToolKind::Command,
            title: line.to_owned(),
            call: Some(Box::new(call)),
        };
        calls.on_event(&started, traits, root);
        let ended = AdapterEvent::ToolEnded {
            item,
            status: ToolStatus::Completed,
            exit_code: Some(0),
            output: output.to_owned(),
        };
        calls.on_event(&ended, traits, root);
    }

    #[test]
    fn what_a_reading_command_printed_is_found_by_its_text() {
        let mut calls = TurnCalls::default();
        let (codex, claude) = (AdapterKind::Codex, AdapterKind::Claude);
        run_command(&mut calls, codex, "rg  -n add src", "src/a.rs:1: fn add\n");
        run_command(&mut calls, codex, "echo src/a.rs:9", "src/a.rs:9\n");
        let nothing = "(Bash completed with no output)";
        run_command(&mut calls, claude, "rg absent src", nothing);
        run_command(&mut calls, claude, "grep -rn gone src", "Exit code 1");
        assert_eq!(
            calls.command_output("rg -n\nadd src"),
            Some("src/a.rs:1: fn add\n")
        );
        assert_eq!(calls.command_output("echo src/a.rs:9"), None);
        assert_eq!(calls.command_output("rg absent src"), Some(""));
        assert_eq!(calls.command_output("grep -rn gone src"), Some(""));
        assert_eq!(calls.command_output("cat src/a.rs"), None);
    }
}
