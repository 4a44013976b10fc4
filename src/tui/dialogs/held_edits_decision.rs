//! Dialog: a step changed files that a rule protects.
//!
//! Enter only shows the diff. Restoring the files saves their current content first, so that either answer
//! can be reversed.

use super::changed_files;
use crate::domain::question::{HeldEdit, QuestionAnswer};
use crate::tui::dialog::ChoiceDialog;

pub(super) fn build_dialog(id: u32, step: u32, edits: &[HeldEdit]) -> ChoiceDialog {
    let title = format!("step {step} changed files that your rules hold back");
    let put_back = "restore these files to before the step; the rest of it stays";
    changed_files::build_dialog(
        id,
        step,
        &title,
        "Nothing of it is tested or committed yet.",
        edits.iter().map(|edit| (&*edit.path, &*edit.why)),
        [
            ('r', put_back, QuestionAnswer::PutBack),
            (
                'y',
                "keep the changes as they are now",
                QuestionAnswer::Keep,
            ),
        ],
    )
}
