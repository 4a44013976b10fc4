//! Dialog: what the approval is bound to has changed since.
//!
//! Enter only checks again: an accidental key press must never approve what nobody read.

use super::{answer_question, confirm_back_to_goal, confirm_cancel, question_dialog_id};
use crate::domain::bound_parts::BindingChange;
use crate::domain::question::QuestionAnswer;
use crate::tui::dialog::{ChoiceDialog, DialogWeight};
use crate::tui::text_wrap::to_one_line;
use crate::tui::theme;

pub(super) fn build_dialog(id: u32, step: u32, changes: &[BindingChange]) -> ChoiceDialog {
    let title = "What you approved has changed";
    let list: Vec<String> = changes
        .iter()
        .map(|change| format!("  {}", to_one_line(&change.describe())))
        .collect();
    let list = list.join("\n");
    let said =
        format!("Step {step} waits. Restore it and check again, or approve it as it is now.");
    let again = answer_question(id, QuestionAnswer::Retry);
    let accept = answer_question(id, QuestionAnswer::AcceptAsIs);
    let mut sheet = ChoiceDialog::new(question_dialog_id(id), title)
        .with_weight(DialogWeight::Permission)
        .with_text(&list, theme::CODE)
        .with_text(&said, theme::PLAIN);
    sheet.full_text = Some((title.to_owned(), list));
    sheet
        .with_choice('r', "Check again", again)
        .with_choice('y', "Approve it as it is now", accept)
        .with_choice('b', "Stop and return to the goal", confirm_back_to_goal(id))
        .with_choice('c', "Cancel the run", confirm_cancel())
}
