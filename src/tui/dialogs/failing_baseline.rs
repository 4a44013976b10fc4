//! Dialog: tests fail before the first step.

use super::test_failure::MAX_OUTPUT_LINES;
use super::{answer_question, confirm_back_to_goal, confirm_cancel, question_dialog_id};
use crate::domain::question::QuestionAnswer;
use crate::domain::run::RunState;
use crate::tui::dialog::ChoiceDialog;
use crate::tui::failure_excerpt::failure_excerpt;
use crate::tui::theme;

pub(super) fn build_dialog(id: u32, found: &str, state: &RunState) -> ChoiceDialog {
    let title = "Tests fail before step 1";
    let mut sheet = ChoiceDialog::new(question_dialog_id(id), title).with_text(found, theme::BAD);
    let execution = state.execution.as_ref();
    if let Some(baseline) = execution.and_then(|execution| execution.baseline.as_ref()) {
        let receipt = &baseline.receipt;
        sheet = sheet
            .with_text(&format!("$ {}", receipt.command), theme::CODE)
            .with_text(
                &failure_excerpt(&receipt.output_tail, MAX_OUTPUT_LINES),
                theme::QUIET,
            );
        sheet.full_text = Some((title.to_owned(), receipt.output_tail.clone()));
    }
    sheet
        .with_choice(
            'y',
            "Continue, they are known",
            answer_question(id, QuestionAnswer::AcceptAsIs),
        )
        .with_choice(
            'f',
            "Fix them first: plan again",
            answer_question(id, QuestionAnswer::FixFirst),
        )
        .with_choice('b', "Stop and return to the goal", confirm_back_to_goal(id))
        .with_choice('c', "Cancel the run", confirm_cancel())
}
