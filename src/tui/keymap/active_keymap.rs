//! The active key bindings: the defaults with the user's overrides applied.

use ratatui::crossterm::event::KeyEvent;

use super::{KeyChord, KeyContext};
use crate::tui::command::ScreenCommand;
use crate::tui::command_table::{CommandRow, MOVE_HINTS, all_key_rows};

/// The keys of each row of the command table, in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveKeymap(pub(super) Vec<Vec<KeyChord>>);

impl Default for ActiveKeymap {
    /// Returns the default keys.
    fn default() -> Self {
        Self(
            all_key_rows()
                .map(|binding| binding.keys.to_vec())
                .collect(),
        )
    }
}

/// How many of a view's own hints come before the scrolling keys.
const MAX_HINTS_BEFORE_MOVES: usize = 3;

/// Related keys and their label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyHint {
    /// Each key as shown, and its command.
    pub keys: Vec<(String, ScreenCommand)>,
    pub label: &'static str,
}

impl KeyHint {
    /// Returns the keys as shown in hints.
    pub fn key_labels(&self) -> String {
        let names: Vec<&str> = self.keys.iter().map(|(name, _)| name.as_str()).collect();
        names.join(" ")
    }
}

/// Whether the composer is focused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComposerFocus {
    Focused,
    Unfocused,
}

impl KeyContext {
    pub(super) fn is_active(self, is_writing: ComposerFocus) -> bool {
        match self {
            Self::Anywhere | Self::Diff | Self::Board | Self::Find | Self::Text => true,
            Self::OutsideComposer => is_writing == ComposerFocus::Unfocused,
            Self::Composer => is_writing == ComposerFocus::Focused,
        }
    }
}

impl ActiveKeymap {
    /// Returns a keymap without any key: hints then name slash commands.
    pub fn without_keys() -> Self {
        Self(all_key_rows().map(|_| Vec::new()).collect())
    }

    /// Returns whether any key is bound: in linear mode none is.
    pub fn has_keys(&self) -> bool {
        self.0.iter().any(|keys| !keys.is_empty())
    }

    /// Returns the global bindings with their keys.
    pub fn table_rows(&self) -> impl Iterator<Item = (&'static CommandRow, &[KeyChord])> {
        self.all_rows()
            .filter(|(binding, _)| binding.is_slash_command())
    }

    /// Returns all bindings with their keys.
    pub fn all_rows(&self) -> impl Iterator<Item = (&'static CommandRow, &[KeyChord])> {
        all_key_rows().zip(self.0.iter().map(Vec::as_slice))
    }

    /// Returns the rows that the footer shows, in its order.
    pub fn footer_rows(&self) -> Vec<&'static CommandRow> {
        let rows = self.table_rows().map(|(row, _)| row);
        let mut shown: Vec<&CommandRow> = rows.filter(|row| !row.hint.is_empty()).collect();
        shown.sort_by_key(|row| row.hint_order);
        shown
    }

    /// Finds the command of a key in a view's own bindings.
    pub fn find_view_command(&self, event: &KeyEvent, view: KeyContext) -> Option<ScreenCommand> {
        let means = |(binding, keys): &(&CommandRow, &[KeyChord])| {
            binding.context == view && keys.iter().any(|key| key.matches(event))
        };
        let (binding, _) = self.all_rows().find(means)?;
        binding.key_command()
    }

    /// Returns the hints of a view; related keys share one hint.
    pub fn view_hints(&self, view: KeyContext) -> Vec<KeyHint> {
        let mut hints: Vec<KeyHint> = Vec::new();
        let own = self
            .all_rows()
            .filter(|(binding, _)| binding.context == view);
        for (binding, keys) in own.filter(|(binding, _)| !binding.hint.is_empty()) {
            let (Some(key), Some(command)) = (keys.first(), binding.key_command()) else {
                continue;
            };
            match hints.last_mut().filter(|last| last.label == binding.hint) {
                Some(last) => last.keys.push((key.label(), command)),
                None => hints.push(KeyHint {
                    keys: vec![(key.label(), command)],
                    label: binding.hint,
                }),
            }
        }
        if view != KeyContext::Find {
            let at = hints.len().min(MAX_HINTS_BEFORE_MOVES);
            hints.splice(at..at, self.move_hints());
        }
        hints
    }

    /// Returns the hints for the scrolling keys.
    fn move_hints(&self) -> Vec<KeyHint> {
        let moves = MOVE_HINTS.iter().map(|(names, what)| KeyHint {
            keys: names
                .iter()
                .filter_map(|name| self.action_key(name, ComposerFocus::Unfocused))
                .collect(),
            label: what,
        });
        moves.filter(|hint| !hint.keys.is_empty()).collect()
    }

    /// Returns the key of an action and its command; `None` if it has no key here.
    pub fn action_key(
        &self,
        action: &str,
        is_writing: ComposerFocus,
    ) -> Option<(String, ScreenCommand)> {
        let row = self
            .all_rows()
            .find(|(binding, _)| binding.name == action)?;
        let key = self.display_key(row.0, row.1, is_writing)?;
        Some((key.label(), row.0.key_command()?))
    }

    /// Finds the command of a key. Printable keys have none while the composer is focused.
    pub fn find_command(
        &self,
        event: &KeyEvent,
        is_writing: ComposerFocus,
    ) -> Option<ScreenCommand> {
        let means = |(binding, keys): &(&CommandRow, &[KeyChord])| {
            binding.context.is_active(is_writing)
                && keys.iter().any(|key| {
                    key.matches(event)
                        && !(is_writing == ComposerFocus::Focused && key.is_printable())
                })
        };
        let (binding, _) = self.table_rows().find(means)?;
        binding.key_command()
    }

    /// Returns the key to show for a binding; while the composer is focused, only one that works there.
    pub fn display_key(
        &self,
        binding: &CommandRow,
        keys: &[KeyChord],
        is_writing: ComposerFocus,
    ) -> Option<KeyChord> {
        let fits = |key: &&KeyChord| is_writing == ComposerFocus::Unfocused || !key.is_printable();
        keys.iter()
            .find(fits)
            .copied()
            .filter(|_| binding.context.is_active(is_writing))
    }

    /// Returns the label of an action's key; without a key, its slash command.
    pub fn key_label(&self, action: &str, is_writing: ComposerFocus) -> String {
        let mut rows = self.all_rows();
        let Some(row) = rows.find(|(binding, _)| binding.name == action) else {
            return action.to_owned();
        };
        match self.display_key(row.0, row.1, is_writing) {
            Some(key) => key.label(),
            None => row.0.slash.fixed_part(),
        }
    }

    /// Returns all actions with their keys, in the format of the user's configuration.
    pub fn to_toml(&self) -> String {
        let rows = self.all_rows();
        let rows = rows.filter(|(binding, _)| !binding.name.is_empty());
        let lines: Vec<(String, &CommandRow)> = rows
            .map(|(binding, keys)| (toml_line(binding.name, keys), binding))
            .collect();
        let width = lines.iter().map(|(line, _)| line.len()).max().unwrap_or(0);
        let line = |(line, binding): &(String, &CommandRow)| {
            let place = binding.context.prefix();
            format!("{line:width$}  # {place}{}\n", binding.help)
        };
        lines.iter().map(line).collect()
    }
}

fn toml_line(name: &str, keys: &[KeyChord]) -> String {
    let quoted: Vec<String> = keys
        .iter()
        .map(|key| match key.config_name().as_str() {
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
