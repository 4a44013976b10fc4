//! What the palette lists: each command under one name, and what stands against it now.
//!
//! Refuses to know how it is drawn.

use std::borrow::Cow;

use super::THEME;
use crate::domain::run::RunState;
use crate::tui::appearance::ScreenAppearance;
use crate::tui::command;
use crate::tui::command_availability::command_blocker;
use crate::tui::dialog::ChoiceDialog;
use crate::tui::fuzzy_picker::{self, PickerRow};
use crate::tui::keymap::{ActiveKeymap, KeyBinding, KeyChord, slash_mode};
use crate::tui::theme::ColorTheme;

/// What decides which entries have something to do.
pub(super) struct PaletteContext<'a> {
    pub(super) appearance: &'a ScreenAppearance,
    /// What was taken last, the latest first, by its slash command.
    pub(super) recent_commands: &'a [String],
    /// What is about the tab, by the names of its actions, and how that is headed.
    pub(super) tab_actions: (String, Vec<&'static str>),
    pub(super) state: Option<&'a RunState>,
    pub(super) sheet: Option<&'a ChoiceDialog>,
    /// Whether a second pane stands beside the first.
    pub(super) has_panes: bool,
}

/// One entry: a binding, by one of its slash commands.
pub(super) struct PaletteEntry {
    pub(super) slash: Cow<'static, str>,
    /// What it does.
    pub(super) help: &'static str,
    /// The key that is shown.
    pub(super) key: Option<KeyChord>,
    /// Its line of the table, where it is of one.
    pub(super) binding: Option<&'static KeyBinding>,
    /// What it is listed under.
    pub(super) heading: String,
}

/// What is done with an entry.
pub(super) enum PaletteAction {
    Command(command::ScreenCommand),
    /// The composer takes the rest of it.
    FillComposer(String),
}

pub(super) fn command_entries(keymap: &ActiveKeymap) -> Vec<PaletteEntry> {
    let of = |(binding, keys): (&'static KeyBinding, &[KeyChord])| {
        let key = keys.first().copied();
        let slashes = binding.slash.split(", ");
        slashes.map(move |slash| PaletteEntry {
            slash: Cow::Borrowed(slash),
            help: binding.help_for(slash),
            key: key.filter(|_| slash_mode(slash).is_none()),
            binding: Some(binding),
            heading: String::new(),
        })
    };
    let mut all: Vec<PaletteEntry> = keymap.table_rows().flat_map(of).collect();
    // The same command on another key is one entry.
    let mut seen = std::collections::BTreeSet::new();
    all.retain(|entry| seen.insert(entry.slash.clone()));
    all
}

/// A theme, by the command that shows it.
pub(super) fn theme_entry(theme: &ColorTheme) -> PaletteEntry {
    PaletteEntry {
        slash: Cow::Owned(format!("{THEME}{}", theme.name())),
        help: "show it; screen.theme of the configuration keeps it",
        key: None,
        binding: None,
        heading: String::new(),
    }
}

impl PaletteEntry {
    pub(super) fn to_row(&self, letters: &str, now: &PaletteContext<'_>) -> PickerRow {
        let against = self.blocker(now.state, now.sheet);
        PickerRow {
            name: self.slash.to_string(),
            about: match &against {
                Some(why) => format!("not now, {why} · {}", self.help),
                None => self.help.to_owned(),
            },
            key: self.key.map_or_else(String::new, KeyChord::label),
            matched_chars: fuzzy_picker::match_positions(letters, &self.slash),
            is_idle: against.is_some(),
            heading: self.heading.clone(),
        }
    }

    /// Tells whether it has something to do now.
    pub(super) fn is_available(&self, now: &PaletteContext<'_>) -> bool {
        self.blocker(now.state, now.sheet).is_none()
    }

    /// Why it has nothing to do now; `None` where it has.
    pub(super) fn blocker(
        &self,
        state: Option<&RunState>,
        sheet: Option<&ChoiceDialog>,
    ) -> Option<String> {
        let command = match self.action() {
            PaletteAction::Command(command) => command,
            PaletteAction::FillComposer(text) => {
                command::parse_slash_command(&format!("{text} 1")).ok()?
            }
        };
        command_blocker(&command, state, sheet)
    }

    pub(super) fn with_heading(self, heading: &str) -> Self {
        Self {
            heading: heading.to_owned(),
            ..self
        }
    }

    /// Tells whether another name of the same is listed.
    pub(super) fn is_alias(&self) -> bool {
        self.slash == "/manual"
    }

    pub(super) fn action(&self) -> PaletteAction {
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
        match command::parse_slash_command(typed).or_else(|_| command::parse_slash_command(name)) {
            Ok(command) if !wants_text => PaletteAction::Command(command),
            Ok(_) | Err(_) => PaletteAction::FillComposer(format!("{name} ")),
        }
    }
}
