//! Dialog: a step changed files that a rule protects.
//!
//! Enter only shows the diff. Restoring the files saves their current content first, so that either answer
//! can be reversed.

use super::changed_files;
use crate::domain::question::{HeldEdit, QuestionAnswer};
use crate::permission::PermissionAction;
use crate::tui::dialog::ChoiceDialog;

pub(super) fn build_dialog(id: u32, step: u32, edits: &[HeldEdit]) -> ChoiceDialog {
    let title = format!("Step {step} changed files that your rules protect");
    let reasons: Vec<String> = edits.iter().map(describe_reason).collect();
    let put_back = "Restore only these files";
    changed_files::build_dialog(
        id,
        step,
        &title,
        "Nothing is tested or committed yet.",
        edits
            .iter()
            .zip(&reasons)
            .map(|(edit, why)| (&*edit.path, why.as_str())),
        [
            ('r', put_back, QuestionAnswer::PutBack),
            ('y', "Keep the changes", QuestionAnswer::Keep),
        ],
    )
}

/// Says what the rule does, and in which line of which file it is: `denied by a rule (config.toml:28)`.
fn describe_reason(edit: &HeldEdit) -> String {
    let what = match edit.hold {
        PermissionAction::Deny => "denied by a rule",
        PermissionAction::Ask | PermissionAction::Allow => "a rule asks",
    };
    let place = edit.why.rsplit_once('(');
    let place = place.and_then(|(_, place)| place.strip_suffix(')'));
    let place = place.map(|place| place.rsplit('/').next().unwrap_or(place));
    match place {
        Some(place) => format!("{what} ({})", without_column(place)),
        None => what.to_owned(),
    }
}

/// Returns a place such as `config.toml:28:1` without the column.
fn without_column(place: &str) -> &str {
    match place.rsplit_once(':') {
        Some((line, _)) if line.contains(':') => line,
        Some(_) | None => place,
    }
}
