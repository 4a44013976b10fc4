//! Dialog: a step's turn ended without any change.
//!
//! Enter retries: the absence of a change is no proof that the step is done.

use super::{answer_question, confirm_back_to_goal, confirm_cancel, question_dialog_id};
use crate::domain::question::QuestionAnswer;
use crate::tui::dialog::ChoiceDialog;
use crate::tui::theme;

pub(super) fn build_dialog(id: u32, step: u32, said: &str) -> ChoiceDialog {
    let title = format!("step {step} changed nothing: what does that mean?");
    let mut sheet = ChoiceDialog::new(question_dialog_id(id), &title);
    if !said.is_empty() {
        sheet = sheet
            .with_text("Its agent says:", theme::QUIET)
            .with_text(said, theme::PLAIN);
    }
    sheet
        .with_choice(
            'r',
            "try the step again",
            answer_question(id, QuestionAnswer::Retry),
        )
        .with_choice(
            'y',
            "what it asks was true already: the step is done",
            answer_question(id, QuestionAnswer::AlreadyTrue),
        )
        .with_choice(
            'w',
            "skip it: its box stays open, the next step follows",
            answer_question(id, QuestionAnswer::SkipStep),
        )
        .with_choice(
            'b',
            "it is blocked: stop, back to the goal",
            confirm_back_to_goal(id),
        )
        .with_choice('c', "cancel the run", confirm_cancel())
}
