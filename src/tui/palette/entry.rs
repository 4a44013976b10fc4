//! What the palette lists: each command under one name, and what stands against it now.
//!
//! Refuses to know how it is drawn.

use std::borrow::Cow;

use super::THEME;
use crate::domain::run::RunState;
use crate::tui::command;
use crate::tui::fuzzy::{self, Row};
use crate::tui::keymap::{Binding, Key, Keymap, mode_of};
use crate::tui::look::Look;
use crate::tui::sheet::Sheet;
use crate::tui::theme::Theme;
use crate::tui::useful::stands_against;

/// What decides which entries have something to do.
pub(super) struct Now<'a> {
    pub(super) look: &'a Look,
    /// What was taken last, the latest first, by its slash command.
    pub(super) used: &'a [String],
    /// What is about the tab, by the names of its actions, and how that is headed.
    pub(super) here: (String, Vec<&'static str>),
    pub(super) state: Option<&'a RunState>,
    pub(super) sheet: Option<&'a Sheet>,
    /// Whether a second pane stands beside the first.
    pub(super) has_panes: bool,
}

/// One entry: a binding, by one of its slash commands.
pub(super) struct Entry {
    pub(super) slash: Cow<'static, str>,
    /// What it does.
    pub(super) help: &'static str,
    /// The key that is shown.
    pub(super) key: Option<Key>,
    /// Its line of the table, where it is of one.
    pub(super) binding: Option<&'static Binding>,
    /// What it is listed under.
    pub(super) heading: String,
}

/// What is done with an entry.
pub(super) enum Does {
    Command(command::Command),
    /// The composer takes the rest of it.
    Write(String),
}

pub(super) fn entries(keymap: &Keymap) -> Vec<Entry> {
    let of = |(binding, keys): (&'static Binding, &[Key])| {
        let key = keys.first().copied();
        let slashes = binding.slash.split(", ");
        slashes.map(move |slash| Entry {
            slash: Cow::Borrowed(slash),
            help: binding.help_of(slash),
            key: key.filter(|_| mode_of(slash).is_none()),
            binding: Some(binding),
            heading: String::new(),
        })
    };
    let mut all: Vec<Entry> = keymap.rows().flat_map(of).collect();
    // The same command on another key is one entry.
    let mut seen = std::collections::BTreeSet::new();
    all.retain(|entry| seen.insert(entry.slash.clone()));
    all
}

/// A theme, by the command that shows it.
pub(super) fn of_theme(theme: &Theme) -> Entry {
    Entry {
        slash: Cow::Owned(format!("{THEME}{}", theme.name())),
        help: "show it; screen.theme of the configuration keeps it",
        key: None,
        binding: None,
        heading: String::new(),
    }
}

impl Entry {
    pub(super) fn row(&self, letters: &str, now: &Now<'_>) -> Row {
        let against = self.stands_against(now.state, now.sheet);
        Row {
            name: self.slash.to_string(),
            about: match &against {
                Some(why) => format!("not now, {why} · {}", self.help),
                None => self.help.to_owned(),
            },
            key: self.key.map_or_else(String::new, Key::name),
            lit: fuzzy::places(letters, &self.slash),
            is_idle: against.is_some(),
            heading: self.heading.clone(),
        }
    }

    /// Tells whether it has something to do now.
    pub(super) fn is_useful(&self, now: &Now<'_>) -> bool {
        self.stands_against(now.state, now.sheet).is_none()
    }

    /// Why it has nothing to do now; `None` where it has.
    pub(super) fn stands_against(
        &self,
        state: Option<&RunState>,
        sheet: Option<&Sheet>,
    ) -> Option<String> {
        let command = match self.does() {
            Does::Command(command) => command,
            Does::Write(text) => command::read(&format!("{text} 1")).ok()?,
        };
        stands_against(&command, state, sheet)
    }

    pub(super) fn under(self, heading: &str) -> Self {
        Self {
            heading: heading.to_owned(),
            ..self
        }
    }

    /// Tells whether another name of the same is listed.
    pub(super) fn is_second_name(&self) -> bool {
        self.slash == "/manual"
    }

    pub(super) fn does(&self) -> Does {
        let (name, argument) = self.slash.split_once(' ').unwrap_or((&self.slash, ""));
        let wants_text = argument
            .split(' ')
            .any(|word| word.starts_with(char::is_uppercase));
        // What may be left out is left out.
        let typed = if argument.starts_with('[') {
            name
        } else {
            &self.slash
        };
        match command::read(typed).or_else(|_| command::read(name)) {
            Ok(command) if !wants_text => Does::Command(command),
            Ok(_) | Err(_) => Does::Write(format!("{name} ")),
        }
    }
}
