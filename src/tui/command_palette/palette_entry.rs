//! The entries of the palette: every command under one name, and why it is not available now.

use std::borrow::Cow;

use crate::domain::run::RunState;
use crate::tui::appearance::ScreenAppearance;
use crate::tui::command;
use crate::tui::command_table::{
    CommandRow, EndOffer, OpenDialog, PaletteListing, PalettePlace, SlashArgument, SlashCommand,
    command_blocker, parse_slash_command, slash_blocker,
};
use crate::tui::dialog::{ChoiceDialog, DialogWeight};
use crate::tui::keymap::{ActiveKeymap, KeyChord};
use crate::tui::theme::ColorTheme;

/// The command that sends the turn or confirms the goal.
const GO_COMMAND: &str = "/go";
/// The command that moves the keys to the other pane, if there is one.
const OTHER_PANE_COMMAND: &str = "/other-pane";

/// The state that decides which entries are available.
pub(in crate::tui) struct PaletteContext<'a> {
    pub(super) appearance: &'a ScreenAppearance,
    /// The recent slash commands, the latest first.
    pub(super) recent_commands: &'a [String],
    /// The names of the current tab's actions.
    pub(super) tab_actions: Vec<&'static str>,
    pub(super) state: Option<&'a RunState>,
    /// What sending the turn or confirming the goal does, in the words of the open dialog.
    pub(super) go_title: Option<String>,
    pub(super) dialog: Option<OpenDialog>,
    /// Whether a second pane is visible.
    pub(super) has_panes: bool,
}

impl PaletteContext<'_> {
    /// Returns all entries, with or without an effect now; at the end of a run, its offers have their own titles.
    pub(super) fn all_entries(&self) -> Vec<PaletteEntry> {
        let mut all = command_entries(&self.appearance.keymap);
        all.retain(|entry| self.has_panes || entry.slash != OTHER_PANE_COMMAND);
        for entry in &mut all {
            if let Some(offer) = entry.end_offer(self) {
                entry.title = Cow::Borrowed(offer.title);
            }
            if let Some(title) = self.go_title.as_ref().filter(|_| entry.slash == GO_COMMAND) {
                entry.title = Cow::Owned(title.clone());
            }
        }
        all
    }
}

/// Returns the words of the choice that the command carries out: those of the question where the choice only says to send
/// it.
pub(super) fn go_title(sheet: &ChoiceDialog) -> Option<String> {
    let go = sheet.choices.iter().find(|choice| choice.key == 'g')?;
    let asked = sheet.title.strip_suffix('?');
    let title = asked.filter(|_| sheet.weight == DialogWeight::Routine);
    Some(title.unwrap_or(&go.label).to_owned())
}

/// One entry: a binding under one of its slash commands.
pub(in crate::tui) struct PaletteEntry {
    /// As the help shows it.
    pub(super) slash: String,
    /// The slash command without what the user writes.
    pub(super) fixed_slash: String,
    pub(in crate::tui) action: PaletteAction,
    /// What it does, in a few plain words.
    pub(super) title: Cow<'static, str>,
    pub(super) help: Cow<'static, str>,
    pub(super) key: Option<KeyChord>,
    /// Its row of the command table, if it has one.
    pub(super) binding: Option<&'static CommandRow>,
    /// Whether it is another name of a listed command.
    pub(super) is_alias: bool,
    pub(super) heading: &'static str,
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

fn command_entries(keymap: &ActiveKeymap) -> Vec<PaletteEntry> {
    let of = |(binding, keys): (&'static CommandRow, &[KeyChord])| {
        let key = keys.first().copied();
        let slashes = binding.slash_commands();
        slashes.map(move |slash| PaletteEntry {
            slash: slash.to_string(),
            fixed_slash: slash.fixed_part(),
            action: PaletteAction::from_slash_command(slash),
            title: binding.title_for(slash),
            help: binding.help_for(slash),
            key: key.filter(|_| slash.mode().is_none()),
            binding: Some(binding),
            is_alias: slash.name != binding.slash.name,
            heading: "",
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
        fixed_slash: format!("/theme {name}"),
        title: Cow::Owned(format!("Theme {name}")),
        action: PaletteAction::Command(command::ScreenCommand::Theme(Some(name.to_owned()))),
        theme: Some(theme.clone()),
        help: Cow::Borrowed("Show it (screen.theme in the configuration keeps it)"),
        key: None,
        binding: None,
        is_alias: false,
        heading: "",
    }
}

impl PaletteEntry {
    /// Returns why the command has no effect now; `None` if it has one.
    pub(super) fn blocker(&self, now: &PaletteContext<'_>) -> Option<String> {
        self.action.blocker(now.state, now.dialog)
    }

    /// Returns whether the command has an effect now.
    pub(super) fn is_available(&self, now: &PaletteContext<'_>) -> bool {
        self.blocker(now).is_none()
    }

    /// Returns whether it is one of the current tab's actions and has no place of its own.
    pub(super) fn is_of_tab(&self, now: &PaletteContext<'_>) -> bool {
        let row = self.binding.filter(|row| row.own_place.is_none());
        row.is_some_and(|row| now.tab_actions.contains(&row.name))
    }

    /// Returns whether it is listed while nothing is typed.
    pub(super) fn is_listed(&self, now: &PaletteContext<'_>) -> bool {
        self.binding.is_some_and(|row| match row.palette_listing {
            PaletteListing::Always => true,
            PaletteListing::DuringRun => now.state.is_some(),
            PaletteListing::BeforeRun => now.state.is_none(),
            PaletteListing::WhenSearched => false,
        })
    }

    /// Returns how it is offered now that the run is over.
    pub(super) fn end_offer(&self, now: &PaletteContext<'_>) -> Option<EndOffer> {
        now.state.filter(|state| state.is_over())?;
        self.binding?.end_offer.filter(|_| !self.is_alias)
    }

    /// Returns where it is listed.
    pub(super) fn place(&self) -> Option<PalettePlace> {
        self.binding.map(CommandRow::palette_place)
    }

    pub(super) fn with_heading(self, heading: &'static str) -> Self {
        Self { heading, ..self }
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
        dialog: Option<OpenDialog>,
    ) -> Option<String> {
        match self {
            Self::Command(command) => command_blocker(command, state, dialog),
            Self::FillComposer(text) => slash_blocker(text, state, dialog),
        }
    }
}
