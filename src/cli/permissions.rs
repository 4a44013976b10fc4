//! `agent-collab permissions`: checks and explains permission decisions, and manages stored approvals.
//!
//! Does not change rules: those are in configuration files, which are the user's.

pub mod batch_check;
pub mod builtin_list;
pub mod check;
pub mod explain;
pub mod replay;
pub mod stored_approvals;

use clap::Subcommand;

use crate::app::startup::StartError;

/// What is asked about permissions.
#[derive(Debug, Clone, Subcommand)]
pub enum PermissionsSubcommand {
    /// Check how dangerous a command is, or decide many cases from standard input
    Check(check::PermissionsCheckArguments),
    /// Explain how a call would be decided, step by step
    Explain(explain::PermissionsExplainArguments),
    /// List the approvals you gave for more than one call, or the built-in command rules
    List(stored_approvals::PermissionsListArguments),
    /// Revoke approvals
    Revoke(stored_approvals::PermissionsRevokeArguments),
    /// Decide the calls of an earlier run again by today's rules, and show the differences
    Replay(replay::PermissionsReplayArguments),
}

/// Runs the command.
///
/// # Errors
/// The configuration has problems, or what the user named does not exist.
pub async fn run(command: PermissionsSubcommand) -> Result<u8, StartError> {
    match command {
        PermissionsSubcommand::Check(args) => check::run(args).await,
        PermissionsSubcommand::Explain(args) => explain::run(args).await,
        PermissionsSubcommand::List(args) => stored_approvals::run_list(args).await,
        PermissionsSubcommand::Revoke(args) => stored_approvals::run_revoke(args).await,
        PermissionsSubcommand::Replay(args) => replay::run(args).await,
    }
}
