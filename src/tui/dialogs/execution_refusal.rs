//! Dialog: the execution phase could not start.

use super::{answer_question, confirm_back_to_goal, confirm_cancel, question_dialog_id};
use crate::domain::question::QuestionAnswer;
use crate::tui::dialog::ChoiceDialog;
use crate::tui::theme;

pub(super) fn build_dialog(id: u32, reason: &str) -> ChoiceDialog {
    ChoiceDialog::new(question_dialog_id(id), "The plan cannot run")
        .with_text(reason, theme::BAD)
        .with_choice(
            'r',
            "Check again",
            answer_question(id, QuestionAnswer::Retry),
        )
        .with_choice('b', "Stop and return to the goal", confirm_back_to_goal(id))
        .with_choice('c', "Cancel the run", confirm_cancel())
}
