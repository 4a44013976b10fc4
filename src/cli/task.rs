//! `agent-collab task`: gives one task to an agent and prints its answer.
//!
//! Uses the running instance, so that its limits and its screen apply; else runs on its own.

use std::io::{self, Write};

use clap::Args;

use crate::app::startup::{StartError, StartOptions};
use crate::app::task_command::{self, TaskCommand};
use crate::app::write_watchdog::WatchedWriter;
use crate::domain::ids::SessionId;
use crate::domain::task::{TaskResult, TaskStatus};
use crate::text::{clean_json_line, clean_text, pluralize};

use super::ConfigFlagArguments;
use super::run::OnAskFlag;
use super::uncontained_flag::UncontainedArguments;

/// Arguments of `agent-collab task`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "The agent works alone, in its own session. Its last message is the result. An agent that can edit works in its \
                  own working tree; its changes are applied to yours as one patch, or kept as a patch file.\n\n\
                  Exit codes: 0 completed, 1 not completed (with the reason), 130 interrupted.\n\n\
                  Examples:\n  agent-collab task --agent explore \"list the public functions\"\n  \
                  agent-collab task --agent explore --id explore#1 \"and where are they tested?\""
)]
pub struct TaskArguments {
    /// The agent for the task; `agent-collab agents --mode subagent` lists the choices
    #[arg(long, value_name = "NAME")]
    pub agent: String,
    /// What to do
    #[arg(value_name = "TEXT", required = true)]
    pub prompt: Vec<String>,
    /// A title of three to five words [default: made from TEXT]
    #[arg(long, value_name = "WORDS")]
    pub description: Option<String>,
    /// Continue an earlier task of this run, by its name (`explore#1`) or id
    #[arg(long, value_name = "TASK_ID")]
    pub id: Option<String>,
    /// How to answer a permission request of the agent if no instance is running here
    #[arg(long, value_name = "WHAT", default_value = "deny")]
    pub on_ask: OnAskFlag,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    /// What lifts the asking about commands that nothing holds.
    #[command(flatten)]
    pub holding: UncontainedArguments,
    /// The configuration that counts.
    #[command(flatten)]
    pub choices: ConfigFlagArguments,
}

/// Runs the command.
///
/// # Errors
/// The task did not start, or its result is unknown.
pub async fn run(args: TaskArguments) -> Result<u8, StartError> {
    let wishes = StartOptions {
        ask_policy: args.on_ask.into(),
        uncontained: args.holding.uncontained_commands(),
        ..StartOptions::without_turns(super::current_dir()?, args.choices.to_config_flags()?)
    };
    let given = TaskCommand {
        agent: args.agent,
        prompt: args.prompt.join(" "),
        description: args.description.unwrap_or_default(),
        task_id: args.id.map(SessionId::new),
    };
    let (result, signal) =
        task_command::run_task(&wishes, given, &mut super::print_progress).await?;
    let text = if args.json {
        result_to_json(&result)?
    } else {
        format_result(&result)
    };
    let code = match (result.end.status(), signal) {
        (TaskStatus::Completed, _) => 0,
        (_, Some(_)) => 130,
        (_, None) => 1,
    };
    Ok(crate::cli::exit_code_after_print(
        writeln!(WatchedWriter(io::stdout()), "{text}"),
        code,
    ))
}

fn result_to_json(result: &TaskResult) -> Result<String, StartError> {
    let text = serde_json::to_string(result);
    let text = text.map_err(|error| StartError::new(error, ""))?;
    Ok(clean_json_line(&text))
}

fn format_result(result: &TaskResult) -> String {
    let seconds = result.duration_ms / 1000;
    let again = match result.name.as_str() {
        "" => result.task_id.as_str(),
        name => name,
    };
    let patch = result.patch.as_ref();
    let patch = patch.map(|patch| clean_text(&format!("\n\n{}", patch.to_string().trim_end())));
    format!(
        "{}{}\n\n{} by {} in {seconds} s with {}; continue with --id {}",
        clean_text(result.end.user_message()),
        patch.unwrap_or_default(),
        result.end.status().name(),
        clean_text(result.display_name()),
        pluralize(
            usize::try_from(result.tool_calls).unwrap_or(usize::MAX),
            "call"
        ),
        clean_text(again)
    )
}
