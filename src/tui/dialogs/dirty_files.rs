//! Dialog: a step edited files that held uncommitted changes, of the user or of a step that was stopped.

use super::{answer, cancel, identity, listed};
use crate::domain::question::{LeftoverFiles, QuestionAnswer};
use crate::tui::sheet::Sheet;
use crate::tui::theme;

pub(super) fn sheet(id: u32, step: u32, paths: &[String], left: Option<&LeftoverFiles>) -> Sheet {
    let (yours, others) = LeftoverFiles::partition_paths(left, paths);
    let (whose, included) = match (yours.is_empty(), others.is_empty()) {
        (true, false) => ("that a stopped step left", "they go"),
        (false, false) => ("of yours and of a stopped step", "they go"),
        (_, true) => ("of yours", "your changes go"),
    };
    let title = format!("step {step} edited files with uncommitted changes {whose}");
    let mut sheet = Sheet::new(identity(id), &title).says(&listed(paths, 10), theme::CODE);
    sheet.whole = Some((title, paths.join("\n")));
    sheet
        .offers(
            'y',
            &format!("include: {included} into the step's commit"),
            answer(id, QuestionAnswer::Include),
        )
        .offers(
            'n',
            "leave out: these files stay uncommitted",
            answer(id, QuestionAnswer::LeaveOut),
        )
        .offers('c', "cancel the run", cancel())
        .first(1)
}

/// Asks about files that a step's tests change each time they run.
pub(super) fn of_tests(id: u32, step: u32, paths: &[String]) -> Sheet {
    let title = format!("the tests of step {step} change files each time they run");
    let mut sheet = Sheet::new(identity(id), &title).says(&listed(paths, 10), theme::CODE);
    sheet.whole = Some((title, paths.join("\n")));
    sheet
        .offers(
            'y',
            "include: what the tests wrote goes into the step's commit, untested",
            answer(id, QuestionAnswer::Include),
        )
        .offers(
            'n',
            "leave out: the commit has what was tested",
            answer(id, QuestionAnswer::LeaveOut),
        )
        .offers('c', "cancel the run", cancel())
        .first(1)
}

/// Asks about files that changed while a step ran and that no call of its agent accounts for.
pub(super) fn outside_of_calls(id: u32, step: u32, paths: &[String]) -> Sheet {
    let title =
        format!("files changed during step {step}, and not by its agent as far as can be seen");
    let mut sheet = Sheet::new(identity(id), &title)
        .says(&listed(paths, 10), theme::CODE)
        .says(
            "No call names them, and no command of the agent ran when they changed.",
            theme::QUIET,
        );
    sheet.whole = Some((title, paths.join("\n")));
    sheet
        .offers(
            'y',
            "include: they are part of the step, are committed and undone with it",
            answer(id, QuestionAnswer::Include),
        )
        .offers(
            'n',
            "leave out: they are yours, stay uncommitted, and an undo leaves them",
            answer(id, QuestionAnswer::LeaveOut),
        )
        .offers('c', "cancel the run", cancel())
        .first(1)
}
