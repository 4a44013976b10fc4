//! The keys in force: the table's own, or those that the user gave its actions.
//!
//! Refuses to know how they were written.

use ratatui::crossterm::event::KeyEvent;

use super::{BINDINGS, Binding, Context, Key};
use crate::tui::command::Command;

/// The keys of each line of the table, in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keymap(pub(super) Vec<Vec<Key>>);

impl Default for Keymap {
    /// The keys of the table.
    fn default() -> Self {
        Self(
            BINDINGS
                .iter()
                .map(|binding| binding.keys.to_vec())
                .collect(),
        )
    }
}

/// Whether the composer is focused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IsWriting {
    /// It is.
    Yes,
    /// It is not.
    No,
}

impl Context {
    pub(super) fn works(self, is_writing: IsWriting) -> bool {
        match self {
            Self::Anywhere => true,
            Self::Outside => is_writing == IsWriting::No,
            Self::Composer => is_writing == IsWriting::Yes,
        }
    }
}

impl Keymap {
    /// The lines of the table with their keys.
    pub fn rows(&self) -> impl Iterator<Item = (&'static Binding, &[Key])> {
        BINDINGS.iter().zip(self.0.iter().map(Vec::as_slice))
    }

    /// Finds what a key means. A printable key means nothing while the composer is focused.
    pub fn find(&self, event: &KeyEvent, is_writing: IsWriting) -> Option<Command> {
        let means = |(binding, keys): &(&Binding, &[Key])| {
            binding.context.works(is_writing)
                && keys.iter().any(|key| {
                    key.is(event) && !(is_writing == IsWriting::Yes && key.is_printable())
                })
        };
        let (binding, _) = self.rows().find(means)?;
        binding.command.map(|command| command())
    }

    /// The key to show for a line here: one that works while the user writes, when that is so.
    pub fn shown(&self, (binding, keys): (&Binding, &[Key]), is_writing: IsWriting) -> Option<Key> {
        let fits = |key: &&Key| is_writing == IsWriting::No || !key.is_printable();
        keys.iter()
            .find(fits)
            .copied()
            .filter(|_| binding.context.works(is_writing))
    }

    /// The name of the key of an action, by the action's name; what to type where it has none.
    pub fn named(&self, action: &str, is_writing: IsWriting) -> String {
        let Some(row) = self.rows().find(|(binding, _)| binding.name == action) else {
            return action.to_owned();
        };
        match self.shown(row, is_writing) {
            Some(key) => key.name(),
            None => row.0.typed().to_owned(),
        }
    }

    /// All actions with their keys, as the user's configuration takes them.
    pub fn as_toml(&self) -> String {
        let rows = self.rows().filter(|(binding, _)| !binding.name.is_empty());
        let lines: Vec<(String, &Binding)> = rows
            .map(|(binding, keys)| (line(binding.name, keys), binding))
            .collect();
        let width = lines.iter().map(|(line, _)| line.len()).max().unwrap_or(0);
        let line = |(line, binding): &(String, &Binding)| {
            let place = match binding.context {
                Context::Anywhere => "anywhere: ",
                Context::Outside => "",
                Context::Composer => "while you write: ",
            };
            format!("{line:width$}  # {place}{}\n", binding.help)
        };
        lines.iter().map(line).collect()
    }
}

fn line(name: &str, keys: &[Key]) -> String {
    let quoted: Vec<String> = keys
        .iter()
        .map(|key| match key.spelling().as_str() {
            backslash @ "\\" => format!("'{backslash}'"),
            other => format!("\"{other}\""),
        })
        .collect();
    match quoted.as_slice() {
        [] => format!("{name} = \"none\""),
        [one] => format!("{name} = {one}"),
        several => format!("{name} = [{}]", several.join(", ")),
    }
}
