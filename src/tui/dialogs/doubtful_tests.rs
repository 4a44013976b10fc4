//! Dialog: the tests of a step pass, but they may not have tested what they tested before.

use super::{answer_question, confirm_back_to_goal, confirm_cancel, question_dialog_id};
use crate::domain::question::QuestionAnswer;
use crate::domain::run::RunState;
use crate::tui::dialog::ChoiceDialog;
use crate::tui::theme;

pub(super) fn build_dialog(id: u32, step: u32, found: &str, state: &RunState) -> ChoiceDialog {
    let title = format!("Step {step}: the tests look doubtful");
    let mut sheet = ChoiceDialog::new(question_dialog_id(id), &title).with_text(found, theme::BAD);
    let current = state.execution.as_ref().and_then(|e| e.current.as_ref());
    if let Some(receipt) = current.and_then(|current| current.receipt.as_ref()) {
        sheet = sheet.with_text(&format!("$ {}", receipt.command), theme::CODE);
        sheet.full_text = Some((title, receipt.output_tail.clone()));
    }
    sheet
        .with_choice(
            'r',
            "Let the agent fix the tests",
            answer_question(id, QuestionAnswer::Retry),
        )
        .with_choice(
            'w',
            "Continue without a commit",
            answer_question(id, QuestionAnswer::SkipTests),
        )
        .with_choice(
            'y',
            "Commit anyway",
            answer_question(id, QuestionAnswer::AcceptAsIs),
        )
        .with_choice('b', "Stop and return to the goal", confirm_back_to_goal(id))
        .with_choice('c', "Cancel the run", confirm_cancel())
}
