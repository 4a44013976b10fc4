//! Dialog: the commit of a step failed.

use super::{answer_question, confirm_back_to_goal, confirm_cancel, question_dialog_id};
use crate::domain::question::QuestionAnswer;
use crate::tui::dialog::ChoiceDialog;
use crate::tui::theme;

pub(super) fn build_dialog(id: u32, step: u32, message: &str) -> ChoiceDialog {
    let title = format!("The commit of step {step} failed");
    let mut sheet =
        ChoiceDialog::new(question_dialog_id(id), &title).with_text(message, theme::BAD);
    sheet.full_text = Some((title, message.to_owned()));
    sheet
        .with_choice('r', "Try again", answer_question(id, QuestionAnswer::Retry))
        .with_choice(
            'w',
            "Continue without this commit",
            answer_question(id, QuestionAnswer::WithoutCommit),
        )
        .with_choice('b', "Stop and return to the goal", confirm_back_to_goal(id))
        .with_choice('c', "Cancel the run", confirm_cancel())
}
