//! Dialog: a step ended in its middle, with the program or by an interrupt; what should happen to its changes?

use super::{answer_question, confirm_back_to_goal, confirm_cancel, question_dialog_id};
use crate::domain::diff_scope::DiffScope;
use crate::domain::plan_execution::StepStage;
use crate::domain::question::QuestionAnswer;
use crate::tui::command::ScreenCommand;
use crate::tui::dialog::{ChoiceAction, ChoiceDialog};
use crate::tui::theme;

pub(super) fn build_dialog(id: u32, step: u32, stage: StepStage) -> ChoiceDialog {
    let title = format!("Step {step} was cut off. What next?");
    let cut_off = format!("It ended while {}.", stage.describe());
    ChoiceDialog::new(question_dialog_id(id), &title)
        .with_text(&cut_off, theme::PLAIN)
        .with_choice(
            'g',
            "Continue the step",
            answer_question(id, QuestionAnswer::ContinueStep),
        )
        .with_choice(
            'd',
            "Read the diff",
            ChoiceAction::RunCommand(ScreenCommand::Diff(DiffScope::Step(step))),
        )
        .with_choice(
            'y',
            "Test and commit what is there",
            answer_question(id, QuestionAnswer::TreatAsDone),
        )
        .with_choice(
            'r',
            "Discard changes, redo the step",
            answer_question(id, QuestionAnswer::RedoStep),
        )
        .with_choice('b', "Stop and return to the goal", confirm_back_to_goal(id))
        .with_choice('c', "Cancel the run", confirm_cancel())
}
