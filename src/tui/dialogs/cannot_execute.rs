//! Dialog: the execution could not be entered.

use super::{answer, back_to_the_goal, cancel, identity};
use crate::domain::question::QuestionAnswer;
use crate::tui::sheet::Sheet;
use crate::tui::theme;

pub(super) fn sheet(id: u32, reason: &str) -> Sheet {
    Sheet::new(identity(id), "the plan cannot be executed")
        .says(reason, theme::BAD)
        .offers('r', "look again", answer(id, QuestionAnswer::Retry))
        .offers('b', "stop, back to the goal", back_to_the_goal(id))
        .offers('c', "cancel the run", cancel())
}
