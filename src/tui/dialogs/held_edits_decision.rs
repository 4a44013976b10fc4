//! Dialog: a step changed files that a rule protects.
//!
//! Enter only shows the diff. Restoring the files saves their current content first, so that either answer
//! can be reversed.

use super::changed_files;
use crate::domain::question::{HeldEdit, QuestionAnswer};
use crate::tui::dialog::ChoiceDialog;

pub(super) fn build_dialog(id: u32, step: u32, edits: &[HeldEdit]) -> ChoiceDialog {
    let title = format!("Step {step} changed files that your rules protect");
    let put_back = "Restore only these files";
    changed_files::build_dialog(
        id,
        step,
        &title,
        "Nothing is tested or committed yet.",
        edits.iter().map(|edit| (&*edit.path, &*edit.why)),
        [
            ('r', put_back, QuestionAnswer::PutBack),
            ('y', "Keep the changes", QuestionAnswer::Keep),
        ],
    )
}
