//! Dialog: the tests of a step do not fail, and they may not have tested what they tested before.

use super::{answer, back_to_the_goal, cancel, identity};
use crate::domain::question::QuestionAnswer;
use crate::domain::run::RunState;
use crate::tui::sheet::Sheet;
use crate::tui::theme;

pub(super) fn sheet(id: u32, step: u32, found: &str, state: &RunState) -> Sheet {
    let title = format!("step {step}: its tests do not fail, and they are in doubt");
    let mut sheet = Sheet::new(identity(id), &title).says(found, theme::BAD);
    let current = state.execution.as_ref().and_then(|e| e.current.as_ref());
    if let Some(receipt) = current.and_then(|current| current.receipt.as_ref()) {
        sheet = sheet.says(&format!("$ {}", receipt.command), theme::CODE);
        sheet.whole = Some((title, receipt.output_tail.clone()));
    }
    sheet
        .offers(
            'r',
            "let the agent put it right",
            answer(id, QuestionAnswer::Retry),
        )
        .offers(
            'w',
            "go on without a commit: what the step changed stays in the tree",
            answer(id, QuestionAnswer::SkipTests),
        )
        .offers(
            'y',
            "commit the step with its tests as they are",
            answer(id, QuestionAnswer::AcceptAsIs),
        )
        .offers('b', "stop, back to the goal", back_to_the_goal(id))
        .offers('c', "cancel the run", cancel())
}
