//! `agent-collab mcp`: started by an agent's CLI, it serves the program's tools to that agent.
//!
//! Not for people, and hidden from the help. It forwards to the instance that runs the session; the token that binds
//! it to that session lies in a file that only the user can read.

use std::path::PathBuf;

use clap::Args;

use crate::app::startup::StartError;
use crate::mcp::server;

/// Arguments of `agent-collab mcp`.
#[derive(Debug, Clone, Args)]
pub struct McpArguments {
    /// Where the instance listens
    #[arg(long, value_name = "FILE")]
    pub socket: PathBuf,
    /// The file with the session's token
    #[arg(long, value_name = "FILE")]
    pub token: PathBuf,
}

/// Serves until the CLI goes.
///
/// # Errors
/// The instance cannot be reached or refuses.
pub async fn run(args: McpArguments) -> Result<u8, StartError> {
    let served = server::serve(&args.socket, &args.token).await;
    served.map_err(|error| {
        StartError::new(
            error,
            "this command is started by codex and claude, in a run",
        )
    })?;
    Ok(0)
}
