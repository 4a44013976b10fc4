//! One line of the table: an action, its keys, where they work, and how it is called.
//!
//! Refuses to know the lines.

use super::Key;
use crate::tui::command::Command;

/// Where a key works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context {
    /// Also while the composer is focused.
    Anywhere,
    /// Only while the composer is not focused.
    Outside,
    /// Only while it is.
    Composer,
}

/// One line of the table.
#[derive(Debug)]
pub struct Binding {
    /// What the user's configuration calls it; empty where no key can be given.
    pub name: &'static str,
    /// The keys as they are without a word of the user; the first is the one that is shown.
    pub keys: &'static [Key],
    /// Where they work.
    pub context: Context,
    /// What they do; `None` for what is a slash command only.
    pub command: Option<fn() -> Command>,
    /// The slash commands that mean the same, with their arguments, separated by `, `.
    pub slash: &'static str,
    /// What it does, for the help.
    pub help: &'static str,
    /// One or two words for the footer; empty where it has no place there.
    pub hint: &'static str,
}

/// A line with keys.
pub const fn bind(
    name: &'static str,
    keys: &'static [Key],
    context: Context,
    command: fn() -> Command,
    texts: [&'static str; 3],
) -> Binding {
    Binding {
        name,
        keys,
        context,
        command: Some(command),
        slash: texts[0],
        help: texts[1],
        hint: texts[2],
    }
}

/// A line that is a slash command only.
pub const fn slash(slash: &'static str, help: &'static str) -> Binding {
    Binding {
        name: "",
        keys: &[],
        context: Context::Anywhere,
        command: None,
        slash,
        help,
        hint: "",
    }
}

impl Binding {
    /// The first slash command, without its argument.
    pub fn typed(&self) -> &'static str {
        let first = self.slash.split(", ").next().unwrap_or(self.slash);
        match first.split_once(" [") {
            Some((name, _)) => name,
            None => first,
        }
    }
}
