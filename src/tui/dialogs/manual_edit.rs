//! Dialog: the user edits by hand and confirms when finished.

use super::{confirm_cancel, question_dialog_id};
use crate::domain::question::EditFollowUp;
use crate::tui::action::{Action, DocumentKind};
use crate::tui::dialog::{ChoiceAction, ChoiceDialog};
use crate::tui::theme;

pub(super) fn build_dialog(id: u32) -> ChoiceDialog {
    let done = |then| ChoiceAction::Act(vec![Action::EditingDone { id, then }]);
    let edit = |document| ChoiceAction::Act(vec![Action::Edit(document)]);
    ChoiceDialog::new(question_dialog_id(id), "you edit the plan by hand")
        .with_text(
            "Everything waits. The plan is read when you say that you are done.",
            theme::PLAIN,
        )
        .with_choice(
            'e',
            "open the plan in your editor",
            edit(DocumentKind::Plan),
        )
        .with_choice(
            'm',
            "open the comments in your editor",
            edit(DocumentKind::Comments),
        )
        .with_choice('r', "done: have it reviewed", done(EditFollowUp::Review))
        .with_choice(
            'y',
            "done: accept it without a review",
            done(EditFollowUp::Accept),
        )
        .with_choice('c', "cancel the run", confirm_cancel())
}
