//! Dialog: the instance that worked in the repository has exited, and its run can be taken over.

use crate::tui::action::Action;
use crate::tui::dialog::{ChoiceAction, ChoiceDialog};
use crate::tui::theme;

/// Asks whether to take over the repository after the other instance has ended; the answer is
/// [`Action::TakeOver`].
pub fn build_dialog() -> ChoiceDialog {
    ChoiceDialog::new("free", "The other instance has exited")
        .until_closed()
        .with_text(
            "Nothing is running in this repository any more.",
            theme::PLAIN,
        )
        .with_choice(
            'y',
            "Take over this run",
            ChoiceAction::ActAndClose(vec![Action::TakeOver]),
        )
        .with_choice('n', "Keep viewing", ChoiceAction::Close)
}
