//! The one table of commands. A row has a command's name, argument, group, keys, context, help, hint, condition and
//! effect; bindings, palette, help, completion, footer, `agent-collab keys`, `agent-collab send` and the manual page
//! read it. CONTRIBUTING.md has the recipe for a new one.

mod argument_parsers;
mod command_conditions;
mod command_manual;
mod command_row;
mod command_rows;
mod command_target;
mod slash_command;
mod slash_parser;
#[cfg(test)]
mod tests;
mod view_rows;

use std::sync::LazyLock;

use super::command::ScreenCommand;
use super::keymap::KeyContext;
use crate::domain::run::RunState;
use command_conditions::CommandContext;
pub use command_conditions::{OpenDialog, open_question};
pub use command_manual::{ManualEntry, ManualSection, command_manual};
use command_row::RunChange;
pub use command_row::{
    CommandGroup, CommandRow, EndOffer, PaletteHeading, PaletteListing, PalettePlace,
    ScreenFunction,
};
use command_rows::GROUPS;
pub use command_target::CommandTarget;
pub use slash_command::{ArgumentValues, SlashArgument, SlashCommand};
pub use slash_parser::{CommandParseError, edit_distance, parse_slash_command};
pub use view_rows::MOVE_HINTS;

/// Returns the rows of all slash commands, in the order of the help.
pub fn all_rows() -> impl Iterator<Item = &'static CommandRow> {
    let rows = GROUPS.iter().flat_map(|rows| rows.iter());
    #[cfg(test)]
    let rows = rows.chain(tests::added_row());
    rows
}

/// Returns all rows that have keys: those of slash commands, then those of single views.
pub fn all_key_rows() -> impl Iterator<Item = &'static CommandRow> {
    let views = view_rows::VIEW_ROWS.iter().chain(view_rows::BOARD_ROWS);
    all_rows().chain(views)
}

/// A command of each row, to find the row of any command.
static EXAMPLES: LazyLock<Vec<(ScreenCommand, &'static CommandRow)>> = LazyLock::new(|| {
    // What needs an argument has a number and a text.
    let example = |row: &'static CommandRow| row.key_command().or_else(|| row.parse("1 x").ok());
    all_key_rows()
        .filter_map(|row| Some((example(row)?, row)))
        .collect()
});

/// Returns the row of a command, whatever its argument is.
fn find_row(command: &ScreenCommand) -> Option<&'static CommandRow> {
    if let ScreenCommand::Call(call) = command {
        return Some(call.row);
    }
    let mut examples = EXAMPLES.iter();
    let found = examples.find(|(example, _)| example.is_same_command(command));
    found.map(|(_, row)| *row)
}

/// Returns why a command has no effect now; `None` if it has one.
pub fn command_blocker(
    command: &ScreenCommand,
    state: Option<&RunState>,
    dialog: Option<OpenDialog>,
) -> Option<String> {
    find_row(command).and_then(|row| (row.blocker)(&CommandContext { state, dialog }))
}

/// Returns why a slash command that still lacks its argument has no effect now; `None` if it has one.
pub fn slash_blocker(
    typed: &str,
    state: Option<&RunState>,
    dialog: Option<OpenDialog>,
) -> Option<String> {
    let name = typed.split_whitespace().next()?;
    let row = all_rows().find(|row| row.slash_commands().any(|slash| slash.name == name))?;
    (row.blocker)(&CommandContext { state, dialog })
}

/// Returns whether a command has an effect now.
pub fn is_command_available(
    command: &ScreenCommand,
    state: Option<&RunState>,
    dialog: Option<OpenDialog>,
) -> bool {
    command_blocker(command, state, dialog).is_none()
}

/// Returns whether a command changes the run or writes to it. One without a row counts as doing so.
pub fn changes_run(command: &ScreenCommand) -> bool {
    find_row(command).is_none_or(|row| match row.run_change {
        RunChange::Never => false,
        RunChange::Always => true,
        RunChange::WithArgument => !command.lacks_argument(),
    })
}

/// Returns whether a key may run this command while something covers the run: it only reads,
/// navigates, or interrupts a turn.
pub fn is_safe_in_overlay(command: &ScreenCommand) -> bool {
    find_row(command).is_some_and(|row| row.is_safe_in_overlay)
}

/// Returns whether a command answers the run's dialog.
pub fn answers_dialog(command: &ScreenCommand) -> bool {
    find_row(command).is_some_and(|row| row.answers_dialog)
}

/// Returns whether the key of a global command still works in a view that has keys of its own.
pub fn works_in_view(command: &ScreenCommand, view: KeyContext) -> bool {
    find_row(command).is_some_and(|row| row.works_in_view(view))
}

/// Returns the row whose argument completion can offer, and what is typed of that argument. The argument of an answer
/// may have blanks.
pub fn argument_at_end(line: &str) -> Option<(&'static CommandRow, &str)> {
    let (command, typed) = line.split_once(' ')?;
    let row = all_rows().find(|row| row.slash.name == command)?;
    let is_one_word = !typed.contains(char::is_whitespace);
    (is_one_word || row.values == ArgumentValues::Answers).then_some((row, typed))
}

/// Returns the commands that can be sent from another terminal.
pub fn sendable_rows() -> impl Iterator<Item = &'static CommandRow> {
    all_rows().filter(|row| row.is_sendable)
}

/// Returns whether a command can be sent from another terminal.
pub fn is_sendable(command: &ScreenCommand) -> bool {
    find_row(command).is_some_and(|row| row.is_sendable)
}

/// Returns whether a command needs a text after its name.
pub fn takes_text(command: &ScreenCommand) -> bool {
    let is_text = |row: &CommandRow| matches!(row.slash.argument, SlashArgument::Text(_));
    find_row(command).is_some_and(is_text)
}
