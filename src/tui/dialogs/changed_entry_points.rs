//! Dialog: a step changed something that decides what runs.
//!
//! Enter only shows the diff: an accidental key press must never run changed code.

use super::changed_files;
use crate::domain::question::{EntryPoint, QuestionAnswer};
use crate::tui::dialog::ChoiceDialog;

pub(super) fn build_dialog(id: u32, step: u32, changes: &[EntryPoint]) -> ChoiceDialog {
    let title = format!("Step {step} changed files that decide what runs");
    let files = changes.iter();
    changed_files::build_dialog(
        id,
        step,
        &title,
        "Nothing has run because of it yet.",
        files.map(|point| (&*point.path, &*point.why)),
        [('y', "Allow them in this step", QuestionAnswer::Allow)],
    )
}
