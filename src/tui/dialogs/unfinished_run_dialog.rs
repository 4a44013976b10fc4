//! Dialog at startup: continue the unfinished run of this directory?

use crate::tui::action::Action;
use crate::tui::dialog::{ChoiceAction, ChoiceDialog, EmptyComposerEnter};
use crate::tui::theme;

/// Asks about the run that `summary` describes; Enter continues it.
pub fn build_dialog(summary: &str) -> ChoiceDialog {
    let (goal, how_far) = summary.split_once('\n').unwrap_or((summary, ""));
    let mut sheet = ChoiceDialog::new("unfinished", "continue the unfinished run? [Y/n]")
        .with_text(goal, theme::STRONG)
        .with_text(how_far, theme::PLAIN)
        .with_choice(
            'y',
            "continue it",
            ChoiceAction::ActAndClose(vec![Action::Resume]),
        )
        .with_choice(
            'n',
            "put it into the history and start anew",
            ChoiceAction::ActAndClose(vec![Action::Archive]),
        );
    sheet.empty_composer_enter = EmptyComposerEnter::CarriesOutChoice;
    sheet
}
