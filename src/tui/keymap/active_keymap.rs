//! The keys in force: the table's own, or those that the user gave its actions.
//!
//! Refuses to know how they were written.

use ratatui::crossterm::event::KeyEvent;

use super::{BINDINGS, KeyBinding, KeyChord, KeyContext, view_bindings};
use crate::tui::command::ScreenCommand;

/// The keys of each line of the table, in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveKeymap(pub(super) Vec<Vec<KeyChord>>);

impl Default for ActiveKeymap {
    /// The keys of the table.
    fn default() -> Self {
        Self(
            all_bindings()
                .map(|binding| binding.keys.to_vec())
                .collect(),
        )
    }
}

/// How many of a view's own keys are named before those that move it.
const MAX_HINTS_BEFORE_MOVES: usize = 3;

/// Every line: the whole table's, then those of the views.
pub(super) fn all_bindings() -> impl Iterator<Item = &'static KeyBinding> {
    let views = view_bindings::VIEW_BINDINGS
        .iter()
        .chain(view_bindings::BOARD_BINDINGS);
    BINDINGS.iter().chain(views)
}

/// Keys that belong together, and what they do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyHint {
    /// Each as it is written, and what it does.
    pub keys: Vec<(String, ScreenCommand)>,
    /// One or two words.
    pub label: &'static str,
}

impl KeyHint {
    /// The keys as they are written.
    pub fn key_labels(&self) -> String {
        let names: Vec<&str> = self.keys.iter().map(|(name, _)| name.as_str()).collect();
        names.join(" ")
    }
}

/// Whether the composer is focused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComposerFocus {
    /// It is.
    Focused,
    /// It is not.
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
    /// The lines of the table with their keys, but for those of the views.
    pub fn table_rows(&self) -> impl Iterator<Item = (&'static KeyBinding, &[KeyChord])> {
        self.all_rows().take(BINDINGS.len())
    }

    /// Every line with its keys.
    pub fn all_rows(&self) -> impl Iterator<Item = (&'static KeyBinding, &[KeyChord])> {
        all_bindings().zip(self.0.iter().map(Vec::as_slice))
    }

    /// Finds what a key means in a view, by itself.
    pub fn find_view_command(&self, event: &KeyEvent, view: KeyContext) -> Option<ScreenCommand> {
        let means = |(binding, keys): &(&KeyBinding, &[KeyChord])| {
            binding.context == view && keys.iter().any(|key| key.matches(event))
        };
        let (binding, _) = self.all_rows().find(means)?;
        binding.command.map(|command| command())
    }

    /// The keys of a view and what they do, in a word or two; those that belong together stand together.
    pub fn view_hints(&self, view: KeyContext) -> Vec<KeyHint> {
        let mut hints: Vec<KeyHint> = Vec::new();
        let own = self
            .all_rows()
            .filter(|(binding, _)| binding.context == view);
        for (binding, keys) in own.filter(|(binding, _)| !binding.hint.is_empty()) {
            let (Some(key), Some(command)) = (keys.first(), binding.command) else {
                continue;
            };
            match hints.last_mut().filter(|last| last.label == binding.hint) {
                Some(last) => last.keys.push((key.label(), command())),
                None => hints.push(KeyHint {
                    keys: vec![(key.label(), command())],
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

    /// The keys that move what is shown.
    fn move_hints(&self) -> Vec<KeyHint> {
        let moves = view_bindings::MOVE_HINTS
            .iter()
            .map(|(names, what)| KeyHint {
                keys: names
                    .iter()
                    .filter_map(|name| self.action_key(name, ComposerFocus::Unfocused))
                    .collect(),
                label: what,
            });
        moves.filter(|hint| !hint.keys.is_empty()).collect()
    }

    /// The key of an action, and what it does; `None` where it has none here.
    pub fn action_key(
        &self,
        action: &str,
        is_writing: ComposerFocus,
    ) -> Option<(String, ScreenCommand)> {
        let row = self
            .all_rows()
            .find(|(binding, _)| binding.name == action)?;
        let key = self.display_key(row.0, row.1, is_writing)?;
        Some((key.label(), row.0.command?()))
    }

    /// Finds what a key means. A printable key means nothing while the composer is focused.
    pub fn find_command(
        &self,
        event: &KeyEvent,
        is_writing: ComposerFocus,
    ) -> Option<ScreenCommand> {
        let means = |(binding, keys): &(&KeyBinding, &[KeyChord])| {
            binding.context.is_active(is_writing)
                && keys.iter().any(|key| {
                    key.matches(event)
                        && !(is_writing == ComposerFocus::Focused && key.is_printable())
                })
        };
        let (binding, _) = self.table_rows().find(means)?;
        binding.command.map(|command| command())
    }

    /// The key to show for a line here: one that works while the user writes, when that is so.
    pub fn display_key(
        &self,
        binding: &KeyBinding,
        keys: &[KeyChord],
        is_writing: ComposerFocus,
    ) -> Option<KeyChord> {
        let fits = |key: &&KeyChord| is_writing == ComposerFocus::Unfocused || !key.is_printable();
        keys.iter()
            .find(fits)
            .copied()
            .filter(|_| binding.context.is_active(is_writing))
    }

    /// The name of the key of an action, by the action's name; what to type where it has none.
    pub fn key_label(&self, action: &str, is_writing: ComposerFocus) -> String {
        let mut rows = self.all_rows();
        let Some(row) = rows.find(|(binding, _)| binding.name == action) else {
            return action.to_owned();
        };
        match self.display_key(row.0, row.1, is_writing) {
            Some(key) => key.label(),
            None => row.0.first_slash().to_owned(),
        }
    }

    /// All actions with their keys, as the user's configuration takes them.
    pub fn to_toml(&self) -> String {
        let rows = self.all_rows();
        let rows = rows.filter(|(binding, _)| !binding.name.is_empty());
        let lines: Vec<(String, &KeyBinding)> = rows
            .map(|(binding, keys)| (toml_line(binding.name, keys), binding))
            .collect();
        let width = lines.iter().map(|(line, _)| line.len()).max().unwrap_or(0);
        let line = |(line, binding): &(String, &KeyBinding)| {
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
