//! Dialog: a step changed something that this program would run.
//!
//! Enter only shows the diff: running changed code is never the answer to a stray key.

use super::{answer, back_to_the_goal, cancel, identity};
use crate::domain::changes::Scope;
use crate::domain::question::{Answer, EntryPoint};
use crate::tui::command::Command;
use crate::tui::sheet::{Sheet, Then};
use crate::tui::theme;
use crate::tui::wrap::one_line;

pub(super) fn sheet(id: u32, step: u32, changes: &[EntryPoint]) -> Sheet {
    let title = format!("step {step} changed what this program would run");
    let list: Vec<String> = changes
        .iter()
        .map(|point| format!("  {} ({})", one_line(&point.path), one_line(&point.why)))
        .collect();
    let mut sheet = Sheet::new(identity(id), &title)
        .says(&list.join("\n"), theme::CODE)
        .says("Nothing of it has run yet.", theme::PLAIN);
    sheet.whole = Some((title, list.join("\n")));
    sheet
        .offers(
            'd',
            "read the diff",
            Then::Do(Command::Diff(Scope::Step(step))),
        )
        .offers(
            'y',
            "allow: the changes stand and are run",
            answer(id, Answer::Allow),
        )
        .offers('b', "stop, back to the goal", back_to_the_goal(id))
        .offers('c', "cancel the run", cancel())
}
