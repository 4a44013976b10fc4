//! Dialog: the commit of a step failed.

use super::{answer, back_to_the_goal, cancel, identity};
use crate::domain::question::QuestionAnswer;
use crate::tui::sheet::Sheet;
use crate::tui::theme;

pub(super) fn sheet(id: u32, step: u32, message: &str) -> Sheet {
    let title = format!("the commit of step {step} failed");
    let mut sheet = Sheet::new(identity(id), &title).says(message, theme::BAD);
    sheet.whole = Some((title, message.to_owned()));
    sheet
        .offers('r', "try again", answer(id, QuestionAnswer::Retry))
        .offers(
            'w',
            "go on without this commit",
            answer(id, QuestionAnswer::WithoutCommit),
        )
        .offers('b', "stop, back to the goal", back_to_the_goal(id))
        .offers('c', "cancel the run", cancel())
}
