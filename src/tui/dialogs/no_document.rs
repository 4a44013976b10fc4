//! Dialog: a turn brought no document, twice.

use super::{answer, cancel, identity};
use crate::domain::question::Answer;
use crate::domain::turn::Purpose;
use crate::tui::sheet::Sheet;
use crate::tui::theme;

pub(super) fn sheet(id: u32, purpose: &Purpose, reason: &str) -> Sheet {
    let title = format!(
        "no document came from the {}, who {}",
        purpose.role().name(),
        purpose.in_words()
    );
    Sheet::new(identity(id), &title)
        .says(reason, theme::BAD)
        .offers('r', "try again", answer(id, Answer::Retry))
        .offers('b', "stop, back to the goal", answer(id, Answer::Stop))
        .offers('c', "cancel the run", cancel())
}
