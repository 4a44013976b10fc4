//! Dialog: the agent of a step says that something stands in the way.

use super::{answer, back_to_the_goal, cancel, identity};
use crate::domain::question::QuestionAnswer;
use crate::text::pluralize;
use crate::tui::sheet::Sheet;
use crate::tui::theme;

pub(super) fn sheet(id: u32, step: u32, said: &str, n_changed: usize) -> Sheet {
    let title = format!("step {step} is blocked, its agent says");
    let mut sheet = Sheet::new(identity(id), &title).says(said, theme::BAD);
    if n_changed > 0 {
        let text = format!("It changed {} all the same.", pluralize(n_changed, "file"));
        sheet = sheet.says(&text, theme::PLAIN);
    }
    sheet
        .offers('r', "try the step again", answer(id, QuestionAnswer::Retry))
        .offers(
            'w',
            "skip it: nothing is committed, its box stays open, the next step follows",
            answer(id, QuestionAnswer::SkipStep),
        )
        .offers('b', "stop, back to the goal", back_to_the_goal(id))
        .offers('c', "cancel the run", cancel())
}
