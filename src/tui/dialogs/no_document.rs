//! Dialog: a turn brought no document, twice. What its agent said instead stands in the chat; it can be answered.

use super::{answer, back_to_the_goal, cancel, identity};
use crate::domain::question::QuestionAnswer;
use crate::domain::turn::TurnPurpose;
use crate::tui::sheet::{Draft, Sheet, Then};
use crate::tui::theme;

pub(super) fn sheet(id: u32, purpose: &TurnPurpose, reason: &str) -> Sheet {
    let title = format!(
        "no document came from the {}, who {}",
        purpose.role().name(),
        purpose.describe()
    );
    Sheet::new(identity(id), &title)
        .says(reason, theme::BAD)
        .offers('r', "try again", answer(id, QuestionAnswer::Retry))
        .offers(
            'w',
            "answer what it said: write, and it tries again with that",
            Then::Write(Draft::Again { id }),
        )
        .offers('b', "stop, back to the goal", back_to_the_goal(id))
        .offers('c', "cancel the run", cancel())
}
