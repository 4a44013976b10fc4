//! `agent-collab sessions`: lists, shows and deletes the conversations of roles and tasks.
//!
//! Listing and showing take no lock and change nothing; only sessions of tasks can be deleted on their own.

use clap::{Args, Subcommand};
use serde_json::Value;

use crate::app::session_commands;
use crate::app::startup::{StartError, StartOptions};
use crate::domain::task::{ChildSessionStatus, TaskStatus};
use crate::store::session_files::{SessionMessageReader, StoredSession};
use crate::store::{WorkdirLayout, local_time};
use crate::text::{clean_json_line, clean_text, pluralize};

use super::ConfigFlagArguments;
use super::cli_context::CliContext;

/// Arguments of `agent-collab sessions`.
#[derive(Debug, Args)]
#[command(
    after_help = "A session is one conversation with one agent. Sessions of roles are kept with their run, sessions of tasks for \
                  limits.keep_sessions_days. `agent-collab task --id` continues a task."
)]
pub struct SessionsArguments {
    /// What to do.
    #[command(subcommand)]
    pub command: SessionsSubcommand,
    /// The configuration that counts.
    #[command(flatten)]
    pub choices: ConfigFlagArguments,
}

/// What is done with sessions.
#[derive(Debug, Subcommand)]
pub enum SessionsSubcommand {
    /// List sessions, oldest first
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one session with its whole conversation
    Show {
        /// The session's name (`explore#1`), id, or start of the id
        #[arg(value_name = "ID")]
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Delete the session of a task
    Delete {
        /// The session's name (`explore#1`), id, or start of the id
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Delete task sessions older than limits.keep_sessions_days
    Prune,
}

/// Runs the command.
///
/// # Errors
/// There is no such session, or it cannot be read or deleted.
pub async fn run(args: SessionsArguments) -> Result<u8, StartError> {
    let wishes =
        StartOptions::without_turns(super::current_dir()?, args.choices.to_config_flags()?);
    let text = match &args.command {
        SessionsSubcommand::List { json } => {
            let layout = find_layout(&args).await?;
            let sessions = session_commands::list_sessions(&layout)?;
            if *json {
                to_json_line(&sessions.into_iter().map(|session| session.json).collect())
            } else {
                format_list(&sessions, &layout)
            }
        }
        SessionsSubcommand::Show { id, json } => {
            let layout = find_layout(&args).await?;
            let session = session_commands::find_session(&layout, id)?;
            format_session(&layout, session, *json)?
        }
        SessionsSubcommand::Delete { id } => {
            format!(
                "deleted {}\n",
                session_commands::delete_session(&wishes, id).await?
            )
        }
        SessionsSubcommand::Prune => {
            let n = session_commands::prune_sessions(&wishes).await?;
            format!("{} deleted\n", pluralize(n, "session"))
        }
    };
    Ok(crate::cli::print_output(&text))
}

async fn find_layout(args: &SessionsArguments) -> Result<WorkdirLayout, StartError> {
    Ok(CliContext::load(&args.choices).await?.layout)
}

fn to_json_line(value: &Value) -> String {
    format!("{}\n", clean_json_line(&value.to_string()))
}

fn format_list(sessions: &[StoredSession], layout: &WorkdirLayout) -> String {
    if sessions.is_empty() {
        let root = layout.root().display().to_string();
        return format!("no sessions in {}\n", clean_text(&root));
    }
    let widest = sessions
        .iter()
        .map(|session| session_name(session).len())
        .max();
    let widest = widest.unwrap_or(0);
    sessions
        .iter()
        .map(|each| format_summary(each, widest))
        .collect()
}

/// Returns the session's name in the run.
fn session_name(session: &StoredSession) -> String {
    clean_text(session.name.as_deref().unwrap_or("-"))
}

fn format_summary(session: &StoredSession, widest: usize) -> String {
    let status = match session.child_status() {
        Some(ChildSessionStatus::CutOff) => "interrupted",
        _ => &session.status,
    };
    format!(
        "{}  {:<widest$}  {:<11}  {:<8}  {:<16}  {}\n",
        clean_text(&session.id),
        session_name(session),
        clean_text(status),
        clean_text(&session.adapter),
        session
            .created
            .map(local_time::to_local_text)
            .unwrap_or_default(),
        clean_text(&session.title),
    )
}

/// Formats where a task writes, and what became of its changes.
fn format_worktree(session: &StoredSession) -> String {
    let is_running = matches!(
        session.child_status(),
        Some(ChildSessionStatus::CutOff | ChildSessionStatus::Task(TaskStatus::Running))
    );
    let patch = session.task.patch();
    let tree = session.task.tree.as_ref().filter(|_| is_running);
    let tree = tree.map(|tree| format!("writes in {}\n", clean_text(tree)));
    let patch = patch.map(|patch| format!("{}\n", clean_text(&patch.describe())));
    [tree, patch].into_iter().flatten().collect()
}

fn format_session(
    layout: &WorkdirLayout,
    mut session: StoredSession,
    json: bool,
) -> Result<String, StartError> {
    let messages = SessionMessageReader::new(layout, &session.session_id()).read_new()?;
    if json {
        session
            .json
            .insert("messages".to_owned(), Value::Array(messages));
        return Ok(to_json_line(&Value::Object(session.json)));
    }
    let mut text = format_summary(&session, 0);
    text.push_str(&format_worktree(&session));
    for message in &messages {
        let word = |key: &str| message[key].as_str().unwrap_or_default();
        text.push_str(&format!(
            "\n── {} ({})\n{}\n",
            clean_text(word("role")),
            clean_text(word("agent")),
            clean_text(word("text").trim_end())
        ));
    }
    Ok(text)
}
