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
                        go             releases the waiting turn, or confirms the goal\n  \
                        auto, pause    turns follow each other; every turn waits\n  \
                        interrupt      ends the running turn and nothing else\n  \
                        stop           back to the goal\n  \
                        cancel         gives the run up, without asking once more\n  \
                        steer TEXT     says something to the agent whose turn runs\n  \
                        changes TEXT   asks for changes to an approved plan that waits for you\n  \
                        goal TEXT      confirms this goal, or begins a run with it on the screen\n  \
                        quit           ends the program; the run is kept\n\n\
                        Where no instance runs, `cancel` and `stop` end the unfinished run that lies here.\n\
                        Calls and questions of agents are answered on the screen only, and no process of a run can send.\n\
                        A headless run that was paused so waits until `go` or `auto` is sent.\n\n\
                        Exit codes: 0 done, 1 not done, and why.\n\n\
                        Example:\n  agent-collab send pause")]
pub struct SendArguments {
    /// What to do: go, auto, pause, stop, interrupt, cancel, steer, changes, goal or quit
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
