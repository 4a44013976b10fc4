//! `agent-collab send`: sends a command to the running instance, from another terminal or a script.
//!
//! If none runs, it can still stop or cancel an unfinished run.

use std::io::{self, Write};

use clap::Args;

use crate::app::ipc_socket::IpcRequest;
use crate::app::remote_control;
use crate::app::startup::{StartError, StartOptions};

use super::ConfigFlagArguments;

/// Arguments of `agent-collab send`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Commands, each as its slash command on the screen:\n  \
                        go             send the waiting turn, or confirm the goal\n  \
                        auto, pause    send turns automatically, or let every turn wait for you\n  \
                        interrupt      interrupt only the running turn\n  \
                        stop           stop and go back to the goal\n  \
                        cancel         cancel the run, without confirmation\n  \
                        steer TEXT     send a message to the agent during its turn\n  \
                        changes TEXT   ask for changes to a plan that waits for approval\n  \
                        goal TEXT      confirm this goal, or start a run with it on the screen\n  \
                        quit           end the program and save the run\n\n\
                        If no instance is running, `cancel` and `stop` end the unfinished run here.\n\
                        Permission requests and questions can only be answered on the screen, and processes of a run cannot send commands.\n\
                        A headless run that you paused waits for `go` or `auto`.\n\n\
                        Exit codes: 0 done, 1 not done (with the reason).\n\n\
                        Example:\n  agent-collab send pause")]
pub struct SendArguments {
    /// The command: go, auto, pause, stop, interrupt, cancel, steer, changes, goal or quit
    #[arg(value_name = "COMMAND")]
    pub command: String,
    /// The text of `steer`, `changes` and `goal`
    #[arg(value_name = "TEXT")]
    pub text: Vec<String>,
    /// The configuration that counts.
    #[command(flatten)]
    pub choices: ConfigFlagArguments,
}

/// Runs the command.
///
/// # Errors
/// The command was not carried out.
pub async fn run(args: SendArguments) -> Result<u8, StartError> {
    let wishes =
        StartOptions::without_turns(super::current_dir()?, args.choices.to_config_flags()?);
    let request = IpcRequest {
        command: args.command,
        text: args.text.join(" "),
    };
    remote_control::send_command(&wishes, &request).await?;
    let _closed = writeln!(io::stdout(), "{}: done", request.command);
    Ok(0)
}

#[cfg(test)]
mod tests {
    use clap::Args;

    use super::SendArguments;
    use crate::app::ui_config::sendable_commands;

    #[test]
    fn the_help_describes_every_command_that_can_be_sent() {
        let definition = SendArguments::augment_args(clap::Command::new("send"));
        let help = definition.get_after_help().map(ToString::to_string);
        let help = help.unwrap_or_default();
        for command in sendable_commands().split(", ") {
            let is_described = help.contains(&format!("  {command} "));
            // Two commands share a line.
            assert!(
                is_described
                    || help.contains(&format!(", {command} "))
                    || help.contains(&format!("  {command}, ")),
                "{command}: {help}"
            );
        }
    }
}
