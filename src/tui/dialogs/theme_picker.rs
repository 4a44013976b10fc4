//! Dialog: the color themes, each previewed while it is selected.

use crate::tui::appearance::ScreenAppearance;
use crate::tui::clickable_keys;
use crate::tui::command::ScreenCommand;
use crate::tui::dialog::{ChoiceAction, ChoiceDialog};
use crate::tui::theme::{self, ColorTheme};

/// Id of the dialog.
pub const DIALOG_ID: &str = "themes";

/// Builds the list of themes, with the current theme first.
pub fn build_dialog(shown: &ColorTheme, look: &ScreenAppearance) -> ChoiceDialog {
    let text = "The screen shows the chosen theme. Esc goes back to the previous one.";
    let mut sheet = ChoiceDialog::list(DIALOG_ID, "Theme")
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

/// Returns whether a dialog is the theme picker.
pub fn is_theme_picker(sheet: &ChoiceDialog) -> bool {
    sheet.id == DIALOG_ID
}

/// Returns the theme name of a choice if the dialog is the theme picker.
pub fn selected_theme(sheet: &ChoiceDialog, chosen: usize) -> Option<&str> {
    match &sheet.choices.get(chosen)?.action {
        ChoiceAction::RunCommand(ScreenCommand::Theme(name)) if is_theme_picker(sheet) => {
            name.as_deref()
        }
        _ => None,
    }
}
