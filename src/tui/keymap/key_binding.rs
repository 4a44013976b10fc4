//! One line of the table: an action, its keys, where they work, and how it is called.
//!
//! Refuses to know the lines.

use super::KeyChord;
use super::view_bindings::works_in_view;
use crate::permission::permission_mode::Mode;
use crate::tui::command::ScreenCommand;

/// Where a key works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyContext {
    /// Also while the composer is focused.
    Anywhere,
    /// Only while the composer is not focused.
    OutsideComposer,
    /// Only while it is.
    Composer,
    /// In a diff.
    Diff,
    /// On the board of a discussion.
    Board,
    /// While something is looked for.
    Find,
    /// In a long text, and where nothing else takes the key.
    Text,
}

impl KeyContext {
    /// The views that have keys of their own.
    pub const VIEWS: [Self; 4] = [Self::Diff, Self::Board, Self::Find, Self::Text];

    /// Where that is, before what a key does there; empty where it needs no word.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::OutsideComposer => "",
            Self::Anywhere => "anywhere: ",
            Self::Composer => "while you write: ",
            Self::Diff => "in a diff: ",
            Self::Board => "on the board of a discussion: ",
            Self::Find => "while you look for something: ",
            Self::Text => "in a long text: ",
        }
    }

    /// Tells whether what is typed there is a text.
    pub fn takes_text(self) -> bool {
        matches!(self, Self::Composer | Self::Find)
    }
}

/// One line of the table.
#[derive(Debug)]
pub struct KeyBinding {
    /// What the user's configuration calls it; empty where no key can be given.
    pub name: &'static str,
    /// The keys as they are without a word of the user; the first is the one that is shown.
    pub keys: &'static [KeyChord],
    /// Where they work.
    pub context: KeyContext,
    /// What they do; `None` for what is a slash command only.
    pub command: Option<fn() -> ScreenCommand>,
    /// The slash commands that mean the same, with their arguments, separated by `, `; empty where there is none.
    pub slash: &'static str,
    /// What it does, for the help.
    pub help: &'static str,
    /// One or two words for the footer; empty where it has no place there.
    pub hint: &'static str,
}

impl KeyBinding {
    /// What one of its slash commands does: what the line does, but for a mode's name, which says what that mode lets run.
    pub fn help_for(&self, slash: &str) -> &'static str {
        slash_mode(slash).map_or(self.help, Mode::describe)
    }
}

/// The mode that a slash command alone leads to, which no key does.
pub fn slash_mode(slash: &str) -> Option<Mode> {
    slash.strip_prefix('/').and_then(Mode::from_name)
}

/// A line with keys.
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
        slash: texts[0],
        help: texts[1],
        hint: texts[2],
    }
}

/// A line that is a slash command only.
pub const fn slash_only(slash: &'static str, help: &'static str) -> KeyBinding {
    KeyBinding {
        name: "",
        keys: &[],
        context: KeyContext::Anywhere,
        command: None,
        slash,
        help,
        hint: "",
    }
}

impl KeyBinding {
    /// Tells whether one key can mean this and another line at a time.
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

    /// The first slash command, without its argument.
    pub fn first_slash(&self) -> &'static str {
        let first = self.slash.split(", ").next().unwrap_or(self.slash);
        match first.split_once(" [") {
            Some((name, _)) => name,
            None => first,
        }
    }
}
