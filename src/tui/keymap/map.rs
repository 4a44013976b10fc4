//! The keys in force: the table's own, or those that the user gave its actions.
//!
//! Refuses to know how they were written.

use ratatui::crossterm::event::KeyEvent;

use super::{BINDINGS, Binding, Context, Key, views};
use crate::tui::command::Command;

/// The keys of each line of the table, in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keymap(pub(super) Vec<Vec<Key>>);

impl Default for Keymap {
    /// The keys of the table.
    fn default() -> Self {
        Self(all().map(|binding| binding.keys.to_vec()).collect())
    }
}

/// How many of a view's own keys are named before those that move it.
const MOVES_AT: usize = 3;

/// Every line: the whole table's, then those of the views.
pub(super) fn all() -> impl Iterator<Item = &'static Binding> {
    let views = views::BINDINGS.iter().chain(views::OF_BOARD);
    BINDINGS.iter().chain(views)
}

/// Keys that belong together, and what they do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// Each as it is written, and what it does.
    pub keys: Vec<(String, Command)>,
    /// One or two words.
    pub what: &'static str,
}

impl Hint {
    /// The keys as they are written.
    pub fn names(&self) -> String {
        let names: Vec<&str> = self.keys.iter().map(|(name, _)| name.as_str()).collect();
        names.join(" ")
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
            Self::Anywhere | Self::Diff | Self::Board | Self::Find | Self::Text => true,
            Self::Outside => is_writing == IsWriting::No,
            Self::Composer => is_writing == IsWriting::Yes,
        }
    }
}

impl Keymap {
    /// The lines of the table with their keys, but for those of the views.
    pub fn rows(&self) -> impl Iterator<Item = (&'static Binding, &[Key])> {
        self.all_rows().take(BINDINGS.len())
    }

    /// Every line with its keys.
    pub fn all_rows(&self) -> impl Iterator<Item = (&'static Binding, &[Key])> {
        all().zip(self.0.iter().map(Vec::as_slice))
    }

    /// Finds what a key means in a view, by itself.
    pub fn find_in(&self, event: &KeyEvent, view: Context) -> Option<Command> {
        let means = |(binding, keys): &(&Binding, &[Key])| {
            binding.context == view && keys.iter().any(|key| key.is(event))
        };
        let (binding, _) = self.all_rows().find(means)?;
        binding.command.map(|command| command())
    }

    /// The keys of a view and what they do, in a word or two; those that belong together stand together.
    pub fn hints_of(&self, view: Context) -> Vec<Hint> {
        let mut hints: Vec<Hint> = Vec::new();
        let own = self
            .all_rows()
            .filter(|(binding, _)| binding.context == view);
        for (binding, keys) in own.filter(|(binding, _)| !binding.hint.is_empty()) {
            let (Some(key), Some(command)) = (keys.first(), binding.command) else {
                continue;
            };
            match hints.last_mut().filter(|last| last.what == binding.hint) {
                Some(last) => last.keys.push((key.name(), command())),
                None => hints.push(Hint {
                    keys: vec![(key.name(), command())],
                    what: binding.hint,
                }),
            }
        }
        if view != Context::Find {
            let at = hints.len().min(MOVES_AT);
            hints.splice(at..at, self.moves());
        }
        hints
    }

    /// The keys that move what is shown.
    fn moves(&self) -> Vec<Hint> {
        let moves = views::MOVES.iter().map(|(names, what)| Hint {
            keys: names
                .iter()
                .filter_map(|name| self.key_of(name, IsWriting::No))
                .collect(),
            what,
        });
        moves.filter(|hint| !hint.keys.is_empty()).collect()
    }

    /// The key of an action, and what it does; `None` where it has none here.
    pub fn key_of(&self, action: &str, is_writing: IsWriting) -> Option<(String, Command)> {
        let row = self
            .all_rows()
            .find(|(binding, _)| binding.name == action)?;
        let key = self.shown(row, is_writing)?;
        Some((key.name(), row.0.command?()))
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
        let mut rows = self.all_rows();
        let Some(row) = rows.find(|(binding, _)| binding.name == action) else {
            return action.to_owned();
        };
        match self.shown(row, is_writing) {
            Some(key) => key.name(),
            None => row.0.typed().to_owned(),
        }
    }

    /// All actions with their keys, as the user's configuration takes them.
    pub fn as_toml(&self) -> String {
        let rows = self.all_rows();
        let rows = rows.filter(|(binding, _)| !binding.name.is_empty());
        let lines: Vec<(String, &Binding)> = rows
            .map(|(binding, keys)| (line(binding.name, keys), binding))
            .collect();
        let width = lines.iter().map(|(line, _)| line.len()).max().unwrap_or(0);
        let line = |(line, binding): &(String, &Binding)| {
            let place = binding.context.lead();
            format!("{line:width$}  # {place}{}\n", binding.help)
        };
        lines.iter().map(line).collect()
    }
}

fn line(name: &str, keys: &[Key]) -> String {
    let quoted: Vec<String> = keys
        .iter()
        .map(|key| match key.spelling().as_str() {
            literal @ ("\\" | "\"") => format!("'{literal}'"),
            other => format!("\"{other}\""),
        })
        .collect();
    match quoted.as_slice() {
        [] => format!("{name} = \"none\""),
        [one] => format!("{name} = {one}"),
        several => format!("{name} = [{}]", several.join(", ")),
    }
}
