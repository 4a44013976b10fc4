//! `agent-collab permissions list` and `revoke`: shows and removes the approvals for more than one call.
//!
//! Adds none: the user approves when an agent asks.

use clap::Args;
use serde_json::json;

use super::builtin_list;
use crate::app::startup::StartError;
use crate::cli::ConfigFlagArguments;
use crate::cli::cli_context::find_current_root;
use crate::config::UserDirs;
use crate::config::diagnostic::escape_control_chars;
use crate::permission::{ApprovalMatcher, ApprovalScope};
use crate::store::approval_store::{ApprovalRecord, ApprovalStore};
use crate::store::local_time;
use crate::store::utc_time::to_rfc3339;

/// Arguments of `agent-collab permissions list`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "An approval applies only to the agent it was given to. It turns an ask into an allow, but never a deny, and \
                  never what the safety lists, protected paths or the phase forbid. Approvals are stored outside the repository."
)]
pub struct PermissionsListArguments {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// List the built-in command rules instead: name, class, what each catches, an example
    #[arg(long)]
    pub builtin: bool,
    /// The configuration that counts for --builtin.
    #[command(flatten)]
    pub choices: ConfigFlagArguments,
}

/// Arguments of `agent-collab permissions revoke`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Example:\n  agent-collab permissions list\n  agent-collab permissions revoke 3 4"
)]
pub struct PermissionsRevokeArguments {
    /// Numbers of the approvals in the list
    #[arg(
        value_name = "N",
        required_unless_present = "all",
        conflicts_with = "all"
    )]
    pub ids: Vec<u64>,
    /// Revoke all approvals of this repository
    #[arg(long)]
    pub all: bool,
}

/// Runs `list`.
///
/// # Errors
/// The approvals cannot be read, or the configuration has problems.
pub async fn run_list(args: PermissionsListArguments) -> Result<u8, StartError> {
    if args.builtin {
        let text = builtin_list::list_builtin_rules(&args.choices, args.json).await?;
        return Ok(print_text(&text));
    }
    let (approvals, root) = open_approvals().await?;
    let stored = approvals.list()?;
    let text = if args.json {
        let all: Vec<serde_json::Value> = stored.iter().map(approval_to_json).collect();
        format!("{}\n", serde_json::Value::Array(all))
    } else if stored.is_empty() {
        format!("no approvals for more than one call in {root}\n")
    } else {
        stored.iter().map(format_approval).collect()
    };
    Ok(print_text(&text))
}

/// Runs `revoke`.
///
/// # Errors
/// The approvals cannot be read or written, or a number does not exist.
pub async fn run_revoke(args: PermissionsRevokeArguments) -> Result<u8, StartError> {
    let (approvals, _) = open_approvals().await?;
    let known: Vec<u64> = approvals.list()?.iter().map(|stored| stored.id).collect();
    if let Some(unknown) = args.ids.iter().find(|id| !known.contains(id)) {
        return Err(StartError {
            problem: format!("no approval {unknown}"),
            hint: "`agent-collab permissions list` shows the approvals with their numbers"
                .to_owned(),
            code: 2,
        });
    }
    let gone = approvals.revoke(|stored| args.all || args.ids.contains(&stored.id))?;
    let text: String = match gone.as_slice() {
        [] => "no approvals to revoke\n".to_owned(),
        gone => gone
            .iter()
            .map(|stored| format!("revoked: {}", format_approval(stored)))
            .collect(),
    };
    Ok(print_text(&text))
}

async fn open_approvals() -> Result<(ApprovalStore, String), StartError> {
    let (root, _) = find_current_root().await?;
    let places = UserDirs::from_env().map_err(|error| StartError::new(error, ""))?;
    let shown = escape_control_chars(&root.display().to_string());
    Ok((ApprovalStore::new(&places.approvals_dir(), &root), shown))
}

fn print_text(text: &str) -> u8 {
    crate::cli::print_output(text)
}

fn format_approval(stored: &ApprovalRecord) -> String {
    let ApprovalRecord {
        id,
        approved,
        granted_at,
        run,
    } = stored;
    let how = match approved.what {
        ApprovalMatcher::Exact(_) => "exactly",
        ApprovalMatcher::Pattern(_) => "pattern",
    };
    let scope = match approved.scope {
        ApprovalScope::Project => approved.scope.label().to_owned(),
        ApprovalScope::Run => format!("run {run}"),
    };
    format!(
        "{id:>3}  {}  {:<8} {} {how} {}\n     for {scope}\n",
        local_time::to_local_text(*granted_at),
        approved.profile,
        approved.permission,
        escape_control_chars(approved.what.as_str()),
    )
}

fn approval_to_json(stored: &ApprovalRecord) -> serde_json::Value {
    let (how, text) = match &stored.approved.what {
        ApprovalMatcher::Exact(text) => ("exact", text),
        ApprovalMatcher::Pattern(text) => ("pattern", text),
    };
    json!({
        "id": stored.id,
        "granted_at": to_rfc3339(stored.granted_at),
        "agent": stored.approved.profile,
        "permission": stored.approved.permission,
        how: text,
        "scope": stored.approved.scope,
        "run": stored.run,
    })
}
