//! `agent-collab sessions`: the conversations that lie here, of roles and of tasks.
//!
//! Looking locks and changes nothing; only sessions of tasks can be deleted by themselves.

use std::io::{self, Write};

use clap::{Args, Subcommand};
use serde_json::Value;

use crate::app::sessions::{self, id_of};
use crate::app::start::{Refusal, Wishes};
use crate::domain::ids::{At, SessionId};
use crate::domain::patch::TaskPatch;
use crate::store::session_files as stored;
use crate::store::{WorkdirLayout, local_time};
use crate::text::{clean, clean_json_line, n_of};

use super::ChoiceArgs;
use super::checkout::Checkout;

/// Arguments of `agent-collab sessions`.
#[derive(Debug, Args)]
#[command(
    after_help = "A session is one conversation with one agent. Those of roles go with their run; those of tasks are kept for \
                  limits.keep_sessions_days and can be gone on with by `agent-collab task --id`."
)]
pub struct SessionsArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: SessionsSub,
    /// The configuration that counts.
    #[command(flatten)]
    pub choices: ChoiceArgs,
}

/// What is done with sessions.
#[derive(Debug, Subcommand)]
pub enum SessionsSub {
    /// Lists them, the oldest first
    List {
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
    /// Shows one with all that was said in it
    Show {
        /// Its name (`explore#1`), its id, or the beginning of that
        #[arg(value_name = "ID")]
        id: String,
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
    /// Deletes the session of a task
    Delete {
        /// Its name (`explore#1`), its id, or the beginning of that
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Deletes the sessions of tasks that are older than limits.keep_sessions_days
    Prune,
}

/// Runs the command.
///
/// # Errors
/// There is no such session, or it cannot be read or deleted.
pub async fn run(args: SessionsArgs) -> Result<u8, Refusal> {
    let wishes = Wishes::at_rest(super::cwd()?, args.choices.choices()?);
    let text = match &args.command {
        SessionsSub::List { json } => {
            let layout = layout_here(&args).await?;
            let sessions = sessions::list(&layout)?;
            match json {
                true => as_json(&Value::Array(sessions)),
                false => listed(&sessions, &layout),
            }
        }
        SessionsSub::Show { id, json } => {
            let layout = layout_here(&args).await?;
            let session = sessions::find(&layout, id)?;
            shown(&layout, session, *json)?
        }
        SessionsSub::Delete { id } => {
            format!("deleted {}\n", sessions::delete(&wishes, id).await?)
        }
        SessionsSub::Prune => {
            let n = sessions::prune(&wishes).await?;
            format!("{} deleted\n", n_of(n, "session"))
        }
    };
    Ok(crate::cli::printed(
        io::stdout().write_all(text.as_bytes()),
        0,
    ))
}

async fn layout_here(args: &SessionsArgs) -> Result<WorkdirLayout, Refusal> {
    Ok(Checkout::find(&args.choices).await?.layout)
}

fn as_json(value: &Value) -> String {
    format!("{}\n", clean_json_line(&value.to_string()))
}

fn listed(sessions: &[Value], layout: &WorkdirLayout) -> String {
    if sessions.is_empty() {
        let root = layout.root().display().to_string();
        return format!("no session in {}\n", clean(&root));
    }
    let widest = sessions.iter().map(|session| called(session).len()).max();
    let widest = widest.unwrap_or(0);
    sessions
        .iter()
        .map(|each| in_a_line(each, widest))
        .collect()
}

/// Its name in the run.
fn called(session: &Value) -> String {
    clean(session["name"].as_str().unwrap_or("-"))
}

fn in_a_line(session: &Value, widest: usize) -> String {
    let word = |key: &str| clean(session[key].as_str().unwrap_or_default());
    let (kind, title) = match session["kind"].as_str() {
        Some(_) => (word("status"), word("title")),
        None => ("role".to_owned(), word("last_user_agent")),
    };
    let since = session["created"]
        .as_i64()
        .map(|at| local_time::to_local_text(At(at)));
    format!(
        "{}  {:<widest$}  {kind:<9}  {:<8}  {:<16}  {title}\n",
        clean(id_of(session)),
        called(session),
        word("adapter"),
        since.unwrap_or_default(),
    )
}

/// Where a task that writes does so, and what became of what it changed.
fn of_its_tree(session: &Value) -> String {
    let is_running = session["status"] == "running" || session["status"] == "cut off";
    let tree = session.pointer("/task/tree").and_then(Value::as_str);
    let tree = tree.filter(|_| is_running);
    let patch = session.pointer("/task/patch").cloned();
    let patch = patch.and_then(|patch| serde_json::from_value::<TaskPatch>(patch).ok());
    let tree = tree.map(|tree| format!("writes in {}\n", clean(tree)));
    let patch = patch.map(|patch| format!("{}\n", clean(&patch.in_words())));
    [tree, patch].into_iter().flatten().collect()
}

fn shown(layout: &WorkdirLayout, mut session: Value, json: bool) -> Result<String, Refusal> {
    let id = SessionId::new(id_of(&session));
    let messages = stored::SessionMessageReader::new(layout, &id).read_new()?;
    if json {
        session["messages"] = Value::Array(messages);
        return Ok(as_json(&session));
    }
    let mut text = in_a_line(&session, 0);
    text.push_str(&of_its_tree(&session));
    for message in &messages {
        let word = |key: &str| message[key].as_str().unwrap_or_default();
        text.push_str(&format!(
            "\n── {} ({})\n{}\n",
            clean(word("role")),
            clean(word("agent")),
            clean(word("text").trim_end())
        ));
    }
    Ok(text)
}
