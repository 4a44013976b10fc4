//! One line of the table: an action, its keys, where they work, and how it is called.
//!
//! Refuses to know the lines.

use super::Key;
use super::views::works_in;
use crate::permission::permission_mode::Mode;
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
    /// In a diff.
    Diff,
    /// On the board of a discussion.
    Board,
    /// While something is looked for.
    Find,
    /// In a long text, and where nothing else takes the key.
    Text,
}

impl Context {
    /// The views that have keys of their own.
    pub const VIEWS: [Self; 4] = [Self::Diff, Self::Board, Self::Find, Self::Text];

    /// Where that is, before what a key does there; empty where it needs no word.
    pub fn lead(self) -> &'static str {
        match self {
            Self::Outside => "",
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
pub struct Binding {
    /// What the user's configuration calls it; empty where no key can be given.
    pub name: &'static str,
    /// The keys as they are without a word of the user; the first is the one that is shown.
    pub keys: &'static [Key],
    /// Where they work.
    pub context: Context,
    /// What they do; `None` for what is a slash command only.
    pub command: Option<fn() -> Command>,
    /// The slash commands that mean the same, with their arguments, separated by `, `; empty where there is none.
    pub slash: &'static str,
    /// What it does, for the help.
    pub help: &'static str,
    /// One or two words for the footer; empty where it has no place there.
    pub hint: &'static str,
}

impl Binding {
    /// What one of its slash commands does: what the line does, but for a mode's name, which says what that mode lets run.
    pub fn help_of(&self, slash: &str) -> &'static str {
        mode_of(slash).map_or(self.help, Mode::describe)
    }
}

/// The mode that a slash command alone leads to, which no key does.
pub fn mode_of(slash: &str) -> Option<Mode> {
    slash.strip_prefix('/').and_then(Mode::from_name)
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
    /// Tells whether one key can mean this and another line at a time.
    pub fn meets(&self, other: &Self) -> bool {
        let is_view = |binding: &Self| Context::VIEWS.contains(&binding.context);
        match (is_view(self), is_view(other)) {
            (true, true) => self.context == other.context,
            (true, false) => works_in(self.context, other.name),
            (false, true) => works_in(other.context, self.name),
            (false, false) => !matches!(
                (self.context, other.context),
                (Context::Outside, Context::Composer) | (Context::Composer, Context::Outside)
            ),
        }
    }

    /// The first slash command, without its argument.
    pub fn typed(&self) -> &'static str {
        let first = self.slash.split(", ").next().unwrap_or(self.slash);
        match first.split_once(" [") {
            Some((name, _)) => name,
            None => first,
        }
    }
}
