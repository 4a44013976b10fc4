//! What dialogs say and offer of files that a step changed and that somebody has to look at.
//!
//! Enter only shows the diff. Refuses to know why they wait.

use super::{answer, back_to_the_goal, cancel, identity};
use crate::domain::diff_scope::DiffScope;
use crate::domain::question::QuestionAnswer;
use crate::tui::command::Command;
use crate::tui::sheet::{Sheet, Then};
use crate::tui::theme;
use crate::tui::wrap::one_line;

/// A dialog about files of a step, each with why it is here; `offers` are what may be done with them.
pub(super) fn sheet<'a>(
    (id, step): (u32, u32),
    (title, said): (&str, &str),
    files: impl Iterator<Item = (&'a str, &'a str)>,
    offers: impl IntoIterator<Item = (char, &'a str, QuestionAnswer)>,
) -> Sheet {
    let list: Vec<String> = files
        .map(|(path, why)| format!("  {} ({})", one_line(path), one_line(why)))
        .collect();
    let list = list.join("\n");
    let mut sheet = Sheet::new(identity(id), title)
        .says(&list, theme::CODE)
        .says(said, theme::PLAIN);
    sheet.whole = Some((title.to_owned(), list));
    let diff = Then::Do(Command::Diff(DiffScope::Step(step)));
    let sheet = sheet.offers('d', "read the diff", diff);
    let sheet = offers.into_iter().fold(sheet, |sheet, (key, what, says)| {
        sheet.offers(key, what, answer(id, says))
    });
    sheet
        .offers('b', "stop, back to the goal", back_to_the_goal(id))
        .offers('c', "cancel the run", cancel())
}
