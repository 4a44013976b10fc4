//! `agent-collab history`: lists the finished runs, or opens one to be read.
//!
//! Takes no lock and changes nothing.

use std::io::{self, Write};

use clap::Args;
use serde_json::{Value, json};

use crate::app::history::{self, Finished};
use crate::app::screen::{self, First};
use crate::app::start::Refusal;
use crate::app::terminal;
use crate::engine::lying::stands;
use crate::store::{WorkdirLayout, document_files};
use crate::text::visible;
use crate::text::{clean, clean_json_line};

use super::ChoiceArgs;
use super::checkout::Checkout;
use super::screen::opening;
use super::status::{Work, damaged_line, in_words};

/// Arguments of `agent-collab history`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:\n  agent-collab history\n  agent-collab history 1")]
pub struct HistoryArgs {
    /// Opens this run read-only: its number in the list, its name or a part of it
    #[arg(value_name = "NAME|N")]
    pub run: Option<String>,
    /// Prints the run instead of opening it on the screen
    #[arg(long, requires = "run")]
    pub print: bool,
    /// Prints JSON
    #[arg(long)]
    pub json: bool,
    /// The configuration that counts.
    #[command(flatten)]
    pub choices: ChoiceArgs,
}

/// Runs the command.
///
/// # Errors
/// The history cannot be read, or holds no such run.
pub async fn run(args: HistoryArgs) -> Result<u8, Refusal> {
    let Checkout { root, layout, .. } = Checkout::find(&args.choices).await?;
    let runs = history::list(&layout)?;
    let Some(wanted) = &args.run else {
        let text = match args.json {
            true => format!("{}\n", clean_json_line(&listed_as_json(&runs).to_string())),
            false => listed(&runs, &visible(&root.display().to_string())),
        };
        return Ok(print(&text));
    };
    let run = history::find(&runs, wanted).map_err(|problem| Refusal {
        problem,
        hint: "`agent-collab history` lists them".to_owned(),
        code: 2,
    })?;
    if args.json {
        return Ok(print(&format!(
            "{}\n",
            clean_json_line(&whole_as_json(&run.layout)?.to_string())
        )));
    }
    if args.print || !terminal::is_there() {
        return Ok(print(&whole(run)?));
    }
    let first = First::Read {
        name: run.name.clone(),
    };
    screen::run(opening(args.choices.choices()?, first)?).await
}

fn print(text: &str) -> u8 {
    crate::cli::printed(io::stdout().write_all(text.as_bytes()), 0)
}

fn listed_as_json(runs: &[Finished]) -> Value {
    let all = runs.iter().enumerate();
    Value::Array(all.map(|(at, run)| run.to_json(at + 1)).collect())
}

fn listed(runs: &[Finished], root: &str) -> String {
    if runs.is_empty() {
        return format!(
            "no finished run in {root}\n\
             a run comes here when the next one begins; until then `agent-collab --view` shows it\n"
        );
    }
    let mut text = String::new();
    for (at, run) in runs.iter().enumerate() {
        let agents = match &run.told {
            Ok(told) => told.agents.join(" and "),
            Err(_) => String::new(),
        };
        let head = [Some(run.ended()), run.how_far(), Some(agents)];
        let head: Vec<String> = head
            .into_iter()
            .flatten()
            .filter(|part| !part.is_empty())
            .collect();
        text.push_str(&format!(
            "{:>3}  {}  {}\n     {}\n     {}\n",
            at + 1,
            run.date,
            head.join(", "),
            run.about(),
            clean(&run.place().display().to_string())
        ));
        if let Some(problem) = &run.problem {
            text.push_str(&format!("     {}\n", clean(problem)));
        }
    }
    if runs.iter().any(Finished::is_unfinished) {
        text.push_str("an unfinished one goes on again: `agent-collab resume NAME|N`\n");
    }
    text
}

fn whole_as_json(layout: &WorkdirLayout) -> Result<Value, Refusal> {
    Ok(match stands(layout)? {
        Some(found) => json!({
            "last_seq": found.last_seq,
            "run": serde_json::to_value(&found.state).unwrap_or_default(),
            "problem": found.problem,
        }),
        None => json!({ "run": null }),
    })
}

/// What the snapshot tells, or the log, and the log for people.
fn whole(run: &Finished) -> Result<String, Refusal> {
    let mut text = format!("history    {}\n", clean(&run.place().display().to_string()));
    match stands(&run.layout) {
        Ok(Some(found)) => {
            text.push_str(&damaged_line(found.problem.as_deref()));
            text.push_str(&in_words(&found.state, Work::Over));
        }
        Ok(None) | Err(_) => text.push_str(&damaged_line(Some(run.about()))),
    }
    if let Some(log) = document_files::read_document(&run.layout.log())? {
        let log = String::from_utf8_lossy(&log.bytes).into_owned();
        text.push_str(&format!("\n{}\n", clean(log.trim_end())));
    }
    Ok(text)
}
