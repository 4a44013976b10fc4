//! Dialog: what the tests are run by is not there, as is found before the first step.

use super::{answer, back_to_the_goal, cancel, identity};
use crate::domain::question::QuestionAnswer;
use crate::domain::run::RunState;
use crate::tui::sheet::Sheet;
use crate::tui::theme;

pub(super) fn sheet(id: u32, found: &str, state: &RunState) -> Sheet {
    let title = "before step 1: the tests cannot run";
    let mut sheet = Sheet::new(identity(id), title).says(found, theme::BAD);
    let execution = state.execution.as_ref();
    if let Some(baseline) = execution.and_then(|execution| execution.baseline.as_ref()) {
        sheet = sheet.says(&format!("$ {}", baseline.receipt.command), theme::CODE);
    }
    sheet
        .offers(
            'r',
            "run them again: it is installed now",
            answer(id, QuestionAnswer::Retry),
        )
        .offers(
            'y',
            "go on to step 1: you are asked again after each step",
            answer(id, QuestionAnswer::AcceptAsIs),
        )
        .offers('b', "back to the goal", back_to_the_goal(id))
        .offers('c', "cancel the run", cancel())
}
