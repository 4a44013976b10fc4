//! `agent-collab man`: the manual pages and shell completions that packages install, made from the same definition as
//! `--help`, and from the screen's command table.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Command, ValueEnum};
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use super::{config_flags, exit_code_after_print};
use crate::app::startup::StartError;
use crate::app::ui_config::command_manual;

const PROGRAM: &str = "agent-collab";

/// Arguments of `agent-collab man`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  agent-collab man | man -l -\n  agent-collab man --dir out    # one page per command, completions for every shell"
)]
pub struct ManArguments {
    /// Write one page per command and the completions of every shell into this folder
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// Prints the main page, or writes all pages and completions to a folder.
///
/// # Errors
/// The folder cannot be created or written.
pub fn run(args: &ManArguments) -> Result<u8, StartError> {
    let Some(dir) = &args.dir else {
        // clap_mangen wants a writer that does not fail; a reader that closes the pipe early is normal.
        let mut page = Vec::new();
        let rendered = Man::new(build_definition())
            .render(&mut page)
            .and_then(|()| render_screen_commands().to_writer(&mut page));
        return Ok(exit_code_after_print(
            rendered.and_then(|()| io::stdout().write_all(&page)),
            0,
        ));
    };
    let n_files = write_all(dir).map_err(|error| {
        StartError::new(
            format!("cannot write to {}: {error}", dir.display()),
            "name a folder that you can write to",
        )
    })?;
    let line = format!("{n_files} files in {}\n", dir.display());
    Ok(crate::cli::print_output(&line))
}

/// Writes every file and returns how many there are.
fn write_all(dir: &Path) -> io::Result<usize> {
    fs::create_dir_all(dir)?;
    clap_mangen::generate_to(config_flags::command_definition(), dir)?;
    let main_page = dir.join(format!("{PROGRAM}.1"));
    let mut main_page = OpenOptions::new().append(true).open(main_page)?;
    render_screen_commands().to_writer(&mut main_page)?;
    for shell in Shell::value_variants() {
        let definition = &mut config_flags::command_definition();
        clap_complete::generate_to(*shell, definition, PROGRAM, dir)?;
    }
    Ok(fs::read_dir(dir)?.count())
}

/// The sections on the slash commands and keys of the screen.
fn render_screen_commands() -> Roff {
    let mut page = Roff::new();
    page.control("SH", ["SLASH COMMANDS AND KEYS"]);
    page.text([roman(
        "The commands of the screen, each with its default keys. [keys] in the configuration changes the keys; \
        agent-collab keys prints them.",
    )]);
    for section in command_manual() {
        page.control("SS", [section.heading]);
        for entry in section.entries {
            let keys = if entry.keys.is_empty() {
                String::new()
            } else {
                format!(" ({})", entry.keys)
            };
            page.control("TP", []);
            page.text([bold(entry.names), roman(keys)]);
            page.text([roman(entry.help)]);
        }
    }
    page
}

/// The definition with everything that clap adds on its own, such as `--help`.
fn build_definition() -> Command {
    let mut command = config_flags::command_definition();
    command.build();
    command
}

#[cfg(test)]
mod tests {
    use super::render_screen_commands;

    #[test]
    fn the_page_has_the_slash_commands_by_group_with_their_keys() {
        let mut page = Vec::new();
        render_screen_commands().to_writer(&mut page).unwrap();
        let page = String::from_utf8(page).unwrap();
        let shown = page
            .lines()
            .skip_while(|line| !line.contains("\"The run\""));
        let shown: Vec<&str> = shown.take(4).collect();
        assert_eq!(
            shown,
            [
                ".SS \"The run\"",
                ".TP",
                "\\fB/go\\fR (G)",
                "Send the waiting turn, or confirm the goal",
            ],
            "{page}"
        );
    }
}
