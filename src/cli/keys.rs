//! `agent-collab keys`: prints every action of the screen with its current keys, in the format of `[keys]`.
//!
//! Does not write configuration files: those are the user's.

use std::io::Write;

use super::config::CliConfigContext;
use crate::app::startup::StartError;
use crate::app::terminal;
use crate::app::ui_config::{UiConfig, load_checked_config, to_start_error};
use crate::config::diagnostic::escape_control_chars;

/// Prints the keys; returns the exit code.
///
/// # Errors
/// The configuration has problems.
pub fn run(here: &CliConfigContext, out: &mut dyn Write) -> Result<u8, StartError> {
    let loaded =
        load_checked_config(&here.places, &here.root, &here.choices).map_err(to_start_error)?;
    let looks =
        UiConfig::from_config(&loaded, terminal::detect_color_depth()).map_err(to_start_error)?;
    let file = here.places.global_config();
    let text = format!(
        "# Copy what you want to change into {}.\n# A key is written as \"g\", \"ctrl+g\", \"alt+g\", \"f5\" or \"space\"; \"none\" removes it.\n[keys]\n{}",
        escape_control_chars(&file.display().to_string()),
        looks.look.keymap.to_toml()
    );
    // The reader closed the output, as with `| head`.
    Ok(u8::from(out.write_all(text.as_bytes()).is_err()))
}
