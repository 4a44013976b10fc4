//! Dialog: a step changed something that this program would run.
//!
//! Enter only shows the diff: running changed code is never the answer to a stray key.

use super::changed;
use crate::domain::question::{EntryPoint, QuestionAnswer};
use crate::tui::sheet::Sheet;

pub(super) fn sheet(id: u32, step: u32, changes: &[EntryPoint]) -> Sheet {
    let title = format!("step {step} changed what this program would run");
    let files = changes.iter();
    changed::sheet(
        (id, step),
        (&title, "Nothing of it has run yet."),
        files.map(|point| (&*point.path, &*point.why)),
        [(
            'y',
            "allow: the changes stand and are run",
            QuestionAnswer::Allow,
        )],
    )
}
