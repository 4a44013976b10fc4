//! Dialog: the tests of a step still fail after all fix turns.

use super::{answer_question, confirm_back_to_goal, confirm_cancel, question_dialog_id};
use crate::domain::question::QuestionAnswer;
use crate::domain::run::RunState;
use crate::tui::dialog::ChoiceDialog;
use crate::tui::failure_excerpt::failure_excerpt;
use crate::tui::tab_kind::TabKind;
use crate::tui::theme;

/// How many lines of the output the dialog shows.
pub(super) const MAX_OUTPUT_LINES: usize = 10;

pub(super) fn build_dialog(id: u32, step: u32, found: &str, state: &RunState) -> ChoiceDialog {
    let execution = state.execution.as_ref();
    let current = execution.and_then(|execution| execution.current.as_ref());
    let receipt = current.and_then(|current| current.receipt.as_ref());
    let before = execution.zip(receipt);
    let title = match before.and_then(|(execution, now)| execution.matching_baseline_failure(now)) {
        Some(_) => format!("Step {step}: tests fail as they did before step 1"),
        None => format!("Step {step}: tests still fail"),
    };
    let mut sheet = ChoiceDialog::new(question_dialog_id(id), &title).with_text_of_tabs(
        &[TabKind::Chat],
        found,
        theme::BAD,
    );
    if let Some(receipt) = receipt {
        sheet = sheet
            .with_text(&format!("$ {}", receipt.command), theme::CODE)
            .with_text(
                &failure_excerpt(&receipt.output_tail, MAX_OUTPUT_LINES),
                theme::QUIET,
            );
        sheet.full_text = Some((title, receipt.output_tail.clone()));
    }
    sheet
        .with_choice(
            'r',
            "Try to fix it again",
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
