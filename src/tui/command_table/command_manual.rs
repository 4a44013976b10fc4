//! The command table as the manual page prints it.

use super::{CommandGroup, all_rows};
use crate::tui::keymap::KeyChord;

/// A group of commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManualSection {
    pub heading: &'static str,
    pub entries: Vec<ManualEntry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManualEntry {
    /// Its slash commands, with their arguments.
    pub names: String,
    /// Its default keys; empty if it has none.
    pub keys: String,
    pub help: &'static str,
}

/// Returns all commands by group, with their default keys.
pub fn command_manual() -> Vec<ManualSection> {
    let section = |group: CommandGroup| ManualSection {
        heading: group.label(),
        entries: all_rows()
            .filter(|row| row.group == group)
            .map(|row| {
                let keys: Vec<String> = row.keys.iter().copied().map(KeyChord::label).collect();
                ManualEntry {
                    names: row.slash_names(),
                    keys: keys.join(", "),
                    help: row.help,
                }
            })
            .collect(),
    };
    CommandGroup::ALL.map(section).into()
}
