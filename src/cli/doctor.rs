//! `agent-collab doctor`: checks whether everything a run needs is there, and prints what to do about the rest.
//!
//! Asks each CLI for its version, and those of the roles for their login; tests each folder that a run writes into; calls
//! no model. The checks are in `app::doctor_checks`, because agents can ask for them, too.

use std::io::{self, Write};

use clap::Args;
use serde_json::json;

use crate::app::doctor_checks::diagnose_environment;
use crate::app::startup::{StartError, StartOptions};
use crate::text::clean_json_line;

use super::ConfigFlagArguments;

/// Arguments of `agent-collab doctor`.
#[derive(Debug, Clone, Args)]
pub struct DoctorArguments {
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// The configuration that counts.
    #[command(flatten)]
    pub choices: ConfigFlagArguments,
}

/// Runs the command: returns 0 if a run could start, else 1.
///
/// # Errors
/// The configuration has problems.
pub async fn run(args: DoctorArguments) -> Result<u8, StartError> {
    let wishes =
        StartOptions::without_turns(super::current_dir()?, args.choices.to_config_flags()?);
    let report = diagnose_environment(&wishes).await?;
    let is_well = report.0["ok"] == json!(true);
    let mut out = io::stdout();
    let written = if args.json {
        writeln!(out, "{}", clean_json_line(&report.0.to_string()))
    } else {
        write!(out, "{}", report.to_text())
    };
    Ok(crate::cli::exit_code_after_print(
        written,
        u8::from(!is_well),
    ))
}
