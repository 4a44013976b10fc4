//! Dialog: the agent of a step reports that it is blocked.

use super::{answer_question, confirm_back_to_goal, confirm_cancel, question_dialog_id};
use crate::domain::findings::evidence::EvidenceCheck;
use crate::domain::question::QuestionAnswer;
use crate::text::pluralize;
use crate::tui::dialog::{ChoiceAction, ChoiceDialog};
use crate::tui::theme;

pub(super) fn build_dialog(
    id: u32,
    step: u32,
    said: &str,
    check: Option<&EvidenceCheck>,
    n_changed: usize,
) -> ChoiceDialog {
    let title = format!("The agent says step {step} is blocked");
    let mut sheet = ChoiceDialog::new(question_dialog_id(id), &title).with_text(said, theme::BAD);
    if let Some(check) = check {
        sheet = match check.describe() {
            Some(found) => sheet.with_text(&found, theme::check_style(check.is_verified())),
            None => sheet.with_text("It quotes nothing that can be checked.", theme::QUIET),
        };
    }
    if n_changed > 0 {
        let text = format!("It changed {} anyway.", pluralize(n_changed, "file"));
        sheet = sheet.with_text(&text, theme::PLAIN);
    }
    sheet
        .with_choice(
            'r',
            "Try the step again",
            answer_question(id, QuestionAnswer::Retry),
        )
        .with_choice('m', "Amend the step…", amend_choice())
        .with_choice('l', "Plan the step again…", command_choice("replan", step))
        .with_choice('w', "Skip the step…", command_choice("skip", step))
        .with_choice('b', "Stop and return to the goal", confirm_back_to_goal(id))
        .with_choice('c', "Cancel the run", confirm_cancel())
}

/// Lets the user write what is added to the step.
pub(super) fn amend_choice() -> ChoiceAction {
    ChoiceAction::FillComposer("/answer amend: ".to_owned())
}

/// Lets the user write the words of a command about a step.
pub(super) fn command_choice(name: &str, step: u32) -> ChoiceAction {
    ChoiceAction::FillComposer(format!("/{name} {step} "))
}
