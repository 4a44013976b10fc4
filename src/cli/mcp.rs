//! `agent-collab mcp`: serves the program's tools to an agent whose CLI starts it.
//!
//! Not for people, and hidden from the help. Forwards calls to the instance that runs the session; the token that
//! identifies the session is in a file that only the user can read.

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

/// Serves until the CLI closes the connection.
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
