//! Dialog: a step changed files that a rule holds back.
//!
//! Enter only shows the diff. Putting back stores what is there first, so that either answer can be regretted.

use super::{answer, back_to_the_goal, cancel, identity};
use crate::domain::changes::Scope;
use crate::domain::question::{Answer, HeldEdit};
use crate::tui::command::Command;
use crate::tui::sheet::{Sheet, Then};
use crate::tui::theme;
use crate::tui::wrap::one_line;

pub(super) fn sheet(id: u32, step: u32, edits: &[HeldEdit]) -> Sheet {
    let title = format!("step {step} changed files that your rules hold back");
    let list: Vec<String> = edits
        .iter()
        .map(|edit| format!("  {} ({})", one_line(&edit.path), one_line(&edit.why)))
        .collect();
    let mut sheet = Sheet::new(identity(id), &title)
        .says(&list.join("\n"), theme::CODE)
        .says("Nothing of it is tested or committed yet.", theme::PLAIN);
    sheet.whole = Some((title, list.join("\n")));
    sheet
        .offers(
            'd',
            "read the diff",
            Then::Do(Command::Diff(Scope::Step(step))),
        )
        .offers(
            'r',
            "restore these files to before the step; the rest of it stays",
            answer(id, Answer::PutBack),
        )
        .offers(
            'y',
            "keep the changes as they are now",
            answer(id, Answer::Keep),
        )
        .offers('b', "stop, back to the goal", back_to_the_goal(id))
        .offers('c', "cancel the run", cancel())
}
