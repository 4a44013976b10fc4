//! Dialog: a step edited files that held uncommitted changes of the user.

use super::{answer, cancel, identity, listed};
use crate::domain::question::Answer;
use crate::tui::sheet::Sheet;
use crate::tui::theme;

pub(super) fn sheet(id: u32, step: u32, paths: &[String]) -> Sheet {
    let title = format!("step {step} edited files with uncommitted changes of yours");
    let mut sheet = Sheet::new(identity(id), &title).says(&listed(paths, 10), theme::CODE);
    sheet.whole = Some((title, paths.join("\n")));
    sheet
        .offers(
            'y',
            "include: your changes go into the step's commit",
            answer(id, Answer::Include),
        )
        .offers(
            'n',
            "leave out: these files stay uncommitted",
            answer(id, Answer::LeaveOut),
        )
        .offers('c', "cancel the run", cancel())
        .first(1)
}
