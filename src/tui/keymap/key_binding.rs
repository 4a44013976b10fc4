//! The type of a key binding: an action, its keys, where they work, and its texts.

use std::borrow::Cow;

use super::KeyChord;
use super::slash_command::{SlashArgument, SlashCommand};
use super::view_bindings::works_in_view;
use crate::tui::command::ScreenCommand;

/// Where a key works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyContext {
    /// Everywhere, also while the composer is focused.
    Anywhere,
    /// Only while the composer is not focused.
    OutsideComposer,
    /// Only while the composer is focused.
    Composer,
    Diff,
    Board,
    /// In the search bar.
    Find,
    /// In a long text, and anywhere else where the key is still free.
    Text,
}

impl KeyContext {
    /// The views that have keys of their own.
    pub const VIEWS: [Self; 4] = [Self::Diff, Self::Board, Self::Find, Self::Text];

    /// Returns the prefix for a key's description; empty for the usual context.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::OutsideComposer => "",
            Self::Anywhere => "anywhere: ",
            Self::Composer => "while you write: ",
            Self::Diff => "in a diff: ",
            Self::Board => "on the board of a discussion: ",
            Self::Find => "while you search: ",
            Self::Text => "in a long text: ",
        }
    }

    /// Returns whether typed characters are text there.
    pub fn takes_text(self) -> bool {
        matches!(self, Self::Composer | Self::Find)
    }
}

/// A binding of keys to a command, with its slash commands and texts.
#[derive(Debug)]
pub struct KeyBinding {
    /// The action's name in the user's configuration; empty if it cannot have keys.
    pub name: &'static str,
    /// The default keys; the first one is shown.
    pub keys: &'static [KeyChord],
    pub context: KeyContext,
    /// The command; `None` for actions that are slash commands only.
    pub command: Option<fn() -> ScreenCommand>,
    /// The equivalent slash command.
    pub slash: SlashCommand,
    /// The names of further ones; they have no argument.
    pub aliases: &'static [&'static str],
    pub help: &'static str,
    /// A short label for the footer; empty if it is not shown there.
    pub hint: &'static str,
}

impl KeyBinding {
    /// Returns the description of one of its slash commands. The name of a mode has its own: that mode's label and
    /// what it allows.
    pub fn help_for(&self, slash: SlashCommand) -> Cow<'static, str> {
        match slash.mode() {
            Some(mode) => Cow::Owned(format!("{}: {}", mode.label(), mode.describe())),
            None => Cow::Borrowed(self.help),
        }
    }

    /// Returns its slash commands, the main one first.
    pub fn slash_commands(&self) -> impl Iterator<Item = SlashCommand> + use<> {
        let aliases = self.aliases.iter().map(|name| SlashCommand::new(name));
        std::iter::once(self.slash).chain(aliases)
    }

    /// Sets the argument of its slash command.
    pub(super) const fn with_argument(mut self, argument: SlashArgument) -> Self {
        self.slash.argument = argument;
        self
    }

    pub(super) const fn with_aliases(mut self, names: &'static [&'static str]) -> Self {
        self.aliases = names;
        self
    }
}

/// Creates a binding with keys; `texts` are the slash command, help and hint.
pub const fn bind_keys(
    name: &'static str,
    keys: &'static [KeyChord],
    context: KeyContext,
    command: fn() -> ScreenCommand,
    texts: [&'static str; 3],
) -> KeyBinding {
    KeyBinding {
        name,
        keys,
        context,
        command: Some(command),
        slash: SlashCommand::new(texts[0]),
        aliases: &[],
        help: texts[1],
        hint: texts[2],
    }
}

/// Creates an action that is a slash command only.
pub const fn slash_only(slash: &'static str, help: &'static str) -> KeyBinding {
    KeyBinding {
        name: "",
        keys: &[],
        context: KeyContext::Anywhere,
        command: None,
        slash: SlashCommand::new(slash),
        aliases: &[],
        help,
        hint: "",
    }
}

impl KeyBinding {
    /// Returns whether a key shared with another binding would be ambiguous.
    pub fn conflicts_with(&self, other: &Self) -> bool {
        let is_view = |binding: &Self| KeyContext::VIEWS.contains(&binding.context);
        match (is_view(self), is_view(other)) {
            (true, true) => self.context == other.context,
            (true, false) => works_in_view(self.context, other.name),
            (false, true) => works_in_view(other.context, self.name),
            (false, false) => !matches!(
                (self.context, other.context),
                (KeyContext::OutsideComposer, KeyContext::Composer)
                    | (KeyContext::Composer, KeyContext::OutsideComposer)
            ),
        }
    }
}
