//! `agent-collab keys`: every action of the screen with the keys that it has now, as `[keys]` takes them.
//!
//! Refuses to write a configuration file: those are the user's.

use std::io::Write;

use super::config::CliConfigContext;
use crate::app::looks::{Looks, load, refused};
use crate::app::start::Refusal;
use crate::app::terminal;
use crate::config::problem::visible;

/// Prints them; returns the exit code.
///
/// # Errors
/// The configuration is wrong.
pub fn run(here: &CliConfigContext, out: &mut dyn Write) -> Result<u8, Refusal> {
    let loaded = load(&here.places, &here.root, &here.choices).map_err(refused)?;
    let looks = Looks::of(&loaded, terminal::depth()).map_err(refused)?;
    let file = here.places.global_config();
    let text = format!(
        "# Copy what you want to change into {}.\n# A key is written as \"g\", \"ctrl+g\", \"alt+g\", \"f5\" or \"space\"; \"none\" takes it away.\n[keys]\n{}",
        visible(&file.display().to_string()),
        looks.look.keymap.as_toml()
    );
    // Nobody reads on, as with `| head`.
    Ok(u8::from(out.write_all(text.as_bytes()).is_err()))
}
