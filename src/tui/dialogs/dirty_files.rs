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
        (true, false) => ("that a stopped step left", "they go"),
        (false, false) => ("of yours and of a stopped step", "they go"),
        (_, true) => ("of yours", "your changes go"),
    };
    let title = format!("step {step} edited files with uncommitted changes {whose}");
    let mut sheet = ChoiceDialog::new(question_dialog_id(id), &title)
        .with_text(&list_names(paths, 10), theme::CODE);
    sheet.full_text = Some((title, paths.join("\n")));
    sheet
        .with_choice(
            'y',
            &format!("include: {included} into the step's commit"),
            answer_question(id, QuestionAnswer::Include),
        )
        .with_choice(
            'n',
            "leave out: these files stay uncommitted",
            answer_question(id, QuestionAnswer::LeaveOut),
        )
        .with_choice('c', "cancel the run", confirm_cancel())
        .with_first_choice(1)
}

/// Builds the dialog about files that a step's tests change on each run.
pub(super) fn build_changed_by_tests_dialog(id: u32, step: u32, paths: &[String]) -> ChoiceDialog {
    let title = format!("the tests of step {step} change files each time they run");
    let mut sheet = ChoiceDialog::new(question_dialog_id(id), &title)
        .with_text(&list_names(paths, 10), theme::CODE);
    sheet.full_text = Some((title, paths.join("\n")));
    sheet
        .with_choice(
            'y',
            "include: what the tests wrote goes into the step's commit, untested",
            answer_question(id, QuestionAnswer::Include),
        )
        .with_choice(
            'n',
            "leave out: the commit has what was tested",
            answer_question(id, QuestionAnswer::LeaveOut),
        )
        .with_choice('c', "cancel the run", confirm_cancel())
        .with_first_choice(1)
}

/// Builds the dialog about files that changed while a step ran, but that no call of its agent accounts for.
pub(super) fn build_unattributed_dialog(id: u32, step: u32, paths: &[String]) -> ChoiceDialog {
    let title =
        format!("files changed during step {step}, and not by its agent as far as can be seen");
    let mut sheet = ChoiceDialog::new(question_dialog_id(id), &title)
        .with_text(&list_names(paths, 10), theme::CODE)
        .with_text(
            "No call names them, and no command of the agent ran when they changed.",
            theme::QUIET,
        );
    sheet.full_text = Some((title, paths.join("\n")));
    sheet
        .with_choice(
            'y',
            "include: they are part of the step, are committed and undone with it",
            answer_question(id, QuestionAnswer::Include),
        )
        .with_choice(
            'n',
            "leave out: they are yours, stay uncommitted, and an undo leaves them",
            answer_question(id, QuestionAnswer::LeaveOut),
        )
        .with_choice('c', "cancel the run", confirm_cancel())
        .with_first_choice(1)
}
