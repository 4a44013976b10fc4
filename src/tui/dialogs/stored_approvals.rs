//! Dialog: the approvals that cover more than one call, to remove one.

use crate::tui::action::Action;
use crate::tui::approval_view::ApprovalEntry;
use crate::tui::clickable_keys;
use crate::tui::dialog::{ChoiceAction, ChoiceDialog};
use crate::tui::text_wrap::to_one_line;
use crate::tui::theme;

/// Builds the list of approvals; keeping them all is chosen at first.
pub fn build_dialog(kept: &[ApprovalEntry]) -> ChoiceDialog {
    let mut sheet = ChoiceDialog::list("permissions", "Approved for more than one call").with_text(
        "Enter removes the chosen approval, Esc keeps them all.",
        clickable_keys::mark_hint(theme::QUIET),
    );
    for (kept, key) in kept.iter().zip(('1'..='9').chain(std::iter::repeat('·'))) {
        let label = format!(
            "Remove: {} · {}",
            to_one_line(&kept.what),
            to_one_line(&kept.about)
        );
        sheet = sheet.with_choice(
            key,
            &label,
            ChoiceAction::ActAndClose(vec![Action::Revoke(kept.id)]),
        );
    }
    sheet = sheet.with_choice('b', "Back", ChoiceAction::Close);
    let last = sheet.choices.len() - 1;
    sheet.with_first_choice(last)
}
