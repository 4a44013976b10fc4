//! `agent-collab permissions list` and `revoke`: what you approved for more than one call.
//!
//! Refuses to add anything: approvals are given where an agent asks.

use std::io::{self, Write};

use clap::Args;
use serde_json::json;

use super::builtin;
use crate::app::start::Refusal;
use crate::cli::ChoiceArgs;
use crate::cli::checkout::root_here;
use crate::config::Places;
use crate::config::problem::visible;
use crate::permission::{Approvable, Scope};
use crate::store::approval_store::{ApprovalRecord, ApprovalStore};
use crate::store::local_time;
use crate::store::utc_time::to_rfc3339;

/// Arguments of `agent-collab permissions list`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "An approval serves only the agent it was given under, and turns an ask into an allow: never a deny, and never \
                  what the safety lists, protected paths or the phase hold back. They are kept outside of the repository."
)]
pub struct ListArgs {
    /// Prints JSON
    #[arg(long)]
    pub json: bool,
    /// Lists the built-in rules about commands instead: name, class, what each catches, an example
    #[arg(long)]
    pub builtin: bool,
    /// The configuration that counts for --builtin.
    #[command(flatten)]
    pub choices: ChoiceArgs,
}

/// Arguments of `agent-collab permissions revoke`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Example:\n  agent-collab permissions list\n  agent-collab permissions revoke 3 4"
)]
pub struct RevokeArgs {
    /// Their numbers in the list
    #[arg(
        value_name = "N",
        required_unless_present = "all",
        conflicts_with = "all"
    )]
    pub ids: Vec<u64>,
    /// All of this repository
    #[arg(long)]
    pub all: bool,
}

/// Runs `list`.
///
/// # Errors
/// The approvals cannot be read, or the configuration has problems.
pub async fn list(args: ListArgs) -> Result<u8, Refusal> {
    if args.builtin {
        let text = builtin::list(&args.choices, args.json).await?;
        return Ok(print(&text));
    }
    let (approvals, root) = approvals().await?;
    let stored = approvals.list()?;
    let text = match args.json {
        true => {
            let all: Vec<serde_json::Value> = stored.iter().map(as_json).collect();
            format!("{}\n", serde_json::Value::Array(all))
        }
        false if stored.is_empty() => {
            format!("nothing is approved for more than one call in {root}\n")
        }
        false => stored.iter().map(in_words).collect(),
    };
    Ok(print(&text))
}

/// Runs `revoke`.
///
/// # Errors
/// The approvals cannot be read or written, or there is none of a number.
pub async fn revoke(args: RevokeArgs) -> Result<u8, Refusal> {
    let (approvals, _) = approvals().await?;
    let known: Vec<u64> = approvals.list()?.iter().map(|stored| stored.id).collect();
    if let Some(unknown) = args.ids.iter().find(|id| !known.contains(id)) {
        return Err(Refusal {
            problem: format!("there is no approval {unknown}"),
            hint: "`agent-collab permissions list` shows them with their numbers".to_owned(),
            code: 2,
        });
    }
    let gone = approvals.revoke(|stored| args.all || args.ids.contains(&stored.id))?;
    let text: String = match gone.as_slice() {
        [] => "there was nothing to take back\n".to_owned(),
        gone => gone
            .iter()
            .map(|stored| format!("taken back: {}", in_words(stored)))
            .collect(),
    };
    Ok(print(&text))
}

async fn approvals() -> Result<(ApprovalStore, String), Refusal> {
    let (root, _) = root_here().await?;
    let places = Places::from_env().map_err(|error| Refusal::error(error, ""))?;
    let shown = visible(&root.display().to_string());
    Ok((ApprovalStore::new(&places.approvals_dir(), &root), shown))
}

fn print(text: &str) -> u8 {
    crate::cli::printed(io::stdout().write_all(text.as_bytes()), 0)
}

fn in_words(stored: &ApprovalRecord) -> String {
    let ApprovalRecord {
        id,
        approved,
        granted_at,
        run,
    } = stored;
    let how = match approved.what {
        Approvable::Exact(_) => "exactly",
        Approvable::Pattern(_) => "pattern",
    };
    let scope = match approved.scope {
        Scope::Project => approved.scope.name().to_owned(),
        Scope::Run => format!("run {run}"),
    };
    format!(
        "{id:>3}  {}  {:<8} {} {how} {}\n     for {scope}\n",
        local_time::to_local_text(*granted_at),
        approved.profile,
        approved.permission,
        visible(approved.what.text()),
    )
}

fn as_json(stored: &ApprovalRecord) -> serde_json::Value {
    let (how, text) = match &stored.approved.what {
        Approvable::Exact(text) => ("exact", text),
        Approvable::Pattern(text) => ("pattern", text),
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
