//! `agent-collab permissions`: asks the one decision, shows what it rests on, takes approvals back.
//!
//! Refuses to change a rule: those stand in configuration files, which are the user's.

pub mod batch;
pub mod builtin;
pub mod check;
pub mod explain;
pub mod replay;
pub mod stored;

use clap::Subcommand;

use crate::app::start::Refusal;

/// What is asked about permissions.
#[derive(Debug, Clone, Subcommand)]
pub enum PermissionsSub {
    /// Tells how dangerous a command is, or decides many cases from standard input
    Check(check::CheckArgs),
    /// Shows how a call would be decided, step by step
    Explain(explain::ExplainArgs),
    /// Lists what you approved for more than one call, or the built-in rules about commands
    List(stored::ListArgs),
    /// Takes approvals back
    Revoke(stored::RevokeArgs),
    /// Decides the calls of an earlier run by today's rules, and shows what would differ
    Replay(replay::ReplayArgs),
}

/// Runs the command.
///
/// # Errors
/// The configuration has problems, or what is asked for is not there.
pub async fn run(command: PermissionsSub) -> Result<u8, Refusal> {
    match command {
        PermissionsSub::Check(args) => check::run(args).await,
        PermissionsSub::Explain(args) => explain::run(args).await,
        PermissionsSub::List(args) => stored::list(args).await,
        PermissionsSub::Revoke(args) => stored::revoke(args).await,
        PermissionsSub::Replay(args) => replay::run(args).await,
    }
}
