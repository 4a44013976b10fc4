//! `agent-collab keys`: every action of the screen with the keys that it has now, as `[keys]` takes them.
//!
//! Refuses to write a configuration file: those are the user's.

use std::io::Write;

use super::config::CliConfigContext;
use crate::app::startup::StartError;
use crate::app::terminal;
use crate::app::ui_config::{UiConfig, load_checked_config, to_start_error};
use crate::config::diagnostic::escape_control_chars;

/// Prints them; returns the exit code.
///
/// # Errors
/// The configuration is wrong.
pub fn run(here: &CliConfigContext, out: &mut dyn Write) -> Result<u8, StartError> {
    let loaded =
        load_checked_config(&here.places, &here.root, &here.choices).map_err(to_start_error)?;
    let looks =
        UiConfig::from_config(&loaded, terminal::detect_color_depth()).map_err(to_start_error)?;
    let file = here.places.global_config();
    let text = format!(
        "# Copy what you want to change into {}.\n# A key is written as \"g\", \"ctrl+g\", \"alt+g\", \"f5\" or \"space\"; \"none\" takes it away.\n[keys]\n{}",
        escape_control_chars(&file.display().to_string()),
        looks.look.keymap.to_toml()
    );
    // Nobody reads on, as with `| head`.
    Ok(u8::from(out.write_all(text.as_bytes()).is_err()))
}
