//! Dialog: the user edits by hand and confirms when finished.

use super::{confirm_cancel, question_dialog_id};
use crate::domain::question::EditFollowUp;
use crate::tui::action::{Action, DocumentKind};
use crate::tui::dialog::{ChoiceAction, ChoiceDialog};
use crate::tui::theme;

pub(super) fn build_dialog(id: u32) -> ChoiceDialog {
    let done = |then| ChoiceAction::Act(vec![Action::EditingDone { id, then }]);
    let edit = |document| ChoiceAction::Act(vec![Action::Edit(document)]);
    ChoiceDialog::new(question_dialog_id(id), "You are editing the plan")
        .with_text(
            "The run waits. The plan is read when you choose Done.",
            theme::PLAIN,
        )
        .with_choice('e', "Edit the plan", edit(DocumentKind::Plan))
        .with_choice('m', "Edit the comments", edit(DocumentKind::Comments))
        .with_choice('r', "Done, review the plan", done(EditFollowUp::Review))
        .with_choice('y', "Done, skip the review", done(EditFollowUp::Accept))
        .with_choice('c', "Cancel the run", confirm_cancel())
}
