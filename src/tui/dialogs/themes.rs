//! Dialog: the themes, each shown while it is pointed at.

use crate::tui::command::Command;
use crate::tui::sheet::{Sheet, Then};
use crate::tui::theme::{self, Theme};

const ID: &str = "themes";

/// Lists the themes; the one that is shown stands first in line.
pub fn sheet(shown: Theme) -> Sheet {
    let text = "The screen shows the one that you point at; Esc goes back to the one before.";
    let mut sheet = Sheet::new(ID, "theme").says(text, theme::QUIET);
    let letters = 'a'..='z';
    for (name, letter) in Theme::names().zip(letters) {
        let theme = Theme::named(name);
        sheet = sheet.offers(letter, name, Then::Do(Command::Theme(theme)));
    }
    let first = Theme::names().position(|name| name == shown.name());
    sheet.first(first.unwrap_or(0))
}

/// The theme of a choice, where the dialog is this one.
pub fn pointed_at(sheet: &Sheet, chosen: usize) -> Option<Theme> {
    match &sheet.choices.get(chosen)?.then {
        Then::Do(Command::Theme(theme)) if sheet.id == ID => *theme,
        _ => None,
    }
}
