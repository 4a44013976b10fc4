//! Dialog: the views, where the window has room for the name of one.

use crate::tui::command::ScreenCommand;
use crate::tui::dialog::{ChoiceAction, ChoiceDialog};
use crate::tui::tab_kind::TabKind;

/// Id of the dialog.
pub const DIALOG_ID: &str = "views";

/// Builds the list of the views, with the one that is shown selected.
pub fn build_dialog(shown: TabKind) -> ChoiceDialog {
    let mut sheet = ChoiceDialog::list(DIALOG_ID, "Show");
    for (tab, key) in TabKind::ALL.iter().zip('1'..) {
        let show = ChoiceAction::RunCommand(ScreenCommand::Show(*tab));
        sheet = sheet.with_choice(key, tab.title(), show);
    }
    let at = TabKind::ALL.iter().position(|tab| *tab == shown);
    sheet.with_first_choice(at.unwrap_or(0))
}
