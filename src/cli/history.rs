//! `agent-collab history`: lists the finished runs, or opens one read-only.
//!
//! Takes no lock and changes nothing.

use clap::Args;
use serde_json::{Value, json};

use crate::app::run_history::{self, RunHistoryEntry};
use crate::app::startup::StartError;
use crate::app::terminal;
use crate::app::tui_loop::{self, TuiStart};
use crate::app::ui_config;
use crate::engine::stored_run::load_partial_run;
use crate::store::{WorkdirLayout, document_files};
use crate::text::escape_invisible;
use crate::text::{clean_json_line, clean_text};

use super::ConfigFlagArguments;
use super::cli_context::CliContext;
use super::screen::{display_mode, screen_options};
use super::status::{RunActivity, format_damage, format_run, review_to_json};

/// Arguments of `agent-collab history`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:\n  agent-collab history\n  agent-collab history 1")]
pub struct HistoryArguments {
    /// Open this run read-only: its number in the list, its name or part of it
    #[arg(value_name = "NAME|N")]
    pub run: Option<String>,
    /// Print the run instead of opening it on the screen
    #[arg(long, requires = "run")]
    pub print: bool,
    /// Open it in linear mode: lines of text in place of a screen
    #[arg(long, requires = "run", conflicts_with = "print")]
    pub linear: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// The configuration that counts.
    #[command(flatten)]
    pub choices: ConfigFlagArguments,
}

/// Runs the command.
///
/// # Errors
/// The history cannot be read, or has no such run.
pub async fn run(args: HistoryArguments) -> Result<u8, StartError> {
    let CliContext { root, layout, .. } = CliContext::load(&args.choices).await?;
    let runs = run_history::list_runs(&layout)?;
    let Some(wanted) = &args.run else {
        let text = if args.json {
            format!("{}\n", clean_json_line(&runs_to_json(&runs).to_string()))
        } else {
            format_runs(&runs, &escape_invisible(&root.display().to_string()))
        };
        return Ok(print_text(&text));
    };
    let run = run_history::find_run(&runs, wanted).map_err(|problem| StartError {
        problem,
        hint: "`agent-collab history` lists them".to_owned(),
        code: 2,
    })?;
    if args.json {
        return Ok(print_text(&format!(
            "{}\n",
            clean_json_line(&run_to_json(&run.layout)?.to_string())
        )));
    }
    let choices = args.choices.to_config_flags()?;
    let is_linear = args.linear || ui_config::wants_linear(&choices);
    if args.print || !is_linear && !terminal::is_usable() {
        return Ok(print_text(&format_archived_run(run)?));
    }
    let first = TuiStart::ViewArchived {
        name: run.name.clone(),
    };
    let display = display_mode(is_linear, &choices)?;
    let mut opening = screen_options(choices, first)?;
    opening.display = display;
    tui_loop::run_tui(opening).await
}

fn print_text(text: &str) -> u8 {
    crate::cli::print_output(text)
}

fn runs_to_json(runs: &[RunHistoryEntry]) -> Value {
    let all = runs.iter().enumerate();
    Value::Array(all.map(|(at, run)| run.to_json(at + 1)).collect())
}

fn format_runs(runs: &[RunHistoryEntry], root: &str) -> String {
    if runs.is_empty() {
        return format!(
            "no finished run in {root}\n\
             a run moves to the history when the next one starts; until then `agent-collab --view` shows it\n"
        );
    }
    let mut text = String::new();
    for (at, run) in runs.iter().enumerate() {
        let agents = match &run.summary {
            Ok(told) => told.agents.join(" and "),
            Err(_) => String::new(),
        };
        let head = [Some(run.end_label()), run.progress_label(), Some(agents)];
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
            run.subject(),
            clean_text(&run.directory().display().to_string())
        ));
        if let Some(problem) = &run.problem {
            text.push_str(&format!("     {}\n", clean_text(problem)));
        }
    }
    if runs.iter().any(RunHistoryEntry::is_unfinished) {
        text.push_str("resume an unfinished run: `agent-collab resume NAME|N`\n");
    }
    text
}

fn run_to_json(layout: &WorkdirLayout) -> Result<Value, StartError> {
    Ok(match load_partial_run(layout)? {
        Some(found) => json!({
            "last_seq": found.last_seq,
            "run": serde_json::to_value(&found.state).unwrap_or_default(),
            "review": review_to_json(&found.state),
            "problem": found.problem,
        }),
        None => json!({ "run": null }),
    })
}

/// Formats a run from its snapshot or event log, followed by its log of the steps.
fn format_archived_run(run: &RunHistoryEntry) -> Result<String, StartError> {
    let mut text = format!(
        "history    {}\n",
        clean_text(&run.directory().display().to_string())
    );
    match load_partial_run(&run.layout) {
        Ok(Some(found)) => {
            text.push_str(&format_damage(found.problem.as_deref()));
            text.push_str(&format_run(&found.state, RunActivity::Archived));
        }
        Ok(None) | Err(_) => text.push_str(&format_damage(Some(run.subject()))),
    }
    if let Some(log) = document_files::read_document(&run.layout.log())? {
        let log = String::from_utf8_lossy(&log.bytes).into_owned();
        text.push_str(&format!("\n{}\n", clean_text(log.trim_end())));
    }
    Ok(text)
}
