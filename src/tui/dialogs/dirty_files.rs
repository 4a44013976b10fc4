//! Dialog: a step edited files that had uncommitted changes, from the user or from a step that was stopped.

use super::{answer_question, confirm_cancel, list_names, question_dialog_id};
use crate::domain::question::{LeftoverFiles, QuestionAnswer};
use crate::tui::dialog::ChoiceDialog;
use crate::tui::theme;

pub(super) fn build_dialog(
    id: u32,
    step: u32,
    paths: &[String],
    left: Option<&LeftoverFiles>,
) -> ChoiceDialog {
    let (yours, others) = LeftoverFiles::partition_paths(left, paths);
    let (whose, included) = match (yours.is_empty(), others.is_empty()) {
        (true, false) => ("a stopped step", "Add them"),
        (false, false) => ("you and a stopped step", "Add them"),
        (_, true) => ("you", "Add your changes"),
    };
    let title = format!("Step {step} edited files {whose} changed");
    let mut sheet = ChoiceDialog::new(question_dialog_id(id), &title)
        .with_text(&list_names(paths, 10), theme::CODE);
    sheet.full_text = Some((title, paths.join("\n")));
    sheet
        .with_choice(
            'y',
            &format!("{included} to the commit"),
            answer_question(id, QuestionAnswer::Include),
        )
        .with_choice(
            'n',
            "Leave them uncommitted",
            answer_question(id, QuestionAnswer::LeaveOut),
        )
        .with_choice('c', "Cancel the run", confirm_cancel())
        .with_first_choice(1)
}

/// Builds the dialog about files that a step's tests change on each run.
pub(super) fn build_changed_by_tests_dialog(id: u32, step: u32, paths: &[String]) -> ChoiceDialog {
    let title = format!("The tests of step {step} change files each time they run");
    let mut sheet = ChoiceDialog::new(question_dialog_id(id), &title)
        .with_text(&list_names(paths, 10), theme::CODE);
    sheet.full_text = Some((title, paths.join("\n")));
    sheet
        .with_choice(
            'y',
            "Commit these changes untested",
            answer_question(id, QuestionAnswer::Include),
        )
        .with_choice(
            'n',
            "Commit only what was tested",
            answer_question(id, QuestionAnswer::LeaveOut),
        )
        .with_choice('c', "Cancel the run", confirm_cancel())
        .with_first_choice(1)
}

/// Builds the dialog about files that changed while a step ran, but that no call of its agent accounts for.
pub(super) fn build_unattributed_dialog(id: u32, step: u32, paths: &[String]) -> ChoiceDialog {
    let title = format!("Files changed during step {step}, apparently not by its agent");
    let mut sheet = ChoiceDialog::new(question_dialog_id(id), &title)
        .with_text(&list_names(paths, 10), theme::CODE)
        .with_text(
            "The agent did not name them, and none of its commands was running.",
            theme::QUIET,
        );
    sheet.full_text = Some((title, paths.join("\n")));
    sheet
        .with_choice(
            'y',
            "Include them in the step",
            answer_question(id, QuestionAnswer::Include),
        )
        .with_choice(
            'n',
            "Leave them out, they are yours",
            answer_question(id, QuestionAnswer::LeaveOut),
        )
        .with_choice('c', "Cancel the run", confirm_cancel())
        .with_first_choice(1)
}
