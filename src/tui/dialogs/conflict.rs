//! Dialog: a workflow file was edited while a turn wrote it too.
//!
//! Enter keeps the user's text until the user chooses otherwise.

use super::{answer, cancel, identity};
use crate::domain::question::Answer;
use crate::domain::turn::Purpose;
use crate::tui::sheet::Sheet;
use crate::tui::theme;

pub(super) fn sheet(id: u32, document: &str, purpose: &Purpose) -> Sheet {
    let title = format!(
        "{document} was edited while the {} wrote it",
        purpose.role().name()
    );
    Sheet::new(identity(id), &title)
        .says(
            "Nothing was overwritten. The text that loses is kept below history/conflicts/.",
            theme::PLAIN,
        )
        .offers(
            'o',
            "overwrite: take the agent's text",
            answer(id, Answer::Overwrite),
        )
        .offers(
            'm',
            "discard: keep mine, what lies on disk",
            answer(id, Answer::Discard),
        )
        .offers('c', "cancel the run", cancel())
        .first(1)
}
