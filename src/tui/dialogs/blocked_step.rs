//! Dialog: the agent of a step reports that it is blocked.

use super::{answer_question, confirm_back_to_goal, confirm_cancel, question_dialog_id};
use crate::domain::question::QuestionAnswer;
use crate::text::pluralize;
use crate::tui::dialog::ChoiceDialog;
use crate::tui::theme;

pub(super) fn build_dialog(id: u32, step: u32, said: &str, n_changed: usize) -> ChoiceDialog {
    let title = format!("step {step} is blocked, its agent says");
    let mut sheet = ChoiceDialog::new(question_dialog_id(id), &title).with_text(said, theme::BAD);
    if n_changed > 0 {
        let text = format!("It changed {} all the same.", pluralize(n_changed, "file"));
        sheet = sheet.with_text(&text, theme::PLAIN);
    }
    sheet
        .with_choice(
            'r',
            "try the step again",
            answer_question(id, QuestionAnswer::Retry),
        )
        .with_choice(
            'w',
            "skip it: nothing is committed, its box stays open, the next step follows",
            answer_question(id, QuestionAnswer::SkipStep),
        )
        .with_choice('b', "stop, back to the goal", confirm_back_to_goal(id))
        .with_choice('c', "cancel the run", confirm_cancel())
}
