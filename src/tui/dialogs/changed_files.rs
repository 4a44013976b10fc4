//! Text and choices that dialogs share about files that a step changed and that the user must inspect.
//!
//! Enter only shows the diff. The calling dialog gives the reason for each file.

use super::{answer_question, confirm_back_to_goal, confirm_cancel, question_dialog_id};
use crate::domain::diff_scope::DiffScope;
use crate::domain::question::QuestionAnswer;
use crate::tui::command::ScreenCommand;
use crate::tui::dialog::{ChoiceAction, ChoiceDialog, DialogWeight};
use crate::tui::text_wrap::to_one_line;
use crate::tui::theme;

/// Builds a dialog about files of a step, each with its reason; `offers` are the choices for those files.
pub(super) fn build_dialog<'a>(
    id: u32,
    step: u32,
    title: &str,
    said: &str,
    files: impl Iterator<Item = (&'a str, &'a str)>,
    offers: impl IntoIterator<Item = (char, &'a str, QuestionAnswer)>,
) -> ChoiceDialog {
    let list: Vec<String> = files
        .map(|(path, why)| {
            format!(
                "  {}  {}",
                to_one_line(path),
                to_one_line(why).replace('`', "")
            )
        })
        .collect();
    let list = list.join("\n");
    let mut sheet = ChoiceDialog::new(question_dialog_id(id), title)
        .with_weight(DialogWeight::Permission)
        .with_text(&list, theme::CODE)
        .with_text(said, theme::PLAIN);
    sheet.full_text = Some((title.to_owned(), list));
    let diff = ChoiceAction::RunCommand(ScreenCommand::Diff(DiffScope::Step(step)));
    let sheet = sheet.with_choice('d', "Read the diff", diff);
    let sheet = offers.into_iter().fold(sheet, |sheet, (key, what, says)| {
        sheet.with_choice(key, what, answer_question(id, says))
    });
    sheet
        .with_choice('b', "Stop and return to the goal", confirm_back_to_goal(id))
        .with_choice('c', "Cancel the run", confirm_cancel())
}
