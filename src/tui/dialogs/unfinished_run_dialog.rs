//! Dialog at startup: continue the unfinished run of this directory?

use crate::tui::action::Action;
use crate::tui::dialog::{ChoiceAction, ChoiceDialog, EmptyComposerEnter};
use crate::tui::theme;

/// Asks about the run that `summary` describes; Enter continues it.
pub fn build_dialog(summary: &str) -> ChoiceDialog {
    let (goal, how_far) = summary.split_once('\n').unwrap_or((summary, ""));
    let mut sheet = ChoiceDialog::new("unfinished", "Resume the unfinished run?")
        .with_text(goal, theme::STRONG)
        .with_text(how_far, theme::PLAIN)
        .with_choice(
            'y',
            "Resume the run",
            ChoiceAction::ActAndClose(vec![Action::Resume]),
        )
        .with_choice(
            'n',
            "Archive it and start new",
            ChoiceAction::ActAndClose(vec![Action::Archive]),
        );
    sheet.empty_composer_enter = EmptyComposerEnter::CarriesOutChoice;
    sheet
}
