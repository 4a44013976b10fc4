//! `agent-collab export`: writes a run as one page for others, HTML or Markdown.
//!
//! Takes no lock and changes nothing but the output file.

use std::path::PathBuf;

use clap::Args;

use crate::app::export::{ExportPage, export_file};
use crate::app::run_history;
use crate::app::startup::StartError;
use crate::domain::export_format::ExportFormat;
use crate::store::WorkdirLayout;

use super::ConfigFlagArguments;
use super::cli_context::CliContext;

/// Arguments of `agent-collab export`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "The page contains the goal, plan, reviews and findings, every turn with its tool calls, the diff and the test \
                  result of each step, and the totals. It loads nothing from the network and runs no script. Secrets and terminal \
                  sequences are removed.\n\n\
                  Examples:\n  agent-collab export -o run.html             # the current run, or else the last finished one\n  \
                  agent-collab export 2 --md -o run.md        # the second of `agent-collab history`"
)]
pub struct ExportArguments {
    /// A finished run: its number in `agent-collab history`, its name or part of it [default: the last run]
    #[arg(value_name = "NAME|N")]
    pub run: Option<String>,
    /// Write an HTML page with a light and a dark theme (default)
    #[arg(long, conflicts_with = "md")]
    pub html: bool,
    /// Write Markdown
    #[arg(long)]
    pub md: bool,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The configuration that counts.
    #[command(flatten)]
    pub choices: ConfigFlagArguments,
}

/// Runs the command.
///
/// # Errors
/// There is no such run, its files cannot be read, or the page cannot be written.
pub async fn run(args: ExportArguments) -> Result<u8, StartError> {
    let here = CliContext::load(&args.choices).await?;
    let wanted = find_run(here.layout.clone(), args.run.as_deref())?;
    let page = ExportPage::load(wanted, &here.into()).await?;
    let text = page.render(if args.md {
        ExportFormat::Markdown
    } else {
        ExportFormat::Html
    });
    match &args.output {
        Some(path) => {
            export_file::replace_file(path, &text).map_err(|error| {
                StartError::new(
                    format!("cannot write {}: {error}", path.display()),
                    "name a file in a folder that you can write to",
                )
            })?;
            Ok(0)
        }
        None => Ok(crate::cli::print_output(&text)),
    }
}

/// Returns the wanted run; by default the one in the work directory, else the last finished one.
pub(super) fn find_run(
    here: WorkdirLayout,
    wanted: Option<&str>,
) -> Result<WorkdirLayout, StartError> {
    if wanted.is_none() && here.state().is_file() {
        return Ok(here);
    }
    let runs = run_history::list_runs(&here)?;
    let found = match wanted {
        Some(wanted) => run_history::find_run(&runs, wanted),
        None => runs.first().ok_or_else(|| "no run here yet".to_owned()),
    };
    let run = found.map_err(|problem| StartError {
        problem,
        hint: "`agent-collab history` lists the finished runs".to_owned(),
        code: 2,
    })?;
    Ok(run.layout.clone())
}
