//! `agent-collab doctor`: looks whether everything a run needs is there, and says what to do about what is not.
//!
//! Runs each CLI once with `--version` and tries each folder that a run writes into; calls no model. Refuses to look
//! itself: agents can ask for the same.

use std::io::{self, Write};

use clap::Args;
use serde_json::json;

use crate::app::diagnosing::diagnosis;
use crate::app::start::{Refusal, Wishes};
use crate::text::clean_json_line;

use super::ChoiceArgs;

/// Arguments of `agent-collab doctor`.
#[derive(Debug, Clone, Args)]
pub struct DoctorArgs {
    /// Prints one JSON object
    #[arg(long)]
    pub json: bool,
    /// The configuration that counts.
    #[command(flatten)]
    pub choices: ChoiceArgs,
}

/// Runs the command: 0 when a run could start, else 1.
///
/// # Errors
/// The configuration has problems.
pub async fn run(args: DoctorArgs) -> Result<u8, Refusal> {
    let wishes = Wishes::at_rest(super::cwd()?, args.choices.choices()?);
    let report = diagnosis(&wishes).await?;
    let is_well = report.0["ok"] == json!(true);
    let mut out = io::stdout();
    let written = match args.json {
        true => writeln!(out, "{}", clean_json_line(&report.0.to_string())),
        false => write!(out, "{}", report.in_words()),
    };
    Ok(crate::cli::printed(written, u8::from(!is_well)))
}
