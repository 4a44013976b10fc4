//! Dialog: a step's turn ended without any change.
//!
//! Enter retries: the absence of a change is no proof that the step is done.

use super::blocked_step::{amend_choice, command_choice};
use super::{answer_question, confirm_back_to_goal, confirm_cancel, question_dialog_id};
use crate::domain::question::QuestionAnswer;
use crate::tui::dialog::ChoiceDialog;
use crate::tui::theme;

pub(super) fn build_dialog(id: u32, step: u32, said: &str, found: &str) -> ChoiceDialog {
    let title = format!("No changes in step {step}. What next?");
    let mut sheet = ChoiceDialog::new(question_dialog_id(id), &title);
    if !said.is_empty() {
        sheet = sheet
            .with_text("Its agent says:", theme::QUIET)
            .with_text(said, theme::PLAIN);
    }
    if !found.is_empty() {
        let text = format!("Not seen on the code before the step: {found}");
        sheet = sheet.with_text(&text, theme::QUIET);
    }
    sheet
        .with_choice(
            'r',
            "Try the step again",
            answer_question(id, QuestionAnswer::Retry),
        )
        .with_choice(
            'y',
            "Mark done, nothing was needed",
            answer_question(id, QuestionAnswer::AlreadyTrue),
        )
        .with_choice('m', "Amend the step…", amend_choice())
        .with_choice('l', "Plan the step again…", command_choice("replan", step))
        .with_choice('w', "Skip the step…", command_choice("skip", step))
        .with_choice('b', "Stop and return to the goal", confirm_back_to_goal(id))
        .with_choice('c', "Cancel the run", confirm_cancel())
}
