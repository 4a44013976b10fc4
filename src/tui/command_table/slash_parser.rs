//! Parses what the user types as a slash command, by the rows of the command table.

use super::{CommandRow, all_rows};
use crate::tui::command::ScreenCommand;

/// Why a text is not a valid command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandParseError {
    /// An ordinary message, not a command.
    Text,
    /// Looks like a command; the message says what is wrong and what to type instead.
    Wrong(String),
}

/// Parses `/name argument`.
///
/// # Errors
/// The text is not a command, or the command is unknown or lacks its argument.
pub fn parse_slash_command(text: &str) -> Result<ScreenCommand, CommandParseError> {
    let text = text.trim();
    let Some(rest) = text.strip_prefix('/') else {
        return Err(CommandParseError::Text);
    };
    let (name, argument) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    // Paths and code comments also start with a slash.
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphabetic() || c == '-') {
        return Err(CommandParseError::Text);
    }
    let argument = argument.trim();
    let name = name.to_ascii_lowercase();
    let command = all_rows().find_map(|row| row.parse_named(&name, argument));
    command
        .unwrap_or_else(|| Err(describe_unknown_command(&name)))
        .map_err(CommandParseError::Wrong)
}

fn describe_unknown_command(name: &str) -> String {
    let nearest = all_rows()
        .flat_map(CommandRow::slash_commands)
        .map(|slash| slash.name)
        .map(|slash| (edit_distance(name, slash.trim_start_matches('/')), slash))
        .min_by_key(|(distance, _)| *distance);
    match nearest {
        // A suggestion further away than that does not help.
        Some((distance, nearest)) if distance * 3 <= name.chars().count().max(3) => {
            format!("/{name} is not a command. Did you mean {nearest}? /help lists all.")
        }
        Some(_) | None => format!("/{name} is not a command. /help lists all."),
    }
}

/// Returns the edit distance: how many letters to add, remove or replace to turn one word into the other.
pub fn edit_distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (n, a) in left.chars().take(40).enumerate() {
        let mut before = row[0];
        row[0] = n + 1;
        for (m, b) in right.iter().enumerate() {
            let changed = before + usize::from(a != *b);
            before = row[m + 1];
            row[m + 1] = changed.min(before + 1).min(row[m] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, wanted: &str) {
        assert_eq!(format!("{:?}", parse_slash_command(text)), wanted, "{text}");
    }

    #[test]
    fn slash_commands_are_read_with_their_arguments() {
        check("/go", "Ok(Go)");
        check("/Diff 2", "Ok(Diff(Step(2)))");
        check("/undo", "Ok(Undo(Last))");
        check("/undo 2", "Ok(Undo(BackTo(2)))");
        check("/diff", "Ok(Diff(All))");
        check("/diff plan", "Ok(Diff(Plan))");
        check("/changes  use a map ", "Ok(Changes(\"use a map\"))");
        check("/edit comments", "Ok(Edit(Comments))");
        check("/plan", "Ok(Mode(Some(Plan)))");
        check("/mode", "Ok(Mode(None))");
        check("/mode yolo", "Ok(Mode(Some(Yolo)))");
        check(
            "/mode x",
            "Err(Wrong(\"/mode takes plan, default, auto-edit or yolo\"))",
        );
        check("/auto-edit", "Ok(Mode(Some(AutoEdit)))");
        check("/tab plan", "Ok(Show(Plan))");
    }

    #[test]
    fn what_is_no_command_is_a_text_or_says_what_is_wrong() {
        check("hello", "Err(Text)");
        check("/usr/bin is wrong", "Err(Text)");
        check("// a comment", "Err(Text)");
        check(
            "/aprove",
            "Err(Wrong(\"/aprove is not a command. Did you mean /approve? /help lists all.\"))",
        );
        check("/changes", "Err(Wrong(\"Write a text after /changes.\"))");
    }
}
