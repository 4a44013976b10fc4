//! Dialog: a step's turn is over and nothing is different.
//!
//! Enter tries again: that nothing happened is no proof that the step is done.

use super::{answer, back_to_the_goal, cancel, identity};
use crate::domain::question::QuestionAnswer;
use crate::tui::sheet::Sheet;
use crate::tui::theme;

pub(super) fn sheet(id: u32, step: u32, said: &str) -> Sheet {
    let title = format!("step {step} changed nothing: what does that mean?");
    let mut sheet = Sheet::new(identity(id), &title);
    if !said.is_empty() {
        sheet = sheet
            .says("Its agent says:", theme::QUIET)
            .says(said, theme::PLAIN);
    }
    sheet
        .offers('r', "try the step again", answer(id, QuestionAnswer::Retry))
        .offers(
            'y',
            "what it asks was true already: the step is done",
            answer(id, QuestionAnswer::AlreadyTrue),
        )
        .offers(
            'w',
            "skip it: its box stays open, the next step follows",
            answer(id, QuestionAnswer::SkipStep),
        )
        .offers(
            'b',
            "it is blocked: stop, back to the goal",
            back_to_the_goal(id),
        )
        .offers('c', "cancel the run", cancel())
}
