//! Dialog: the themes, each shown while it is pointed at.

use crate::tui::appearance::ScreenAppearance;
use crate::tui::clickable_keys;
use crate::tui::command::ScreenCommand;
use crate::tui::dialog::{ChoiceAction, ChoiceDialog};
use crate::tui::theme::{self, ColorTheme};

/// The identity of the dialog.
pub const DIALOG_ID: &str = "themes";

/// Lists the themes; the one that is shown stands first in line.
pub fn build_dialog(shown: &ColorTheme, look: &ScreenAppearance) -> ChoiceDialog {
    let text = "The screen shows the one that you point at; Esc goes back to the one before.";
    let mut sheet = ChoiceDialog::list(DIALOG_ID, "theme")
        .with_text(text, clickable_keys::mark_hint(theme::QUIET));
    let letters = ('a'..='z').chain('0'..='9');
    for (theme, letter) in look.themes().iter().zip(letters) {
        let name = theme.name().to_owned();
        sheet = sheet.with_choice(
            letter,
            theme.name(),
            ChoiceAction::RunCommand(ScreenCommand::Theme(Some(name))),
        );
    }
    let first = look
        .themes()
        .iter()
        .position(|theme| theme.name() == shown.name());
    sheet.with_first_choice(first.unwrap_or(0))
}

/// Tells whether a dialog is this one.
pub fn is_theme_picker(sheet: &ChoiceDialog) -> bool {
    sheet.id == DIALOG_ID
}

/// The theme of a choice by its name, where the dialog is this one.
pub fn selected_theme(sheet: &ChoiceDialog, chosen: usize) -> Option<&str> {
    match &sheet.choices.get(chosen)?.action {
        ChoiceAction::RunCommand(ScreenCommand::Theme(name)) if is_theme_picker(sheet) => {
            name.as_deref()
        }
        _ => None,
    }
}
