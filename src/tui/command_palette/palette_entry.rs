//! The entries of the palette: every command under one name, and why it is not available now.

use std::borrow::Cow;

use crate::domain::run::RunState;
use crate::tui::appearance::ScreenAppearance;
use crate::tui::command;
use crate::tui::command_table::{
    CommandRow, SlashArgument, SlashCommand, command_blocker, parse_slash_command,
};
use crate::tui::composer_pane::ComposerPane;
use crate::tui::dialog::ChoiceDialog;
use crate::tui::fuzzy_picker::{self, PickerRow};
use crate::tui::keymap::{ActiveKeymap, KeyChord};
use crate::tui::tabs::ScreenTabs;
use crate::tui::theme::ColorTheme;

/// The state that decides which entries are available.
pub(in crate::tui) struct PaletteContext<'a> {
    pub(super) appearance: &'a ScreenAppearance,
    /// The recent slash commands, the latest first.
    pub(super) recent_commands: &'a [String],
    /// The heading of the current tab's actions, and their names.
    pub(super) tab_actions: (String, Vec<&'static str>),
    pub(super) state: Option<&'a RunState>,
    pub(super) sheet: Option<&'a ChoiceDialog>,
    /// Whether a second pane is visible.
    pub(super) has_panes: bool,
}

impl<'a> PaletteContext<'a> {
    pub(in crate::tui) fn new(
        appearance: &'a ScreenAppearance,
        composer: &'a ComposerPane,
        tabs: &ScreenTabs,
        state: Option<&'a RunState>,
        sheet: Option<&'a ChoiceDialog>,
    ) -> Self {
        Self {
            appearance,
            recent_commands: &composer.assist.recent_commands,
            tab_actions: tabs.shown_actions(),
            state,
            sheet,
            has_panes: tabs.view.side_area.is_some(),
        }
    }
}

/// One entry: a binding under one of its slash commands.
pub(in crate::tui) struct PaletteEntry {
    /// As the help shows it.
    pub(super) slash: String,
    pub(in crate::tui) action: PaletteAction,
    pub(super) help: Cow<'static, str>,
    pub(super) key: Option<KeyChord>,
    /// Its row of the command table, if it has one.
    pub(super) binding: Option<&'static CommandRow>,
    /// Whether it is another name of a listed command.
    pub(super) is_alias: bool,
    pub(super) heading: String,
    /// The theme that it shows, if it does.
    pub(super) theme: Option<ColorTheme>,
}

/// What selecting an entry does.
#[derive(Debug)]
pub(in crate::tui) enum PaletteAction {
    Command(command::ScreenCommand),
    /// The text for the composer; the user completes it.
    FillComposer(String),
}

pub(super) fn command_entries(keymap: &ActiveKeymap) -> Vec<PaletteEntry> {
    let of = |(binding, keys): (&'static CommandRow, &[KeyChord])| {
        let key = keys.first().copied();
        let slashes = binding.slash_commands();
        slashes.map(move |slash| PaletteEntry {
            slash: slash.to_string(),
            action: PaletteAction::from_slash_command(slash),
            help: binding.help_for(slash),
            key: key.filter(|_| slash.mode().is_none()),
            binding: Some(binding),
            // The name of a mode is a command of its own.
            is_alias: slash.name != binding.slash.name && slash.mode().is_none(),
            heading: String::new(),
            theme: None,
        })
    };
    let mut all: Vec<PaletteEntry> = keymap.table_rows().flat_map(of).collect();
    // A command with several bindings is one entry.
    let mut seen = std::collections::BTreeSet::new();
    all.retain(|entry| seen.insert(entry.slash.clone()));
    all
}

/// Creates the entry that switches to a theme.
pub(super) fn theme_entry(theme: &ColorTheme) -> PaletteEntry {
    let name = theme.name();
    PaletteEntry {
        slash: format!("/theme {name}"),
        action: PaletteAction::Command(command::ScreenCommand::Theme(Some(name.to_owned()))),
        theme: Some(theme.clone()),
        help: Cow::Borrowed("Show it (screen.theme in the configuration keeps it)"),
        key: None,
        binding: None,
        is_alias: false,
        heading: String::new(),
    }
}

impl PaletteEntry {
    pub(super) fn to_row(&self, letters: &str, now: &PaletteContext<'_>) -> PickerRow {
        let against = self.action.blocker(now.state, now.sheet);
        PickerRow {
            name: self.slash.clone(),
            about: match &against {
                Some(why) => format!("({why}) {}", self.help),
                None => self.help.to_string(),
            },
            key: self.key.map_or_else(String::new, KeyChord::label),
            matched_chars: fuzzy_picker::match_positions(letters, &self.slash),
            is_idle: against.is_some(),
            heading: self.heading.clone(),
        }
    }

    /// Returns whether the command has an effect now.
    pub(super) fn is_available(&self, now: &PaletteContext<'_>) -> bool {
        self.action.blocker(now.state, now.sheet).is_none()
    }

    pub(super) fn with_heading(self, heading: &str) -> Self {
        Self {
            heading: heading.to_owned(),
            ..self
        }
    }
}

impl PaletteAction {
    pub(in crate::tui) fn from_slash_command(slash: SlashCommand) -> Self {
        let parsed = parse_slash_command(&slash.fixed_part());
        match (slash.argument, parsed) {
            (SlashArgument::Text(_), _) | (_, Err(_)) => Self::FillComposer(slash.typed_prefix()),
            (_, Ok(command)) => Self::Command(command),
        }
    }

    /// Returns why it has no effect now; `None` if it has one.
    pub(in crate::tui) fn blocker(
        &self,
        state: Option<&RunState>,
        sheet: Option<&ChoiceDialog>,
    ) -> Option<String> {
        match self {
            Self::Command(command) => command_blocker(command, state, sheet),
            Self::FillComposer(text) => {
                let command = parse_slash_command(&format!("{text} 1")).ok()?;
                command_blocker(&command, state, sheet)
            }
        }
    }
}
