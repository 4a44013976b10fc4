//! Dialog: the program that runs the tests is missing, found before the first step.

use super::{answer_question, confirm_back_to_goal, confirm_cancel, question_dialog_id};
use crate::domain::question::QuestionAnswer;
use crate::domain::run::RunState;
use crate::tui::dialog::ChoiceDialog;
use crate::tui::theme;

pub(super) fn build_dialog(id: u32, found: &str, state: &RunState) -> ChoiceDialog {
    let title = "Tests cannot run before step 1";
    let mut sheet = ChoiceDialog::new(question_dialog_id(id), title).with_text(found, theme::BAD);
    let execution = state.execution.as_ref();
    if let Some(baseline) = execution.and_then(|execution| execution.baseline.as_ref()) {
        sheet = sheet.with_text(&format!("$ {}", baseline.receipt.command), theme::CODE);
    }
    sheet
        .with_choice(
            'r',
            "Run the tests again",
            answer_question(id, QuestionAnswer::Retry),
        )
        .with_choice(
            'y',
            "Start step 1 anyway",
            answer_question(id, QuestionAnswer::AcceptAsIs),
        )
        .with_choice('b', "Back to the goal", confirm_back_to_goal(id))
        .with_choice('c', "Cancel the run", confirm_cancel())
}
