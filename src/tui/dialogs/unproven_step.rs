//! Dialog: the tests of a step pass, but the program did not see what the plan promises as its proof.

use super::blocked_step::command_choice;
use super::{answer_question, confirm_back_to_goal, confirm_cancel, question_dialog_id};
use crate::domain::question::QuestionAnswer;
use crate::domain::run::RunState;
use crate::domain::step_proof::StepProof;
use crate::tui::dialog::{ChoiceAction, ChoiceDialog};
use crate::tui::theme;

pub(super) fn build_dialog(id: u32, step: u32, found: &str, state: &RunState) -> ChoiceDialog {
    let title = format!("Step {step} is not proven");
    let mut sheet = ChoiceDialog::new(question_dialog_id(id), &title).with_text(found, theme::BAD);
    let current = state.execution.as_ref().and_then(|e| e.current.as_ref());
    if let Some(proof) = current.and_then(|current| current.proof.as_ref()) {
        sheet = sheet
            .with_text(&proof.found.summary(), theme::QUIET)
            .with_text(remedy(&proof.found), theme::PLAIN);
        sheet.full_text = Some((title, proof.found.describe_cells()));
    }
    sheet
        .with_choice(
            'r',
            "Let the agent supply what is missing",
            answer_question(id, QuestionAnswer::Retry),
        )
        .with_choice('w', "Waive the proof, with a reason …", waive_choice())
        .with_choice('l', "Plan the step again …", command_choice("replan", step))
        .with_choice('b', "Stop and return to the goal", confirm_back_to_goal(id))
        .with_choice('c', "Cancel the run", confirm_cancel())
}

/// Says what would prove the step.
fn remedy(found: &StepProof) -> &'static str {
    if !found.broken.is_empty() || !found.lost.is_empty() {
        "If the old tests have to change, plan the step again with a line `Changes tests: <path> — <why>`."
    } else if found
        .mutants
        .as_ref()
        .is_some_and(|trial| trial.n_tried > 0)
    {
        "A test that asserts what this line does would prove it."
    } else if found.failing.is_empty() {
        "A new test that fails without the step's change and passes with it would prove it."
    } else {
        "The tests have to pass with the step's change."
    }
}

/// Lets the user write why the step counts without its proof.
fn waive_choice() -> ChoiceAction {
    ChoiceAction::FillComposer("/answer waive: ".to_owned())
}
