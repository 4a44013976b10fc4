//! Dialog: the themes, each shown while it is pointed at.

use crate::tui::command::Command;
use crate::tui::hints;
use crate::tui::look::Look;
use crate::tui::sheet::{Sheet, Then};
use crate::tui::theme::{self, Theme};

/// The identity of the dialog.
pub const ID: &str = "themes";

/// Lists the themes; the one that is shown stands first in line.
pub fn sheet(shown: &Theme, look: &Look) -> Sheet {
    let text = "The screen shows the one that you point at; Esc goes back to the one before.";
    let mut sheet = Sheet::list(ID, "theme").says(text, hints::marked(theme::QUIET));
    let letters = ('a'..='z').chain('0'..='9');
    for (theme, letter) in look.themes().iter().zip(letters) {
        let name = theme.name().to_owned();
        sheet = sheet.offers(letter, theme.name(), Then::Do(Command::Theme(Some(name))));
    }
    let first = look
        .themes()
        .iter()
        .position(|theme| theme.name() == shown.name());
    sheet.first(first.unwrap_or(0))
}

/// Tells whether a dialog is this one.
pub fn is_list(sheet: &Sheet) -> bool {
    sheet.id == ID
}

/// The theme of a choice by its name, where the dialog is this one.
pub fn pointed_at(sheet: &Sheet, chosen: usize) -> Option<&str> {
    match &sheet.choices.get(chosen)?.then {
        Then::Do(Command::Theme(name)) if is_list(sheet) => name.as_deref(),
        _ => None,
    }
}
